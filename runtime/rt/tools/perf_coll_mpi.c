/* Collectives beside those of an MPI, in one run: mpiexec -n P perf_coll_mpi BLOCKS BLOCK
 *
 * Built by the mpicc of an MPI. Blocks of both take turns; the mean of each block counts, since on
 * an oversubscribed machine some ranks nearly always come last. Ranks are distributed to the
 * processors in the same order for both. Prints rows as JSON.
 */
#include "flyloom_mpi.h"

#include <stdio.h>
#include <unistd.h>

#include "flyloom_coll.h"
#include "perf.h"

enum { METHODS = 8 };

static fly_team *team;
static fly_graph *graph; /* a ring: two neighbours, which may be the same */
static MPI_Comm ring;
static double in = 1, out, halo_out[2], halo_in[2];

static void ours_barrier(void) { fly_barrier(team); }

static void ours_ibarrier(void) {
    fly_req *req;
    if (fly_ibarrier(team, &req) != FLY_OK) exit(3);
    fly_wait(req, NULL);
    fly_req_free(&req);
}

static void ours_allreduce(void) {
    static const fly_fold SUM = {.type = FLY_DOUBLE, .op = FLY_SUM};
    fly_allreduce(team, &in, &out, 1, &SUM);
}

static void ours_neighbours(void) {
    fly_neighbour_alltoall(graph, halo_out, halo_in, sizeof *halo_out);
}

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void ibarrier(void) {
    MPI_Request req;
    MPI_Ibarrier(MPI_COMM_WORLD, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void allreduce(void) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void neighbours(void) {
    MPI_Neighbor_alltoall(halo_out, 1, MPI_DOUBLE, halo_in, 1, MPI_DOUBLE, ring);
}

static void make_rings(int rank, int size) {
    int both[2] = {(rank + size - 1) % size, (rank + 1) % size}, count = size > 2 ? 2 : size - 1;
    int ones[2] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, both, ones, count, both, ones,
                                   MPI_INFO_NULL, 0, &ring);
    if (fly_graph_adjacent(team, count, both, count, both, &graph) != FLY_OK) exit(3);
}

static const struct {
    const char *name;
    void (*run)(void);
} ALL[METHODS] = {
    {"barrier", ours_barrier},     {"MPI barrier", barrier},
    {"ibarrier", ours_ibarrier},   {"MPI ibarrier", ibarrier},
    {"allreduce", ours_allreduce}, {"MPI allreduce", allreduce},
    {"neighbours", ours_neighbours}, {"MPI neighbours", neighbours},
};

int main(int count, char **words) {
    fly_boot boot;
    fly_rt *rt;
    fly_config config = {.transports = "shm"};
    MPI_Init(&count, &words);
    int blocks = count > 2 ? atoi(words[1]) : 20, block = count > 2 ? atoi(words[2]) : 500;
    double *means[METHODS];
    if (blocks < 1 || block < 1 || fly_mpi_boot(MPI_COMM_WORLD, &boot) != FLY_OK) return 2;
    struct perf p = {.rank = boot.rank, .json = true, .first = true};
    perf_apart(boot.rank % perf_processors());
    if (fly_init(&boot, &config, &rt) != FLY_OK) return 2;
    team = fly_world(rt);
    make_rings(boot.rank, boot.size);
    for (int w = 0; w < METHODS; w++) means[w] = malloc((size_t)blocks * sizeof(double));
    for (int b = 0; b < blocks; b++) {
        for (int w = 0; w < METHODS; w++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double began = perf_now_ns();
            for (int i = 0; i < block; i++) ALL[w].run();
            means[w][b] = (perf_now_ns() - began) / block;
        }
    }
    for (int w = 0; w < METHODS; w++) {
        perf_sort(means[w], (size_t)blocks);
        struct perf_times times = {means[w][blocks / 2], means[w][blocks - 1]};
        perf_row(&p, ALL[w].name, w < 4 ? 0 : 8, &times, 0);
        free(means[w]);
    }
    if (boot.rank == 0) printf("]\n");
    fly_graph_free(&graph);
    MPI_Comm_free(&ring);
    fly_finalize(&rt);
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
