/* Long messages of collectives beside those of an MPI, in one run: mpiexec -n P perf_coll_long RUNS
 *
 * Built by the mpicc of an MPI. Each run has both in turn, after a barrier; a run takes as long as
 * its slowest rank, and the median of the runs counts. BYTES are those that a rank has at the end.
 * Ranks are distributed to the processors in the same order for both. Prints rows as JSON.
 */
#include "flyloom_mpi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flyloom_coll.h"
#include "perf.h"

enum { OPERATIONS = 5, LEAST = 16 << 10, MOST = 4 << 20 };

static fly_team *team;
static unsigned char *in, *out;
static int ranks;
static const fly_fold SUM = {.type = FLY_DOUBLE, .op = FLY_SUM};

static void ours_bcast(size_t n) { fly_bcast(team, out, n, 0); }
static void ours_reduce(size_t n) { fly_reduce(team, in, out, n / 8, &SUM, 0); }
static void ours_allreduce(size_t n) { fly_allreduce(team, in, out, n / 8, &SUM); }
static void ours_allgather(size_t n) { fly_allgather(team, in, out, n / (size_t)ranks); }
static void ours_alltoall(size_t n) { fly_alltoall(team, in, out, n / (size_t)ranks); }

static void bcast(size_t n) { MPI_Bcast(out, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD); }

static void reduce(size_t n) {
    MPI_Reduce(in, out, (int)(n / 8), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(size_t n) {
    MPI_Allreduce(in, out, (int)(n / 8), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(size_t n) {
    int block = (int)n / ranks;
    MPI_Allgather(in, block, MPI_BYTE, out, block, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(size_t n) {
    int block = (int)n / ranks;
    MPI_Alltoall(in, block, MPI_BYTE, out, block, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run[2])(size_t n);
} ALL[OPERATIONS] = {
    {"bcast", {ours_bcast, bcast}},
    {"reduce", {ours_reduce, reduce}},
    {"allreduce", {ours_allreduce, allreduce}},
    {"allgather", {ours_allgather, allgather}},
    {"alltoall", {ours_alltoall, alltoall}},
};

/* The time of the slowest rank. */
static double once(void (*run)(size_t n), size_t bytes) {
    double took, longest;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = perf_now_ns();
    run(bytes);
    took = perf_now_ns() - began;
    MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

int main(int count, char **words) {
    fly_boot boot;
    fly_rt *rt;
    fly_config config = {.transports = "shm"};
    MPI_Init(&count, &words);
    int runs = count > 1 ? atoi(words[1]) : 40;
    if (runs < 1 || fly_mpi_boot(MPI_COMM_WORLD, &boot) != FLY_OK) return 2;
    struct perf p = {.rank = boot.rank, .json = true, .first = true};
    perf_apart(boot.rank % perf_processors());
    if (fly_init(&boot, &config, &rt) != FLY_OK) return 2;
    team = fly_world(rt);
    ranks = boot.size;
    in = malloc(MOST);
    out = malloc(MOST);
    double *took[2];
    for (int w = 0; w < 2; w++) took[w] = malloc((size_t)runs * sizeof(double));
    if (in == NULL || out == NULL || took[0] == NULL || took[1] == NULL) return 2;
    memset(in, 0, MOST);
    memset(out, 0, MOST);
    for (int o = 0; o < OPERATIONS; o++) {
        for (size_t bytes = LEAST; bytes <= MOST; bytes *= 4) {
            for (int run = -2; run < runs; run++) /* two runs warm up */
                for (int w = 0; w < 2; w++) {
                    double one = once(ALL[o].run[w], bytes);
                    if (run >= 0) took[w][run] = one;
                }
            for (int w = 0; w < 2; w++) {
                char name[40];
                perf_sort(took[w], (size_t)runs);
                struct perf_times times = {took[w][runs / 2], took[w][runs - 1 - runs / 100]};
                snprintf(name, sizeof name, "%s%s of %zu B", w == 0 ? "" : "MPI ", ALL[o].name,
                         bytes);
                perf_row(&p, name, bytes, &times, 0);
            }
        }
    }
    if (boot.rank == 0) printf("]\n");
    free(took[0]);
    free(took[1]);
    free(in);
    free(out);
    fly_finalize(&rt);
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
