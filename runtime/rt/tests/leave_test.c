/* One rank dies while the others are in a collective call that they have nothing to send for: they
 * hear of it, end with FLY_ERR_PEER, and none hangs.
 *
 *   leave_test TRANSPORTS RANKS finalize|fence|wait|late
 *
 * wait: they wait for a notification of it. late: nobody dies, but the last comes to fly_finalize
 * a second after the others.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"
#include "ranks.h"

enum { VICTIM = 1 };

struct options {
    const char *transports, *what;
    int *well; /* ranks that ended as they should; shared. Behind it, those that are ready */
};

static void nap(void) {
    struct timespec second = {1, 0};
    nanosleep(&second, NULL);
}

/* The victim dies when all others have come here: none is still in the call before. */
static void meet(const struct options *options, const fly_boot *boot) {
    if (boot->rank != VICTIM) {
        __atomic_add_fetch(&options->well[1], 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&options->well[1], __ATOMIC_ACQUIRE) < boot->size - 1) sched_yield();
    raise(SIGKILL);
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
    if (strcmp(options->what, "wait") == 0) {
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
    CHECK(count == 4, "leave_test TRANSPORTS RANKS finalize|fence|wait|late");
    struct options options = {words[1], words[3], NULL};
    options.well = mmap(NULL, 2 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    CHECK(options.well != MAP_FAILED, "no memory");
    int ranks = (int)argument(count, words, 2, 3);
    bool late = strcmp(options.what, "late") == 0;
    int result = run_processes(ranks, body, &options);
    CHECK(result == (late ? 0 : 128 + SIGKILL), "%d", result);
    CHECK(*options.well == (late ? ranks : ranks - 1), "%d ranks ended well", *options.well);
    printf("leave_test: %s over %s\n", options.what, options.transports);
    return 0;
}
