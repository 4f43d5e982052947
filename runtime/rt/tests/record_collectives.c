/* Collectives for a record: started without an MPI, by FLYLOOM_RANK, _SIZE and _BOOT.
 *
 *   record_collectives FORM BYTES [NAME...]
 *
 * FORM is "once": one after the other; "begun": all are begun, then waited for from the last to the
 * first; "tested": the same, by fly_test; "again": the same twice, by persistent requests; "teams":
 * as begun, but for all ranks and at the same time for the even and the odd ones. A put to the next
 * rank marks places in the record: before the first; after each of "once"; else after all have
 * begun and after all have ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "flyloom.h"
#include "flyloom_coll.h"

enum { MARK = 1000, MOST = 32, ROOT = 0 };
enum form { ONCE, BEGUN, TESTED, AGAIN, TEAMS, FORMS };

struct program {
    fly_team *world, *half, *team; /* `team`: of the call */
    int rank, size, marks;
    enum form form;
    size_t bytes, *sizes, *places, *counts;
    char *send, *receive;
    fly_win *win;
};

#define DO(call) CHECK((call) == FLY_OK, "%s: %s", #call, fly_last_error(NULL))
#define CALL(name, ...)                                                                   \
    (p->form == ONCE    ? fly_##name(p->team, __VA_ARGS__)                                \
     : p->form == AGAIN ? fly_##name##_init(p->team, __VA_ARGS__, req)                    \
                        : fly_i##name(p->team, __VA_ARGS__, req))

static int start(struct program *p, const char *name, fly_req **req) {
    const fly_fold sum = {.type = FLY_INT32, .op = FLY_SUM};
    size_t bytes = p->bytes, count = bytes / 4;
    if (strcmp(name, "barrier") == 0)
        return p->form == ONCE    ? fly_barrier(p->team)
               : p->form == AGAIN ? fly_barrier_init(p->team, req)
                                  : fly_ibarrier(p->team, req);
    if (strcmp(name, "bcast") == 0) return CALL(bcast, p->receive, bytes, ROOT);
    if (strcmp(name, "reduce") == 0) return CALL(reduce, p->send, p->receive, count, &sum, ROOT);
    if (strcmp(name, "allreduce") == 0) return CALL(allreduce, p->send, p->receive, count, &sum);
    if (strcmp(name, "allgather") == 0) return CALL(allgather, p->send, p->receive, bytes);
    if (strcmp(name, "gather") == 0) return CALL(gather, p->send, p->receive, bytes, ROOT);
    if (strcmp(name, "scatter") == 0) return CALL(scatter, p->send, p->receive, bytes, ROOT);
    if (strcmp(name, "alltoall") == 0) return CALL(alltoall, p->send, p->receive, bytes);
    if (strcmp(name, "scan") == 0) return CALL(scan, p->send, p->receive, count, &sum);
    if (strcmp(name, "reduce_scatter") == 0)
        return CALL(reduce_scatter, p->send, p->receive, p->counts, &sum);
    CHECK(strcmp(name, "alltoallv") == 0, "%s is no collective", name);
    return CALL(alltoallv, p->send, p->sizes, p->places, p->receive, p->sizes, p->places);
}

static void mark(struct program *p) {
    DO(fly_put_notify(p->win, p->send, 1, (p->rank + 1) % p->size, 0, MARK + p->marks++));
}

static void end(struct program *p, fly_req *req) {
    int flag = 0;
    if (p->form != TESTED) DO(fly_wait(req, NULL));
    while (p->form == TESTED && !flag) DO(fly_test(req, &flag, NULL));
}

static void run(struct program *p, int count, char **names) {
    fly_req *reqs[2 * MOST] = {NULL};
    int all = p->form == TEAMS ? 2 * count : count;
    for (int i = 0; i < all; i++) {
        p->team = i < count ? p->world : p->half;
        DO(start(p, names[i % count], &reqs[i]));
        if (p->form == ONCE) mark(p);
    }
    for (int turn = 0; turn < 1 + (p->form == AGAIN) && p->form != ONCE; turn++) {
        for (int i = 0; i < all && p->form == AGAIN; i++) DO(fly_start(reqs[i]));
        mark(p);
        for (int i = all - 1; i >= 0; i--) end(p, reqs[i]);
        mark(p);
    }
    for (int i = 0; i < all && p->form != ONCE; i++) DO(fly_req_free(&reqs[i]));
}

/* For a team of every other rank: gathered over all, who are there at the same time. */
static int gather_half(void *ctx, const void *mine, void *all, size_t bytes) {
    struct program *p = ctx;
    char *whole = malloc(bytes * (size_t)p->size);
    int code = whole == NULL ? FLY_ERR_NOMEM : fly_allgather(p->world, mine, whole, bytes);
    for (int r = p->rank % 2; r < p->size && code == FLY_OK; r += 2)
        memcpy((char *)all + (size_t)(r / 2) * bytes, whole + (size_t)r * bytes, bytes);
    free(whole);
    return code;
}

static void make_half(struct program *p, fly_rt *rt) {
    fly_boot members = {.rank = p->rank / 2, .size = (p->size + 1 - p->rank % 2) / 2, .ctx = p,
                        .allgather = gather_half};
    DO(fly_team_create(rt, &members, &p->half));
    DO(fly_barrier(p->half));
}

int main(int count, char **words) {
    static const char *const NAMES[FORMS] = {"once", "begun", "tested", "again", "teams"};
    struct program p = {0};
    CHECK(count > 2 && count - 3 <= MOST, "usage: record_collectives FORM BYTES [NAME...]");
    while (p.form < FORMS && strcmp(NAMES[p.form], words[1]) != 0) p.form++;
    CHECK(p.form < FORMS, "%s is no form", words[1]);
    const char *rank = getenv("FLYLOOM_RANK"), *ranks = getenv("FLYLOOM_SIZE");
    CHECK(rank != NULL && ranks != NULL, "FLYLOOM_RANK and FLYLOOM_SIZE are missing");
    fly_rt *rt;
    void *base;
    DO(fly_init(NULL, NULL, &rt));
    p.world = p.team = fly_world(rt);
    p.rank = atoi(rank);
    p.size = atoi(ranks);
    p.bytes = (size_t)atoi(words[2]);
    size_t size = (size_t)p.size, all = p.bytes * size;
    p.sizes = calloc(3 * size, sizeof *p.sizes);
    p.places = p.sizes + size;
    p.counts = p.places + size;
    p.send = calloc(2, all);
    p.receive = p.send + all;
    for (size_t r = 0; r < size; r++) {
        p.sizes[r] = p.bytes;
        p.places[r] = p.bytes * r;
        p.counts[r] = p.bytes / 4;
    }
    DO(fly_win_allocate(p.world, 8, 1, 0, &base, &p.win));
    DO(fly_barrier(p.world)); /* makes what collectives need */
    if (p.form == TEAMS) make_half(&p, rt);
    mark(&p);
    run(&p, count - 3, words + 3);
    if (p.form == TEAMS) DO(fly_team_free(&p.half));
    DO(fly_win_free(&p.win));
    DO(fly_finalize(&rt));
    free(p.sizes);
    free(p.send);
    return 0;
}
