/* FLY_MULTIPLE: several threads of each rank send and wait at the same time, and all finish.
 *
 *   threads_test TRANSPORTS RANKS [ROUNDS] [thread]
 */
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "ranks.h"

enum { THREADS = 3 };

struct options {
    const char *transports;
    uint64_t rounds;
    int progress;
};

struct part {
    fly_win *win;
    uint64_t *base;
    int rank, size, tag;
    uint64_t rounds;
};

/* Passes a number around the ring of ranks, for each tag separately; each step adds one. */
static void *around(void *context) {
    struct part *part = context;
    int next = (part->rank + 1) % part->size, before = (part->rank + part->size - 1) % part->size;
    fly_req *req;
    CHECK(fly_notify_init(part->win, before, part->tag, 1, &req) == FLY_OK, "init");
    for (uint64_t round = 0; round < part->rounds; round++) {
        uint64_t steps = round * (uint64_t)part->size + (uint64_t)part->rank;
        fly_status status;
        CHECK(fly_start(req) == FLY_OK, "start");
        if (part->rank != 0 || round != 0) {
            CHECK(fly_wait(req, &status) == FLY_OK, "%s", fly_last_error(NULL));
            CHECK(status.source == before && status.tag == part->tag, "status");
            CHECK(part->base[part->tag] == steps, "rank %d tag %d: %lu, not %lu", part->rank,
                  part->tag, (unsigned long)part->base[part->tag], (unsigned long)steps);
        } else {
            CHECK(fly_cancel(req, NULL) == FLY_OK, "cancel");
        }
        steps++;
        CHECK(fly_put_notify(part->win, &steps, 8, next, (uint64_t)part->tag, part->tag) == FLY_OK,
              "%s", fly_last_error(NULL));
        CHECK(fly_fetch_add(part->win, NULL, 1, next, THREADS, FLY_NO_TAG) == FLY_OK, "add");
    }
    CHECK(fly_flush(part->win, FLY_ALL) == FLY_OK, "flush");
    CHECK(fly_req_free(&req) == FLY_OK, "free");
    return NULL;
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    fly_config config = {.transports = options->transports, .threads = FLY_MULTIPLE};
    fly_rt *rt;
    fly_win *win;
    void *base;
    pthread_t threads[THREADS];
    struct part parts[THREADS];
    config.progress = options->progress;
    CHECK(fly_init(boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_win_allocate(fly_world(rt), 8 * (THREADS + 1), 8, 0, &base, &win) == FLY_OK, "-");
    for (int t = 0; t < THREADS; t++) {
        parts[t] = (struct part){win, base, boot->rank, boot->size, t, options->rounds};
        CHECK(pthread_create(&threads[t], NULL, around, &parts[t]) == 0, "no thread");
    }
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    CHECK(fly_fence(win) == FLY_OK, "fence");
    CHECK(((uint64_t *)base)[THREADS] == THREADS * options->rounds, "counted");
    CHECK(fly_win_free(&win) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    return 0;
}

int main(int count, char **words) {
    CHECK(count > 2, "threads_test TRANSPORTS RANKS [ROUNDS] [thread]");
    struct options options = {words[1], argument(count, words, 3, 200), FLY_PROGRESS_CALLS};
    if (count > 4 && strcmp(words[4], "thread") == 0) options.progress = FLY_PROGRESS_THREAD;
    int result = run_threads(atoi(words[2]), body, &options);
    CHECK(result == 0, "result %d", result);
    printf("threads_test: %s, %s ranks of %d threads, %lu rounds\n", words[1], words[2], THREADS,
           (unsigned long)options.rounds);
    return 0;
}
