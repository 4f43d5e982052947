/* All calls notice a death: one rank is killed while every other one repeats a call of its own, to
 * that rank or depending on it. Each call ends with FLY_ERR_PEER, none hangs, and the text names
 * the rank that was killed, not one that left because of it. Calls to living ranks still work.
 *
 *   death_test TRANSPORTS single|together VICTIM
 *
 * single: each call by one rank, several at a time. together: calls that all ranks make at once.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "flyloom_coll.h"
#include "ranks.h"

enum { RANKS = 9, TOGETHER = 4, BYTES = 1 << 16 };
/* A put of MANY bytes (64 KiB) is several packets, or a write. */
enum { FEW = 8, MANY = 65536 };

struct shared {
    int ready, heard, living, well;
};

struct group {
    const char *transports;
    int ranks, victim, first; /* the case of the first survivor */
    struct shared *shared;
};

struct state {
    fly_rt *rt;
    fly_team *team;
    fly_win *win, *held; /* in `held` the victim locks the next rank's memory */
    int rank, size, victim, behind;
    fly_req *named, *other; /* started for the victim, and for a living rank */
    bool posted;
    unsigned char *bytes;
    uint64_t old;
};

typedef int one_call(struct state *s);

static int flushed(struct state *s, int code) {
    return code == FLY_OK ? fly_flush(s->win, s->victim) : code;
}

static int locally(struct state *s, int code) {
    return code == FLY_OK ? fly_flush_local(s->win, s->victim) : code;
}

static int put(struct state *s) {
    return flushed(s, fly_put(s->win, s->bytes, FEW, s->victim, 0));
}
static int put_many(struct state *s) {
    return flushed(s, fly_put(s->win, s->bytes, MANY, s->victim, 0));
}
static int put_alone(struct state *s) { return fly_put(s->win, s->bytes, FEW, s->victim, 0); }
static int put_flush_all(struct state *s) {
    int code = fly_put(s->win, s->bytes, FEW, s->victim, 0);
    return code == FLY_OK ? fly_flush(s->win, FLY_ALL) : code;
}
static int put_shape(struct state *s) {
    fly_shape shape = {4, 8, 16};
    return flushed(s, fly_put_shape(s->win, s->bytes, &shape, s->victim, 0, &shape, FLY_NO_TAG));
}
static int get(struct state *s) {
    return locally(s, fly_get(s->win, s->bytes, FEW, s->victim, 0));
}
static int get_many(struct state *s) {
    return locally(s, fly_get(s->win, s->bytes, MANY, s->victim, 0));
}
static int get_flush_all(struct state *s) {
    int code = fly_get(s->win, s->bytes, FEW, s->victim, 0);
    return code == FLY_OK ? fly_flush_local(s->win, FLY_ALL) : code;
}
static int get_shape(struct state *s) {
    fly_shape shape = {4, 8, 16};
    return locally(s, fly_get_shape(s->win, s->bytes, &shape, s->victim, 0, &shape, FLY_NO_TAG));
}
static int add(struct state *s) {
    return flushed(s, fly_fetch_add(s->win, &s->old, 1, s->victim, 0, FLY_NO_TAG));
}
static int swap(struct state *s) {
    return locally(s, fly_compare_swap(s->win, &s->old, 0, 0, s->victim, 0, FLY_NO_TAG));
}
static int put_notify(struct state *s) {
    return fly_put_notify(s->win, s->bytes, FEW, s->victim, 0, 1);
}
static int get_notify(struct state *s) {
    return locally(s, fly_get_notify(s->win, s->bytes, FEW, s->victim, 0, 1));
}

static int ended(fly_req **req, int code) {
    if (code != FLY_OK) return code;
    code = fly_wait(*req, NULL);
    CHECK(fly_req_free(req) == FLY_OK, "%s", fly_last_error(NULL));
    return code;
}
/* A put's request only says that the source may be reused, so the death shows after a while. */
static int rput(struct state *s) {
    fly_req *req;
    return ended(&req, fly_rput(s->win, s->bytes, MANY, s->victim, 0, FLY_NO_TAG, &req));
}
static int rget(struct state *s) {
    fly_req *req;
    return ended(&req, fly_rget(s->win, s->bytes, MANY, s->victim, 0, FLY_NO_TAG, &req));
}

static int start(struct state *s) {
    int code = fly_win_start(s->win, 1, &s->victim);
    CHECK(code != FLY_OK, "the victim has not posted");
    return code;
}
static int post_wait(struct state *s) {
    int code = fly_win_post(s->win, 1, &s->victim);
    return code == FLY_OK ? fly_win_wait(s->win) : code;
}
static int post_test(struct state *s) {
    int flag = 0, code = s->posted ? FLY_OK : fly_win_post(s->win, 1, &s->victim);
    s->posted = true;
    return code == FLY_OK ? fly_win_test(s->win, &flag) : code;
}
/* One rank of the group lives, but does not post either. */
static int start_two(struct state *s) {
    int two[2] = {(s->victim + 1) % s->size, s->victim};
    if (two[0] == s->rank) two[0] = (s->victim + 2) % s->size;
    return fly_win_start(s->win, 2, two);
}

static int lock_shared(struct state *s) {
    int code = fly_lock(s->win, FLY_SHARED, s->victim);
    return code == FLY_OK ? fly_unlock(s->win, s->victim) : code;
}
static int lock_exclusive(struct state *s) {
    int code = fly_lock(s->win, FLY_EXCLUSIVE, s->victim);
    if (code != FLY_OK) return code;
    int moved = fly_put(s->win, s->bytes, FEW, s->victim, 0);
    code = fly_unlock(s->win, s->victim);
    return code == FLY_OK ? moved : code;
}
static int lock_all(struct state *s) {
    int code = fly_lock_all(s->win);
    return code == FLY_OK ? fly_unlock_all(s->win) : code;
}
/* The victim has locked the memory of another rank. */
static int lock_held(struct state *s) {
    int code = fly_lock(s->held, FLY_SHARED, s->behind);
    CHECK(code != FLY_OK, "the victim has the lock");
    return code;
}
static int lock_held_alone(struct state *s) {
    int code = fly_lock(s->held, FLY_EXCLUSIVE, s->behind);
    CHECK(code != FLY_OK, "the victim has the lock");
    return code;
}
static int lock_held_all(struct state *s) {
    int code = fly_lock_all(s->held);
    CHECK(code != FLY_OK, "the victim has a lock");
    return code;
}

/* Nothing is in flight, so nobody has to be waited for. */
static int flush_alone(struct state *s) { return fly_flush(s->win, s->victim); }
static int flush_local_alone(struct state *s) { return fly_flush_local(s->win, s->victim); }
static int flush_all_alone(struct state *s) { return fly_flush(s->win, FLY_ALL); }
static int flush_local_all_alone(struct state *s) { return fly_flush_local(s->win, FLY_ALL); }
/* Rank 0 has the master word, which lock_all and exclusive locks need. */
static int lock_own_and_all(struct state *s) {
    int code = fly_lock(s->win, FLY_SHARED, s->rank);
    if (code == FLY_OK) code = fly_unlock(s->win, s->rank);
    return code == FLY_OK ? lock_all(s) : code;
}
static int put_to_all(struct state *s) {
    int code = fly_lock_all(s->win);
    if (code != FLY_OK) return code;
    for (int r = 0; r < s->size && code == FLY_OK; r++)
        if (r != s->victim) code = fly_put(s->win, s->bytes, FEW, r, 0);
    int given = fly_unlock_all(s->win);
    return code == FLY_OK ? given : code;
}

static void listen_to(struct state *s) {
    int living = (s->rank + 1) % s->size == s->victim ? (s->rank + 2) % s->size
                                                      : (s->rank + 1) % s->size;
    if (s->named != NULL) return;
    CHECK(fly_notify_init(s->win, s->victim, 5, 1, &s->named) == FLY_OK, "init");
    CHECK(fly_notify_init(s->win, living, 5, 1, &s->other) == FLY_OK, "init");
    int code = fly_start(s->named);
    CHECK(code == FLY_OK || code == FLY_ERR_PEER, "start");
    CHECK(fly_start(s->other) == FLY_OK, "start");
}
static int wait_named(struct state *s) {
    listen_to(s);
    return fly_wait(s->named, NULL);
}
static int test_named(struct state *s) {
    int flag;
    listen_to(s);
    return fly_test(s->named, &flag, NULL);
}
static int wait_any(struct state *s) {
    size_t index;
    listen_to(s);
    return fly_waitany(2, (fly_req *[]){s->other, s->named}, &index, NULL);
}
static int test_any(struct state *s) {
    size_t index;
    int flag;
    listen_to(s);
    return fly_testany(2, (fly_req *[]){s->other, s->named}, &index, &flag, NULL);
}
static int wait_all(struct state *s) {
    listen_to(s);
    return fly_waitall(1, &s->named, NULL);
}
static int probe(struct state *s) {
    int flag;
    return fly_probe(s->win, s->victim, FLY_ANY_TAG, &flag, NULL);
}

static int fence(struct state *s) { return fly_fence(s->win); }
static int barrier(struct state *s) { return fly_barrier(s->team); }
static int bcast(struct state *s) { return fly_bcast(s->team, s->bytes, MANY, s->behind); }
static int allreduce(struct state *s) {
    double one = 1, sum;
    fly_fold fold = {.type = FLY_DOUBLE, .op = FLY_SUM};
    return fly_allreduce(s->team, &one, &sum, 1, &fold);
}
static int ibarrier_test(struct state *s) {
    fly_req *req;
    int flag = 0, code = fly_ibarrier(s->team, &req);
    if (code != FLY_OK) return code;
    while (!flag) code = fly_test(req, &flag, NULL);
    CHECK(fly_req_free(&req) == FLY_OK, "%s", fly_last_error(NULL));
    return code;
}
static int allocate(struct state *s) {
    fly_win *win;
    void *base;
    int code = fly_win_allocate(s->team, 64, 1, 0, &base, &win);
    return code == FLY_OK ? fly_win_free(&win) : code;
}
static int create(struct state *s) {
    fly_win *win;
    int code = fly_win_create(s->team, &s->old, sizeof s->old, 1, 0, &win);
    return code == FLY_OK ? fly_win_free(&win) : code;
}

struct one_case {
    const char *name;
    one_call *call;
    bool polls; /* returns at once; the test naps in between */
};

static const struct one_case SINGLE[] = {
    {"fly_put, fly_flush", put, false},
    {"fly_win_start", start, false},
    {"fly_put of 64 KiB, fly_flush", put_many, false},
    {"fly_win_post, fly_win_wait", post_wait, false},
    {"fly_put", put_alone, false},
    {"fly_wait", wait_named, false},
    {"fly_lock, shared, of another's that the dead has", lock_held, false},
    {"fly_put, fly_flush of all", put_flush_all, false},
    {"fly_get, fly_flush_local", get, false},
    {"fly_test", test_named, true},
    {"fly_get of 64 KiB, fly_flush_local", get_many, false},
    {"fly_win_test", post_test, true},
    {"fly_fetch_add, fly_flush", add, false},
    {"fly_waitany", wait_any, false},
    {"fly_lock, exclusive, of another's that the dead has", lock_held_alone, false},
    {"fly_get, fly_flush_local of all", get_flush_all, false},
    {"fly_compare_swap, fly_flush_local", swap, false},
    {"fly_testany", test_any, true},
    {"fly_put_notify", put_notify, false},
    {"fly_win_start with another", start_two, false},
    {"fly_lock_all where the dead has a lock", lock_held_all, false},
    {"fly_waitall", wait_all, false},
    {"fly_get_notify", get_notify, false},
    {"fly_put_shape, fly_flush", put_shape, true},
    {"fly_lock, shared", lock_shared, false},
    {"fly_get_shape, fly_flush_local", get_shape, true},
    {"fly_probe", probe, true},
    {"fly_rput, fly_wait", rput, false},
    {"fly_lock, exclusive", lock_exclusive, false},
    {"fly_rget, fly_wait", rget, true},
    {"fly_lock_all", lock_all, false},
    {"fly_put, fly_flush, now and then", put, true},
    {"fly_flush alone", flush_alone, false},
    {"fly_flush_local alone", flush_local_alone, false},
    {"fly_flush of all, alone", flush_all_alone, false},
    {"fly_flush_local of all, alone", flush_local_all_alone, false},
    {"fly_lock of one's own, fly_lock_all", lock_own_and_all, false},
    {"fly_lock_all, puts to the living", put_to_all, false},
    {"fly_lock_all, now and then", lock_all, true},
    {"fly_flush of all, now and then", flush_all_alone, true},
};

static const struct one_case AT_ONCE[] = {
    {"fly_fence", fence, false},          {"fly_barrier", barrier, false},
    {"fly_bcast", bcast, false},          {"fly_allreduce", allreduce, false},
    {"fly_ibarrier", ibarrier_test, false}, {"fly_win_allocate", allocate, false},
    {"fly_win_create", create, false},    {"fly_lock_all", lock_all, false},
    {"fly_lock_all, now and then", lock_all, true},
    {"fly_lock_all, puts to the living", put_to_all, false},
    {"fly_flush of all", flush_all_alone, false},
    {"fly_flush_local of all, now and then", flush_local_all_alone, true},
    {"fly_put, fly_flush", put, false},
};

static void nap(long milliseconds) {
    struct timespec t = {0, milliseconds * 1000000};
    nanosleep(&t, NULL);
}

static void count_one(int *counter) { __atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL); }

/* Waits until the other ranks have come as far, in progress, since they may need this rank. */
static void await(struct state *s, int *counter, int ranks) {
    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < ranks) {
        CHECK(fly_progress(s->rt) == FLY_OK, "progress");
        nap(1);
    }
}

static void be_the_victim(struct state *s, const struct group *group) {
    CHECK(fly_lock(s->held, FLY_EXCLUSIVE, s->behind) == FLY_OK, "%s", fly_last_error(NULL));
    count_one(&group->shared->ready);
    await(s, &group->shared->ready, group->ranks);
    for (double end = now_s() + 0.1; now_s() < end;) fly_progress(s->rt);
    raise(SIGKILL);
}

static const struct one_case *case_of(const struct group *group, const struct state *s) {
    size_t count = sizeof SINGLE / sizeof *SINGLE;
    if (group->ranks == TOGETHER) return &AT_ONCE[group->first];
    int place = (s->rank - group->victim - 1 + s->size) % s->size; /* neighbours first */
    return &SINGLE[((size_t)group->first + (size_t)place) % count];
}

static void names_the_dead(const struct state *s, const char *call) {
    char words[40];
    snprintf(words, sizeof words, "rank %d has died", s->victim);
    CHECK(strstr(fly_last_error(NULL), words) != NULL, "rank %d, %s: \"%s\" lacks \"%s\"", s->rank,
          call, fly_last_error(NULL), words);
}

static void hear(struct state *s, const struct one_case *what) {
    double began = now_s();
    int code = FLY_OK;
    while (code == FLY_OK && now_s() - began < VAIN_S) {
        code = what->call(s);
        if (what->polls) nap(2);
    }
    CHECK(code == FLY_ERR_PEER, "rank %d: %s to rank %d, who has died: error %d after %.1f s: %s",
          s->rank, what->name, s->victim, code, now_s() - began, fly_last_error(NULL));
    names_the_dead(s, what->name);
    if (getenv("DEATH_TIMES") != NULL)
        fprintf(stderr, "%6.3f s: %s\n", now_s() - began, what->name);
}

/* Living ranks can still be written to, and locked. */
static void go_on(struct state *s) {
    int to = (s->rank + 1) % s->size == s->victim ? (s->rank + 2) % s->size
                                                  : (s->rank + 1) % s->size;
    uint64_t mine = (uint64_t)s->rank + 100, there = 0;
    CHECK(fly_put(s->win, &mine, 8, to, 16) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_flush(s->win, to) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_get(s->win, &there, 8, to, 16) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_flush_local(s->win, to) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(there == mine, "rank %d: %lu", s->rank, (unsigned long)there);
}

static int body(const fly_boot *boot, void *context) {
    const struct group *group = context;
    struct shared *shared = group->shared;
    fly_config config = {.transports = group->transports};
    struct state whole = {.rank = boot->rank, .size = boot->size, .victim = group->victim};
    struct state *s = &whole;
    void *base;
    alarm((VAIN_S + HANG_S) / 2); /* a hanging rank ends by a signal */
    s->behind = (s->victim + 1) % s->size;
    s->bytes = calloc(1, BYTES);
    CHECK(fly_init(boot, &config, &s->rt) == FLY_OK, "%s", fly_last_error(NULL));
    s->team = fly_world(s->rt);
    for (int i = 0; i < 2; i++)
        CHECK(fly_win_allocate(s->team, BYTES, 1, 0, &base, i == 0 ? &s->win : &s->held) == FLY_OK,
              "%s", fly_last_error(NULL));
    CHECK(fly_fence(s->win) == FLY_OK, "%s", fly_last_error(NULL));
    if (s->rank == s->victim) be_the_victim(s, group);
    count_one(&shared->ready);
    if (group->ranks != TOGETHER) await(s, &shared->ready, group->ranks);
    hear(s, case_of(group, s));
    count_one(&shared->heard);
    if (group->ranks != TOGETHER) {
        await(s, &shared->heard, group->ranks - 1);
        go_on(s);
        count_one(&shared->living);
        await(s, &shared->living, group->ranks - 1);
    }
    if (s->other != NULL) CHECK(fly_cancel(s->other, NULL) == FLY_OK, "cancel");
    CHECK(fly_win_free(&s->win) == FLY_ERR_PEER && s->win == NULL, "%s", fly_last_error(NULL));
    names_the_dead(s, "fly_win_free");
    CHECK(fly_win_free(&s->held) == FLY_ERR_PEER, "%s", fly_last_error(NULL));
    if (s->named != NULL) CHECK(fly_req_free(&s->named) == FLY_OK, "free");
    if (s->other != NULL) CHECK(fly_req_free(&s->other) == FLY_OK, "free");
    CHECK(fly_finalize(&s->rt) == FLY_ERR_PEER, "%s", fly_last_error(NULL));
    names_the_dead(s, "fly_finalize");
    free(s->bytes);
    count_one(&shared->well);
    return 0;
}

static void run_group(struct group *group) {
    *group->shared = (struct shared){0};
    int result = run_processes(group->ranks, body, group);
    CHECK(result == 128 + SIGKILL, "%d", result);
    CHECK(group->shared->well == group->ranks - 1, "case %d on: %d of %d ranks ended well",
          group->first, group->shared->well, group->ranks - 1);
}

int main(int count, char **words) {
    CHECK(count == 4, "death_test TRANSPORTS single|together VICTIM");
    bool single = strcmp(words[2], "single") == 0;
    int cases = (int)(single ? sizeof SINGLE / sizeof *SINGLE : sizeof AT_ONCE / sizeof *AT_ONCE);
    struct group group = {.transports = words[1], .ranks = single ? RANKS : TOGETHER};
    group.victim = (int)argument(count, words, 3, 1);
    CHECK(group.victim >= 0 && group.victim < group.ranks, "0 to %d", group.ranks - 1);
    group.shared = mmap(NULL, sizeof *group.shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(group.shared != MAP_FAILED, "no memory");
    for (group.first = 0; group.first < cases; group.first += single ? RANKS - 1 : 1)
        run_group(&group);
    printf("death_test: %d calls over %s, rank %d died\n", cases, words[1], group.victim);
    return 0;
}
