/* Measures collectives between processes of this machine: the time of each at rank 0. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "flyloom_coll.h"
#include "perf.h"
#include "perf_parts.h"

enum { WARM = 200, LIMIT_S = 3600 };

struct wanted {
    uint64_t repetitions;
    bool json;
};

struct bench {
    fly_team *team;
    fly_req *again;
    double in, out;
    double part_ns;
};

static const fly_fold SUM = {.type = FLY_DOUBLE, .op = FLY_SUM};

static void barrier(struct bench *b) { CHECKED(fly_barrier(b->team)); }

static void ibarrier(struct bench *b) {
    fly_req *req;
    CHECKED(fly_ibarrier(b->team, &req));
    CHECKED(fly_wait(req, NULL));
    CHECKED(fly_req_free(&req));
}

static void allreduce(struct bench *b) {
    CHECKED(fly_allreduce(b->team, &b->in, &b->out, 1, &SUM));
}

/* Times only the call that starts the collective. */
static void started(struct bench *b) {
    double began = perf_now_ns();
    CHECKED(fly_start(b->again));
    b->part_ns = perf_now_ns() - began;
    CHECKED(fly_wait(b->again, NULL));
}

static const struct {
    const char *name;
    void (*run)(struct bench *b);
    size_t bytes;
} BENCHES[] = {
    {"barrier", barrier, 0},
    {"ibarrier and wait", ibarrier, 0},
    {"allreduce", allreduce, 8},
    {"start of a kept barrier", started, 0},
};

static void measure(const fly_boot *boot, uint64_t repetitions, bool json) {
    fly_rt *rt;
    struct bench b = {.in = 1};
    struct perf p = {.rank = boot->rank, .json = json, .first = true};
    double *samples = malloc(repetitions * sizeof *samples);
    if (samples == NULL) exit(3);
    CHECKED(fly_init(boot, NULL, &rt));
    b.team = fly_world(rt);
    CHECKED(fly_barrier_init(b.team, &b.again));
    for (size_t k = 0; k < sizeof BENCHES / sizeof *BENCHES; k++) {
        for (int i = 0; i < WARM; i++) BENCHES[k].run(&b);
        for (uint64_t i = 0; i < repetitions; i++) {
            double began = perf_now_ns();
            b.part_ns = 0;
            BENCHES[k].run(&b);
            samples[i] = b.part_ns > 0 ? b.part_ns : perf_now_ns() - began;
        }
        perf_sort(samples, repetitions);
        struct perf_times times = {samples[repetitions / 2], samples[repetitions * 99 / 100]};
        perf_row(&p, BENCHES[k].name, BENCHES[k].bytes, &times, 0);
    }
    if (json && p.rank == 0) printf("]\n");
    CHECKED(fly_req_free(&b.again));
    CHECKED(fly_finalize(&rt));
    free(samples);
}

static int as_rank(const fly_boot *boot, void *context) {
    const struct wanted *wanted = context;
    perf_apart(boot->rank % perf_processors());
    measure(boot, wanted->repetitions, wanted->json);
    return 0;
}

int perf_collectives(int ranks, uint64_t repetitions, bool json) {
    struct wanted wanted = {repetitions, json};
    return perf_start("flyloom-perf", ranks, LIMIT_S, as_rank, &wanted);
}
