/* Programs whose record is known: started without an MPI, by FLYLOOM_RANK, _SIZE and _BOOT.
 *
 *   record_program PATTERN [ROUNDS [BYTES]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "flyloom.h"

enum { TAG = 5, MOST = 1 << 20 };

struct program {
    int rank, size, rounds;
    size_t bytes;
    fly_win *win;
    unsigned char *data;
};

#define DO(call) CHECK((call) == FLY_OK, "%s: %s", #call, fly_last_error(NULL))

static void wait_for(struct program *p, int source, int tag, uint64_t count) {
    fly_req *req;
    DO(fly_notify_init(p->win, source, tag, count, &req));
    DO(fly_start(req));
    DO(fly_wait(req, NULL));
    DO(fly_req_free(&req));
}

static void put(struct program *p, int target) {
    DO(fly_put_notify(p->win, p->data, p->bytes, target, 0, TAG));
}

static void ring(struct program *p) {
    put(p, (p->rank + 1) % p->size);
    wait_for(p, (p->rank + p->size - 1) % p->size, TAG, 1);
}

static void ping_pong(struct program *p) {
    if (p->rank > 1) return;
    if (p->rank == 0) put(p, 1);
    wait_for(p, 1 - p->rank, FLY_ANY_TAG, 1);
    if (p->rank == 1) put(p, 0);
}

static void pipeline(struct program *p) {
    if (p->rank > 0) wait_for(p, p->rank - 1, TAG, 1);
    if (p->rank < p->size - 1) put(p, p->rank + 1);
}

/* Rank 0 waits for notifications of all by one request; by then each one's earlier puts are
   there. */
static void gather(struct program *p) {
    if (p->rank == 0) {
        wait_for(p, FLY_ANY_SOURCE, TAG, (uint64_t)p->size - 1);
    } else {
        DO(fly_put(p->win, p->data, p->bytes, 0, 0));
        put(p, 0);
    }
}

static void move(struct program *p) {
    uint64_t old;
    fly_req *req;
    if (p->rank != 0) return;
    DO(fly_rget(p->win, p->data, p->bytes, 1, 0, FLY_NO_TAG, &req));
    DO(fly_wait(req, NULL));
    DO(fly_req_free(&req));
    DO(fly_fetch_add(p->win, &old, 1, 1, 0, FLY_NO_TAG));
    DO(fly_compare_swap(p->win, &old, 1, 2, 1, 0, FLY_NO_TAG));
    DO(fly_flush_local(p->win, 1));
}

static void fence(struct program *p) { DO(fly_fence(p->win)); }

static void fenced(struct program *p) {
    DO(fly_put(p->win, p->data, p->bytes, (p->rank + 1) % p->size, 0));
    DO(fly_fence(p->win));
}

/* Each rank has epochs with the rank before it and the one after it. */
static void epochs(struct program *p) {
    int before = (p->rank + p->size - 1) % p->size, behind = (p->rank + 1) % p->size;
    int both[2] = {before, behind}, n = before == behind ? 1 : 2;
    DO(fly_win_post(p->win, n, both));
    DO(fly_win_start(p->win, n, both));
    DO(fly_put(p->win, p->data, p->bytes, behind, 0));
    DO(fly_win_complete(p->win));
    DO(fly_win_wait(p->win));
}

/* Without contention: rank 2 alone locks the memory of rank 1. */
static void lock(struct program *p, int kind) {
    if (p->rank != 2) return;
    DO(fly_lock(p->win, kind, 1));
    DO(fly_unlock(p->win, 1));
}

static void shared(struct program *p) { lock(p, FLY_SHARED); }
static void exclusive(struct program *p) { lock(p, FLY_EXCLUSIVE); }

static void all(struct program *p) {
    if (p->rank != 2) return;
    DO(fly_lock_all(p->win));
    DO(fly_unlock_all(p->win));
}

static const struct {
    const char *name;
    void (*run)(struct program *);
} PATTERNS[] = {{"ring", ring}, {"pingpong", ping_pong}, {"pipeline", pipeline},
                {"gather", gather}, {"move", move}, {"fence", fence}, {"epochs", epochs},
                {"fenced", fenced},
                {"shared", shared}, {"exclusive", exclusive}, {"all", all}};

int main(int count, char **words) {
    const char *rank = getenv("FLYLOOM_RANK"), *size = getenv("FLYLOOM_SIZE");
    CHECK(count > 1 && rank != NULL && size != NULL, "usage: record_program PATTERN");
    struct program p = {.rank = atoi(rank), .size = atoi(size)};
    p.rounds = count > 2 ? atoi(words[2]) : 1;
    p.bytes = count > 3 ? (size_t)atoi(words[3]) : 8;
    CHECK(p.bytes <= MOST, "bytes");
    fly_rt *rt;
    void *base;
    int code = fly_init(NULL, NULL, &rt);
    if (code != FLY_OK) {
        fprintf(stderr, "%s\n", fly_last_error(NULL));
        return 2;
    }
    p.data = calloc(1, MOST);
    DO(fly_win_allocate(fly_world(rt), MOST, 8, 0, &base, &p.win));
    for (size_t i = 0; i < sizeof PATTERNS / sizeof PATTERNS[0]; i++)
        if (strcmp(PATTERNS[i].name, words[1]) == 0)
            for (int n = 0; n < p.rounds; n++) PATTERNS[i].run(&p);
    DO(fly_win_free(&p.win));
    DO(fly_finalize(&rt));
    free(p.data);
    return 0;
}
