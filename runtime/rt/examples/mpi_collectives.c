/* Collectives with an MPI's types and operations: each blocking, begun, and made to begin again. */
#include <flyloom_mpi.h>
#include <stdio.h>

enum { RANKS_MOST = 16 };

static int mine[RANKS_MOST], all[RANKS_MOST], ones[RANKS_MOST], at[RANKS_MOST], bytes[RANKS_MOST];
static MPI_Aint places[2] = {0, sizeof(int)};
static MPI_Datatype types[RANKS_MOST];

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Ends a request that is active. */
static void end(fly_mpi_req *req) {
    int flag = 0;
    check("test", fly_mpi_test(req, &flag));
    if (!flag) check("wait", fly_mpi_wait(req));
    check("req_free", fly_mpi_req_free(&req));
}

static void again(fly_mpi_req *req) {
    check("start", fly_mpi_start(req));
    end(req);
}

static void blocking(fly_team *team, fly_graph *ring) {
    check("bcast", fly_mpi_bcast(all, 1, MPI_INT, 0, team));
    check("reduce", fly_mpi_reduce(mine, all, 1, MPI_INT, MPI_SUM, 0, team));
    check("allreduce", fly_mpi_allreduce(mine, all, 1, MPI_INT, MPI_MAX, team));
    check("reduce_scatter", fly_mpi_reduce_scatter(mine, all, ones, MPI_INT, MPI_SUM, team));
    check("scan", fly_mpi_scan(mine, all, 1, MPI_INT, MPI_SUM, team));
    check("gather", fly_mpi_gather(mine, 1, MPI_INT, all, 1, MPI_INT, 0, team));
    check("scatter", fly_mpi_scatter(mine, 1, MPI_INT, all, 1, MPI_INT, 0, team));
    check("allgather", fly_mpi_allgather(mine, 1, MPI_INT, all, 1, MPI_INT, team));
    check("alltoall", fly_mpi_alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, team));
    check("alltoallv", fly_mpi_alltoallv(mine, ones, at, MPI_INT, all, ones, at, MPI_INT, team));
    check("alltoallw", fly_mpi_alltoallw(mine, ones, bytes, types, all, ones, bytes, types, team));
    check("neighbour_alltoallw",
          fly_mpi_neighbour_alltoallw(mine, ones, places, types, all, ones, places, types, ring));
}

static void begun(fly_team *team, fly_graph *ring) {
    fly_mpi_req *req;
    check("ibcast", fly_mpi_ibcast(all, 1, MPI_INT, 0, team, &req));
    end(req);
    check("ireduce", fly_mpi_ireduce(mine, all, 1, MPI_INT, MPI_SUM, 0, team, &req));
    end(req);
    check("iallreduce", fly_mpi_iallreduce(mine, all, 1, MPI_INT, MPI_MAX, team, &req));
    end(req);
    check("ireduce_scatter",
          fly_mpi_ireduce_scatter(mine, all, ones, MPI_INT, MPI_SUM, team, &req));
    end(req);
    check("iscan", fly_mpi_iscan(mine, all, 1, MPI_INT, MPI_SUM, team, &req));
    end(req);
    check("igather", fly_mpi_igather(mine, 1, MPI_INT, all, 1, MPI_INT, 0, team, &req));
    end(req);
    check("iscatter", fly_mpi_iscatter(mine, 1, MPI_INT, all, 1, MPI_INT, 0, team, &req));
    end(req);
    check("iallgather", fly_mpi_iallgather(mine, 1, MPI_INT, all, 1, MPI_INT, team, &req));
    end(req);
    check("ialltoall", fly_mpi_ialltoall(mine, 1, MPI_INT, all, 1, MPI_INT, team, &req));
    end(req);
    check("ialltoallv",
          fly_mpi_ialltoallv(mine, ones, at, MPI_INT, all, ones, at, MPI_INT, team, &req));
    end(req);
    check("ialltoallw",
          fly_mpi_ialltoallw(mine, ones, bytes, types, all, ones, bytes, types, team, &req));
    end(req);
    check("ineighbour_alltoallw",
          fly_mpi_ineighbour_alltoallw(mine, ones, places, types, all, ones, places, types, ring,
                                   &req));
    end(req);
}

static void kept(fly_team *team, fly_graph *ring) {
    fly_mpi_req *req;
    check("bcast_init", fly_mpi_bcast_init(all, 1, MPI_INT, 0, team, &req));
    again(req);
    check("reduce_init", fly_mpi_reduce_init(mine, all, 1, MPI_INT, MPI_SUM, 0, team, &req));
    again(req);
    check("allreduce_init", fly_mpi_allreduce_init(mine, all, 1, MPI_INT, MPI_MAX, team, &req));
    again(req);
    check("reduce_scatter_init",
          fly_mpi_reduce_scatter_init(mine, all, ones, MPI_INT, MPI_SUM, team, &req));
    again(req);
    check("scan_init", fly_mpi_scan_init(mine, all, 1, MPI_INT, MPI_SUM, team, &req));
    again(req);
    check("gather_init", fly_mpi_gather_init(mine, 1, MPI_INT, all, 1, MPI_INT, 0, team, &req));
    again(req);
    check("scatter_init", fly_mpi_scatter_init(mine, 1, MPI_INT, all, 1, MPI_INT, 0, team, &req));
    again(req);
    check("allgather_init", fly_mpi_allgather_init(mine, 1, MPI_INT, all, 1, MPI_INT, team, &req));
    again(req);
    check("alltoall_init", fly_mpi_alltoall_init(mine, 1, MPI_INT, all, 1, MPI_INT, team, &req));
    again(req);
    check("alltoallv_init",
          fly_mpi_alltoallv_init(mine, ones, at, MPI_INT, all, ones, at, MPI_INT, team, &req));
    again(req);
    check("alltoallw_init",
          fly_mpi_alltoallw_init(mine, ones, bytes, types, all, ones, bytes, types, team, &req));
    again(req);
    check("neighbour_alltoallw_init",
          fly_mpi_neighbour_alltoallw_init(mine, ones, places, types, all, ones, places, types,
                                           ring, &req));
    again(req);
}

int main(int count, char **words) {
    fly_boot boot;
    fly_rt *rt;
    fly_graph *ring;
    MPI_Init(&count, &words);
    check("boot", fly_mpi_boot(MPI_COMM_WORLD, &boot));
    int rank = boot.rank, size = boot.size;
    if (size > RANKS_MOST) return 2;
    check("init", fly_init(&boot, NULL, &rt));
    fly_team *team = fly_world(rt);
    int both[] = {(rank + size - 1) % size, (rank + 1) % size};
    MPI_Comm comm;
    int ones_of_two[] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, ones_of_two, 2, both, ones_of_two,
                                   MPI_INFO_NULL, 0, &comm);
    check("graph", fly_mpi_graph_of(comm, team, &ring));
    MPI_Comm_free(&comm);
    for (int r = 0; r < RANKS_MOST; r++) {
        mine[r] = 10 * rank + r;
        ones[r] = 1;
        at[r] = r;
        bytes[r] = (int)sizeof(int) * r;
        types[r] = MPI_INT;
    }
    blocking(team, ring);
    begun(team, ring);
    kept(team, ring);
    check("alltoall", fly_mpi_alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, team));
    printf("rank %d has %d of the last\n", rank, all[size - 1]);
    check("graph_free", fly_graph_free(&ring));
    check("finalize", fly_finalize(&rt));
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
