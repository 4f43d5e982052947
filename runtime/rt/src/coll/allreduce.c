/* Allreduce: recursive doubling, ring, Rabenseifner's, reduce and broadcast, or all to all.
 *
 * Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005;
 * Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009. If P
 * is no power of two, the first 2 (P - P') ranks, P' the largest power of two below, combine in
 * pairs first. All but the ring fold in the order of ranks, so that both partners of an exchange
 * get the same bits.
 */
#include "call.h"
#include "trees.h"

enum { DOUBLING, RING, RABENSEIFNER, TREE, LINEAR };
enum { TAG_PAIR = 1 << 20, TAG_BACK };

/* Combines ranks in pairs, so that a power of two is left. A rank has a place among those, or -1;
   the rank of a pair that stays has the fold of both in `total`. */
struct pairs {
    int power, extra, place;
};

static struct pairs pair_up(struct fly_sched *s, const struct fly_call *call, void *total,
                            const void *own) {
    struct pairs p = {1, 0, 0};
    while (p.power <= call->size / 2) p.power *= 2;
    p.extra = call->size - p.power;
    fly_round(s);
    if (call->rank >= 2 * p.extra) {
        p.place = call->rank - p.extra;
    } else if (call->rank % 2 != 0) {
        fly_send_to(s, call->rank - 1, TAG_PAIR, own == NULL ? total : own, call->key.bytes);
        p.place = -1;
    } else {
        fly_fold_onto(s, call->rank + 1, TAG_PAIR, total, own, call->key.bytes, FLY_TAKE_RIGHT);
        p.place = call->rank / 2;
    }
    return p;
}

static int rank_of(const struct pairs *p, int place) {
    return place < p->extra ? 2 * place : place + p->extra;
}

static void pairs_back(struct fly_sched *s, const struct fly_call *call, const struct pairs *p,
                       void *total) {
    if (call->rank >= 2 * p->extra) return;
    fly_round(s);
    if (p->place < 0)
        fly_receive_from(s, call->rank - 1, TAG_BACK, total, call->key.bytes);
    else
        fly_send_to(s, call->rank + 1, TAG_BACK, total, call->key.bytes);
}

static void doubling(struct fly_sched *s, const struct fly_call *call, unsigned char *total) {
    struct pairs p = pair_up(s, call, total, NULL);
    size_t bytes = call->key.bytes;
    void *theirs = NULL;
    int tag = 0;
    for (int mask = 1; p.place >= 0 && mask < p.power; mask *= 2, tag++) {
        int other = rank_of(&p, p.place ^ mask);
        void *into = fly_temporary(s, bytes);
        fly_round(s);
        if (theirs != NULL)
            fly_fold_local(s, total, theirs, bytes,
                           (p.place & mask / 2) != 0 ? FLY_TAKE_LEFT : FLY_TAKE_RIGHT);
        fly_send_to(s, other, tag, total, bytes);
        fly_receive_from(s, other, tag, into, bytes);
        theirs = into;
    }
    fly_round(s);
    if (theirs != NULL)
        fly_fold_local(s, total, theirs, bytes,
                       (p.place & p.power / 2) != 0 ? FLY_TAKE_LEFT : FLY_TAKE_RIGHT);
    pairs_back(s, call, &p, total);
}

/* Where part `at` of `parts` begins: parts are whole elements, and their sizes differ by at most
   one. */
static size_t cut(const struct fly_call *call, int parts, int64_t at) {
    size_t element = fly_fold_bytes(&call->key.fold), count = call->key.bytes / element;
    size_t small = count / (size_t)parts, larger = count % (size_t)parts;
    size_t before = (size_t)at < larger ? (size_t)at : larger;
    return ((size_t)at * small + before) * element;
}

static bool cuts(struct fly_sched *s, const struct fly_call *call, struct fly_blocks *blocks) {
    size_t parts = (size_t)call->size, *numbers = fly_temporary(s, 2 * parts * sizeof *numbers);
    if (numbers == NULL) return false;
    for (int r = 0; r < call->size; r++) {
        numbers[r] = cut(call, call->size, r + 1) - cut(call, call->size, r);
        numbers[parts + (size_t)r] = cut(call, call->size, r);
    }
    *blocks = (struct fly_blocks){numbers, numbers + parts};
    return true;
}

static void ring(struct fly_sched *s, const struct fly_call *call, unsigned char *total,
                 const unsigned char *own) {
    struct fly_blocks blocks;
    if (!cuts(s, call, &blocks)) return;
    fly_ring_reduce(s, call, total, own, &blocks, 0);
    fly_ring_gather(s, call, total, &blocks, call->rank, call->size);
}

/* Exchanges halves with near places first, so that folds join neighbours; then gathers them
   back. */
static void rabenseifner(struct fly_sched *s, const struct fly_call *call, unsigned char *total,
                         const unsigned char *own) {
    struct pairs p = pair_up(s, call, total, own);
    if (call->rank < 2 * p.extra) own = NULL;
    int64_t low = 0, high = p.power;
    int tag = 0;
    for (int mask = 1; p.place >= 0 && mask < p.power; mask *= 2, tag++) {
        bool upper = (p.place & mask) != 0;
        int other = rank_of(&p, p.place ^ mask);
        int64_t middle = (low + high) / 2, out = upper ? low : middle, in = upper ? middle : low;
        size_t out_at = cut(call, p.power, out), in_at = cut(call, p.power, in);
        size_t half = (size_t)(high - low) / 2;
        fly_round(s);
        fly_send_to(s, other, tag, (own == NULL ? total : own) + out_at,
                    cut(call, p.power, out + (int64_t)half) - out_at);
        fly_fold_onto(s, other, tag, total + in_at, own == NULL ? NULL : own + in_at,
                      cut(call, p.power, in + (int64_t)half) - in_at,
                      upper ? FLY_TAKE_LEFT : FLY_TAKE_RIGHT);
        own = NULL; /* from here on `total` holds what is left of it */
        low = in;
        high = in + (int64_t)half;
    }
    for (int mask = p.power / 2; p.place >= 0 && mask > 0; mask /= 2, tag++) {
        bool upper = (p.place & mask) != 0;
        int other = rank_of(&p, p.place ^ mask);
        int64_t width = high - low, in = upper ? low - width : high;
        size_t out_at = cut(call, p.power, low), in_at = cut(call, p.power, in);
        fly_round(s);
        fly_send_to(s, other, tag, total + out_at, cut(call, p.power, high) - out_at);
        fly_receive_from(s, other, tag, total + in_at, cut(call, p.power, in + width) - in_at);
        if (upper)
            low -= width;
        else
            high += width;
    }
    pairs_back(s, call, &p, total);
}

/* One round: each rank gets the parts of all, and folds them in the order of ranks. */
static void linear(struct fly_sched *s, const struct fly_call *call, unsigned char *total) {
    size_t bytes = call->key.bytes, room = (bytes + 15) / 16 * 16, all;
    unsigned char *parts = NULL;
    if (call->size < 2) return;
    if (__builtin_mul_overflow(room, (size_t)call->size, &all) ||
        ((parts = fly_temporary(s, all)) == NULL && bytes != 0)) {
        s->failed = true;
        return;
    }
    fly_round(s);
    for (int j = 1; j < call->size; j++)
        fly_send_to(s, fly_turned(call->rank, j, call->size), 0, total, bytes);
    for (int j = 1; j < call->size; j++) {
        int from = fly_turned(call->rank, -j, call->size);
        fly_receive_from(s, from, 0, parts + (size_t)from * room, bytes);
    }
    fly_round(s);
    fly_copy(s, parts + (size_t)call->rank * room, total, bytes);
    for (int r = 1; r < call->size; r++)
        fly_fold_local(s, parts, parts + (size_t)r * room, bytes, FLY_TAKE_RIGHT);
    fly_copy(s, total, parts, bytes);
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    const void *own = key->send == FLY_IN_PLACE ? NULL : key->send;
    bool copies = key->algorithm == DOUBLING || key->algorithm == LINEAR || call->size == 1;
    fly_round(s);
    if (own != NULL && copies) {
        fly_copy(s, key->receive, own, key->bytes);
        own = NULL;
    }
    switch (key->algorithm) {
    case RING: ring(s, call, key->receive, own); return;
    case RABENSEIFNER: rabenseifner(s, call, key->receive, own); return;
    case LINEAR: linear(s, call, key->receive); return;
    case TREE:
        fly_tree_reduce(s, call, key->receive, own, key->bytes, 0, 0);
        fly_tree_bcast(s, call, key->receive, key->bytes, 0, 1);
        return;
    default: doubling(s, call, key->receive);
    }
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               void *receive, size_t count, const fly_fold *fold) {
    int code = fly_call_open(call, name, team, FLY_C_ALLREDUCE, build);
    return code != FLY_OK ? code : fly_call_folded(call, send, receive, count, fold);
}

FLY_FORMS(allreduce, (send, receive, count, fold), const void *send, void *receive, size_t count,
          const fly_fold *fold)
