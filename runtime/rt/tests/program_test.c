/* Random programs on ranks that are threads or processes, compared with the model of the rules.
 *
 *   program_test TRANSPORTS threads|processes RANKS [PROGRAMS [STEPS [SEED]]] [create] [thread]
 */
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "program.h"
#include "ranks.h"

struct hall {
    int here, round; /* shared by threads and by processes */
};

struct options {
    struct program program;
    struct hall *hall;
    int ranks;
};

static void meet(void *context, fly_rt *rt) {
    struct options *options = context;
    struct hall *hall = options->hall;
    int round = __atomic_load_n(&hall->round, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&hall->here, 1, __ATOMIC_ACQ_REL) == options->ranks) {
        __atomic_store_n(&hall->here, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&hall->round, round + 1, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&hall->round, __ATOMIC_ACQUIRE) == round) {
        fly_progress(rt);
        sched_yield();
    }
}

static int body(const fly_boot *boot, void *context) {
    struct options *options = context;
    return program_run(boot, &options->program, meet, options);
}

int main(int count, char **words) {
    CHECK(count > 3, "program_test TRANSPORTS threads|processes RANKS [PROGRAMS [STEPS [SEED]]]");
    struct options options = {.ranks = atoi(words[3])};
    options.hall = mmap(NULL, sizeof *options.hall, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t programs = argument(count, words, 4, 5), seed = argument(count, words, 6, 1);
    options.program = (struct program){.transports = words[1],
                                       .steps = (int)argument(count, words, 5, 300)};
    for (int i = 7; i < count; i++) {
        options.program.create |= strcmp(words[i], "create") == 0;
        if (strcmp(words[i], "thread") == 0) options.program.progress = FLY_PROGRESS_THREAD;
    }
    bool threads = strcmp(words[2], "threads") == 0;
    for (uint64_t i = 0; i < programs; i++) {
        options.program.seed = seed + i;
        options.program.credits = i % 3 == 0 ? 1 : i % 3 == 1 ? 5 : 0;
        int result = threads ? run_threads(options.ranks, body, &options)
                             : run_processes(options.ranks, body, &options);
        CHECK(result == 0, "program %llu", (unsigned long long)options.program.seed);
    }
    printf("program_test: %s, %s, %d ranks, %llu programs of %d steps\n", words[1], words[2],
           options.ranks, (unsigned long long)programs, options.program.steps);
    return 0;
}
