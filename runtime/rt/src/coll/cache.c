/* Keeps idle schedules for the next call with the same arguments; the oldest are freed. */
#include <string.h>

#include "coll.h"

static size_t bucket_of(const struct fly_key *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key->send ^ (uint64_t)(uintptr_t)key->receive << 1 ^
                    (uint64_t)key->bytes << 7 ^ (uint64_t)(unsigned)key->root << 3 ^
                    (uint64_t)(unsigned)key->operation << 17;
    return (size_t)(hash * UINT64_C(0x9E3779B97F4A7C15) >> 40) % FLY_COLL_BUCKETS;
}

static bool same_key(const struct fly_key *a, const struct fly_key *b) {
    return a->build == b->build && a->send == b->send && a->receive == b->receive &&
           a->bytes == b->bytes && a->root == b->root && a->operation == b->operation &&
           a->algorithm == b->algorithm && a->parameter == b->parameter &&
           a->fold.type == b->fold.type && a->fold.op == b->fold.op &&
           a->fold.bytes == b->fold.bytes && a->fold.ordered == b->fold.ordered &&
           a->fold.apply == b->fold.apply && a->fold.context == b->fold.context;
}

static bool same_vectors(const struct fly_sched *s, const struct fly_call *call) {
    const size_t *at = s->vector;
    size_t count = 0;
    for (int i = 0; i < 4; i++) count += call->lengths[i];
    if (count != s->vector_count) return false;
    for (int i = 0; i < 4; i++) {
        if (call->lengths[i] == 0) continue;
        if (memcmp(at, call->arrays[i], call->lengths[i] * sizeof *at) != 0) return false;
        at += call->lengths[i];
    }
    return true;
}

static void unlink_kept(struct fly_sched *s) {
    struct fly_coll *coll = s->coll;
    struct fly_sched **at = &coll->kept[bucket_of(&s->key)];
    while (*at != s) at = &(*at)->next_kept;
    *at = s->next_kept;
    if (s->older != NULL)
        s->older->newer = s->newer;
    else
        coll->oldest = s->newer;
    if (s->newer != NULL)
        s->newer->older = s->older;
    else
        coll->newest = s->older;
    coll->kept_count--;
}

struct fly_sched *fly_kept_take(struct fly_coll *coll, const struct fly_call *call) {
    struct fly_sched *s = coll->kept[bucket_of(&call->key)];
    while (s != NULL && !(same_key(&s->key, &call->key) && same_vectors(s, call)))
        s = s->next_kept;
    if (s != NULL) unlink_kept(s);
    return s;
}

bool fly_kept_drop_oldest(struct fly_coll *coll) {
    struct fly_sched *s = coll->oldest;
    if (s == NULL) return false;
    unlink_kept(s);
    fly_sched_free(s);
    return true;
}

void fly_kept_put(struct fly_sched *s) {
    struct fly_coll *coll = s->coll;
    if (coll->kept_count == FLY_COLL_KEPT) fly_kept_drop_oldest(coll);
    size_t bucket = bucket_of(&s->key);
    s->next_kept = coll->kept[bucket];
    coll->kept[bucket] = s;
    s->older = coll->newest;
    s->newer = NULL;
    if (coll->newest != NULL)
        coll->newest->newer = s;
    else
        coll->oldest = s;
    coll->newest = s;
    coll->kept_count++;
}
