/* What a call has sent has left when the call returns: after each call that others wait for, ranks
 * meet outside the library, where nothing makes progress, as programs do in barriers of their MPI.
 *
 *   return_test TRANSPORTS RANKS STARTS
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"
#include "flyloom_coll.h"
#include "ranks.h"

enum { FEW = 8, MANY = 40000, STEPS = 64 };

struct options {
    const char *transports;
    int *here; /* ranks that came to each meeting; shared */
};

struct state {
    const struct options *options;
    int rank, size, met;
    unsigned char bytes[MANY];
};

#define OK(call) \
    CHECK((call) == FLY_OK, "rank %d, meeting %d: %s", s->rank, s->met, fly_last_error(NULL))

/* A meeting of all ranks, in which none calls the library. */
static void meet(struct state *s, const char *after) {
    int *here = &s->options->here[s->met++];
    double began = now_s();
    __atomic_add_fetch(here, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(here, __ATOMIC_ACQUIRE) < s->size) {
        sched_yield();
        CHECK(now_s() - began < VAIN_S, "rank %d of %d waits in vain after %s", s->rank, s->size,
              after);
    }
}

/* Each rank exposes its memory to one rank with which it has no other communication. */
static void epoch(struct state *s, fly_win *win, int distance, size_t bytes) {
    int to = (s->rank + distance) % s->size;
    int from = (s->rank - distance + s->size) % s->size;
    OK(fly_win_post(win, 1, &from));
    meet(s, "fly_win_post");
    OK(fly_win_start(win, 1, &to));
    OK(fly_put(win, s->bytes, bytes, to, 0));
    OK(fly_win_complete(win));
    if (bytes == FEW) meet(s, "fly_win_complete");
    OK(fly_win_wait(win));
    meet(s, "fly_win_wait");
}

static int body(const fly_boot *boot, void *context) {
    struct state whole = {.options = context, .rank = boot->rank, .size = boot->size}, *s = &whole;
    fly_config config = {.transports = s->options->transports};
    fly_rt *rt;
    fly_win *win;
    void *base;
    OK(fly_init(boot, &config, &rt));
    meet(s, "fly_init");
    OK(fly_win_allocate(fly_world(rt), MANY, 1, 0, &base, &win));
    meet(s, "fly_win_allocate");
    for (int distance = 0; distance < s->size; distance++) epoch(s, win, distance, FEW);
    epoch(s, win, s->size - 1, MANY);
    for (int i = 0; i < 3; i++) {
        OK(fly_put(win, s->bytes, MANY, (s->rank + 1 + i) % s->size, 0));
        OK(fly_fence(win));
        meet(s, "fly_fence");
    }
    for (int root = 0; root < 2; root++) {
        OK(fly_bcast(fly_world(rt), s->bytes, root == 0 ? FEW : MANY, root % s->size));
        meet(s, "fly_bcast");
    }
    double one = 1, sum = 0;
    fly_fold fold = {.type = FLY_DOUBLE, .op = FLY_SUM};
    OK(fly_allreduce(fly_world(rt), &one, &sum, 1, &fold));
    meet(s, "fly_allreduce");
    CHECK(sum == s->size, "%g", sum);
    OK(fly_barrier(fly_world(rt)));
    meet(s, "fly_barrier");
    OK(fly_win_free(&win));
    meet(s, "fly_win_free");
    OK(fly_finalize(&rt));
    meet(s, "fly_finalize");
    return 0;
}

int main(int count, char **words) {
    CHECK(count == 4, "return_test TRANSPORTS RANKS STARTS");
    struct options options = {words[1], NULL};
    int ranks = (int)argument(count, words, 2, 3), starts = (int)argument(count, words, 3, 1);
    CHECK(ranks * 3 + 20 <= STEPS, "too many ranks");
    options.here = mmap(NULL, STEPS * sizeof(int), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(options.here != MAP_FAILED, "no memory");
    for (int i = 0; i < starts; i++) {
        memset(options.here, 0, STEPS * sizeof(int));
        int result = run_processes(ranks, body, &options);
        CHECK(result == 0, "start %d: %d", i, result);
    }
    printf("return_test: %d starts of %d ranks over %s\n", starts, ranks, words[1]);
    return 0;
}
