/* One rank dies while the others are in a collective call in which they have nothing to send: they
 * notice it, end with FLY_ERR_PEER, and none hangs.
 *
 *   leave_test TRANSPORTS RANKS finalize|fence|wait|late|reused|unmapped
 *
 * wait: they wait for its notification. late: nobody dies, but the last rank comes to fly_finalize
 * a second after the others. reused, unmapped: a broadcast that ranks read in the root's memory;
 * the root has noticed the death and left, and its memory is reused or unmapped, when one reads.
 * Skipped (77) where the kernel lets no rank read another's memory.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"
#include "coll/coll.h"
#include "ranks.h"

enum { VICTIM = 1, SKIPPED = 77 };

struct options {
    const char *transports, *what;
    int *well; /* ranks that ended as they should; shared. Behind it, those that are ready, and
                  whether the root of a broadcast has left it */
};

static void nap(void) {
    struct timespec second = {1, 0};
    nanosleep(&second, NULL);
}

/* The victim dies when all others have come here, so none is still in the call before. */
static void meet(const struct options *options, const fly_boot *boot) {
    if (boot->rank != VICTIM) {
        __atomic_add_fetch(&options->well[1], 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&options->well[1], __ATOMIC_ACQUIRE) < boot->size - 1) sched_yield();
    raise(SIGKILL);
}

static void until(const int *word) {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) sched_yield();
}

/* Whether the root has sent a rank the place of its message. */
static bool has_sent_place(const fly_team *team, int rank) {
    const struct fly_sched *s = team->coll->running;
    for (size_t i = 0; s != NULL && i < s->sending_count; i++)
        if (s->sendings[i].peer == rank && s->sendings[i].place_sent) return true;
    return false;
}

/* Rank 0 broadcasts to rank 2 last, which reads when rank 0 has left. The victim is not in the
   broadcast. */
static int read_late(const struct options *options, fly_rt *rt, int rank) {
    enum { BYTES = 1 << 20 };
    fly_team *team = fly_world(rt);
    fly_req *req;
    unsigned char *bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0);
    CHECK(bytes != MAP_FAILED && fly_barrier(team) == FLY_OK, "%s", fly_last_error(NULL));
    if (!team->coll->lanes[(rank + 1) % 3].reads) return SKIPPED;
    if (rank == VICTIM) {
        until(&options->well[1]);
        raise(SIGKILL);
    }
    memset(bytes, 1, BYTES);
    CHECK(fly_ibcast(team, bytes, BYTES, 0, &req) == FLY_OK, "%s", fly_last_error(NULL));
    if (rank == 0) {
        while (!has_sent_place(team, 2)) CHECK(fly_progress(rt) == FLY_OK, "progress");
        __atomic_store_n(&options->well[1], 1, __ATOMIC_RELEASE);
        CHECK(fly_wait(req, NULL) == FLY_ERR_PEER, "the root: %s", fly_last_error(NULL));
        memset(bytes, 2, BYTES);
        if (strcmp(options->what, "unmapped") == 0) CHECK(munmap(bytes, BYTES) == 0, "munmap");
        __atomic_store_n(&options->well[2], 1, __ATOMIC_RELEASE);
    } else {
        until(&options->well[2]);
        int code = fly_wait(req, NULL);
        CHECK(code == FLY_ERR_PEER, "rank 2 got %d, and %d: %s", code, bytes[0],
              fly_last_error(NULL));
    }
    CHECK(fly_req_free(&req) == FLY_OK, "%s", fly_last_error(NULL));
    return 0;
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    fly_config config = {.transports = options->transports};
    bool late = strcmp(options->what, "late") == 0, fence = strcmp(options->what, "fence") == 0;
    fly_rt *rt;
    fly_win *win;
    void *base;
    CHECK(fly_init(boot, &config, &rt) == FLY_OK, "rank %d: %s", boot->rank, fly_last_error(NULL));
    CHECK(fly_win_allocate(fly_world(rt), 64, 1, 0, &base, &win) == FLY_OK, "%s",
          fly_last_error(NULL));
    CHECK(fly_fence(win) == FLY_OK, "%s", fly_last_error(NULL));
    if (late && boot->rank == boot->size - 1) nap();
    if (strcmp(options->what, "reused") == 0 || strcmp(options->what, "unmapped") == 0) {
        if (read_late(options, rt, boot->rank) == SKIPPED) return SKIPPED;
        CHECK(fly_win_free(&win) == FLY_ERR_PEER, "rank %d: the window", boot->rank);
    } else if (strcmp(options->what, "wait") == 0) {
        fly_req *req;
        meet(options, boot);
        CHECK(fly_notify_init(win, VICTIM, 0, 1, &req) == FLY_OK, "%s", fly_last_error(NULL));
        CHECK(fly_start(req) == FLY_OK, "%s", fly_last_error(NULL));
        CHECK(fly_wait(req, NULL) == FLY_ERR_PEER, "rank %d: the wait", boot->rank);
        CHECK(fly_req_free(&req) == FLY_OK, "%s", fly_last_error(NULL));
        CHECK(fly_win_free(&win) == FLY_ERR_PEER, "rank %d: the window", boot->rank);
    } else if (fence) {
        meet(options, boot);
        CHECK(fly_fence(win) == FLY_ERR_PEER, "rank %d: the fence", boot->rank);
        CHECK(fly_win_free(&win) == FLY_ERR_PEER, "rank %d: the window", boot->rank);
    } else {
        CHECK(fly_win_free(&win) == FLY_OK, "%s", fly_last_error(NULL));
        if (late && boot->rank == boot->size - 1) nap();
        if (!late) meet(options, boot);
    }
    int code = fly_finalize(&rt), wanted = late ? FLY_OK : FLY_ERR_PEER;
    CHECK(code == wanted, "rank %d: fly_finalize: %d: %s", boot->rank, code,
          fly_last_error(NULL));
    __atomic_add_fetch(options->well, 1, __ATOMIC_RELAXED);
    return 0;
}

int main(int count, char **words) {
    CHECK(count == 4, "leave_test TRANSPORTS RANKS finalize|fence|wait|late|reused|unmapped");
    struct options options = {words[1], words[3], NULL};
    options.well = mmap(NULL, 3 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    CHECK(options.well != MAP_FAILED, "no memory");
    int ranks = (int)argument(count, words, 2, 3);
    bool late = strcmp(options.what, "late") == 0;
    int result = run_processes(ranks, body, &options);
    if (result == SKIPPED) return SKIPPED;
    CHECK(result == (late ? 0 : 128 + SIGKILL), "%d", result);
    CHECK(*options.well == (late ? ranks : ranks - 1), "%d ranks ended well", *options.well);
    printf("leave_test: %s over %s\n", options.what, options.transports);
    return 0;
}
