/* Collectives beside an MPI: random ones against formulas, and folds and exchanges along a random
 * graph against MPI's own result.
 *
 *   mpiexec -n P coll_mpi TRANSPORTS TRIALS SEED
 */
#include "flyloom_mpi.h"

#include <string.h>

#include "coll_trial.h"

enum { COUNT_MOST = 3000 };

/* MPI and flyloom get the same numbers; results of whole numbers must have the same bits. */
static void against(fly_team *team, uint64_t *random, int rank, int size) {
    static const int OPS[] = {FLY_SUM, FLY_PROD, FLY_MIN, FLY_MAX, FLY_LAND, FLY_LOR, FLY_BAND,
                              FLY_BOR, FLY_BXOR};
    MPI_Op theirs[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_BAND, MPI_BOR,
                       MPI_BXOR};
    static const int TYPES[] = {FLY_INT8, FLY_INT16, FLY_INT32, FLY_INT64, FLY_UINT8, FLY_UINT16,
                                FLY_UINT32, FLY_UINT64};
    MPI_Datatype types[] = {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T,
                            MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
    static uint64_t in[COUNT_MOST], ours[COUNT_MOST], mpi[COUNT_MOST];
    size_t op = below(random, 9), type = below(random, 8), count = 1 + below(random, COUNT_MOST);
    int root = (int)below(random, (uint64_t)size), bytes;
    fly_fold fold = {.type = TYPES[type], .op = OPS[op]};
    uint64_t own = draw(random) + (uint64_t)rank;
    MPI_Type_size(types[type], &bytes);
    for (size_t i = 0; i < count; i++) in[i] = draw(&own);
#ifdef MPICH /* 4.0 compares numbers without a sign as if they had one */
    for (size_t i = 0; i < count && (op == 2 || op == 3) && type >= 4; i++)
        in[i] &= UINT64_C(0x7F7F7F7F7F7F7F7F);
#endif
    /* The numbers are small, since on overflow each library may give another result. */
    for (size_t i = 0; i < count && op < 2; i++) {
        int64_t small = (int64_t)below(&own, op == 0 ? 25 : 3);
        memcpy((char *)in + i * (size_t)bytes, &small, (size_t)bytes);
    }
    memset(ours, 0, sizeof ours);
    memset(mpi, 0, sizeof mpi);
    switch (below(random, 3)) {
    case 0:
        CHECK(fly_allreduce(team, in, ours, count, &fold) == FLY_OK, "%s", fly_last_error(NULL));
        MPI_Allreduce(in, mpi, (int)count, types[type], theirs[op], MPI_COMM_WORLD);
        break;
    case 1:
        CHECK(fly_reduce(team, in, ours, count, &fold, root) == FLY_OK, "%s",
              fly_last_error(NULL));
        MPI_Reduce(in, mpi, (int)count, types[type], theirs[op], root, MPI_COMM_WORLD);
        if (rank != root) memset(mpi, 0, sizeof mpi);
        break;
    default:
        CHECK(fly_scan(team, in, ours, count, &fold) == FLY_OK, "%s", fly_last_error(NULL));
        MPI_Scan(in, mpi, (int)count, types[type], theirs[op], MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < count * (size_t)bytes; i++)
        CHECK(((char *)ours)[i] == ((char *)mpi)[i], "op %zu, type %zu, count %zu: byte %zu, %x, "
              "not %x; rank %d gave %x", op, type, count, i, ((unsigned char *)ours)[i],
              ((unsigned char *)mpi)[i], rank, ((unsigned char *)in)[i]);
}

/* Makes random edges, some repeated, some from a rank to itself, each with its own size. */
static void neighbours(fly_team *team, uint64_t *random, int rank, int size) {
    enum { EDGES = 24, BYTES_MOST = 2000 };
    static unsigned char in[EDGES * BYTES_MOST], ours[sizeof in], mpi[sizeof in];
    int sources[EDGES], targets[EDGES], in_bytes[EDGES], in_at[EDGES], out_bytes[EDGES];
    int out_at[EDGES], ins = 0, outs = 0, edges = (int)below(random, EDGES + 1), sent = 0, got = 0;
    int weights[EDGES] = {0};
    size_t sizes[4][EDGES];
    for (int i = 0; i < edges; i++) {
        int from = (int)below(random, (uint64_t)size), to = (int)below(random, (uint64_t)size);
        int bytes = below(random, 4) == 0 ? 0 : (int)below(random, BYTES_MOST);
        if (from == rank) {
            targets[outs] = to;
            sizes[0][outs] = (size_t)(out_bytes[outs] = bytes);
            sizes[1][outs] = (size_t)(out_at[outs] = sent);
            sent += bytes;
            outs++;
        }
        if (to != rank) continue;
        sources[ins] = from;
        sizes[2][ins] = (size_t)(in_bytes[ins] = bytes);
        sizes[3][ins] = (size_t)(in_at[ins] = got);
        got += bytes;
        ins++;
    }
    uint64_t own = draw(random) + (uint64_t)rank;
    for (int i = 0; i < sent; i++) in[i] = (unsigned char)draw(&own);
    memset(ours, 0, sizeof ours);
    memset(mpi, 0, sizeof mpi);
    fly_graph *graph;
    MPI_Comm comm;
    CHECK(fly_graph_adjacent(team, (size_t)ins, sources, (size_t)outs, targets, &graph) == FLY_OK,
          "%s", fly_last_error(NULL));
    CHECK(fly_neighbour_alltoallv(graph, in, sizes[0], sizes[1], ours, sizes[2], sizes[3]) ==
          FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_graph_free(&graph) == FLY_OK, "%s", fly_last_error(NULL));
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, sources, weights, outs, targets, weights,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_alltoallv(in, out_bytes, out_at, MPI_BYTE, mpi, in_bytes, in_at, MPI_BYTE, comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < got; i++)
        CHECK(ours[i] == mpi[i], "rank %d, %d edges: byte %d of %d", rank, edges, i, got);
}

int main(int count, char **words) {
    fly_boot boot;
    fly_rt *rt;
    MPI_Init(&count, &words);
    CHECK(count > 3, "coll_mpi TRANSPORTS TRIALS SEED");
    fly_config config = {.transports = words[1]};
    uint64_t trials = argument(count, words, 2, 50), random = argument(count, words, 3, 1);
    CHECK(fly_mpi_boot(MPI_COMM_WORLD, &boot) == FLY_OK, "boot");
    CHECK(fly_init(&boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    for (uint64_t n = 0; n < trials; n++) {
        struct trial trial;
        fly_req *req;
        trial_draw(&trial, fly_world(rt), boot.rank, boot.size, draw(&random), 3000);
        trial_fill(&trial, 0);
        CHECK(trial_call(&trial, NON_BLOCKING, &req) == FLY_OK, "%s", fly_last_error(NULL));
        against(fly_world(rt), &random, boot.rank, boot.size); /* while the ring runs */
        neighbours(fly_world(rt), &random, boot.rank, boot.size);
        CHECK(fly_wait(req, NULL) == FLY_OK && fly_req_free(&req) == FLY_OK, "wait");
        trial_check(&trial, 0);
        trial_end(&trial);
    }
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    if (boot.rank == 0)
        printf("coll_mpi: %s, %d ranks, %lu trials\n", words[1], boot.size, (unsigned long)trials);
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
