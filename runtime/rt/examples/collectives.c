/* Collectives: a dot product, a broadcast under computation, and each other operation once. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom_coll.h"

enum { COUNT = 1000, RANKS_MOST = 64 };

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

/* A request of each kind: begun, waited for, and freed. */
static void finish(const char *call, int code, fly_req **req, int persistent) {
    check(call, code);
    if (persistent) check("start", fly_start(*req));
    check("wait", fly_wait(*req, NULL));
    check("req_free", fly_req_free(req));
}

/* Every rank has 1, 2, ... times its rank + 1. */
static double dot(fly_team *team, int rank) {
    static const fly_fold SUM = {.type = FLY_DOUBLE, .op = FLY_SUM};
    double part = 0, whole = 0;
    for (int i = 1; i <= COUNT; i++) part += (double)i * (rank + 1);
    check("allreduce", fly_allreduce(team, &part, &whole, 1, &SUM));
    return whole;
}

static void begun(fly_team *team, int rank, int size) {
    static const fly_fold SUM = {.type = FLY_INT64, .op = FLY_SUM};
    int64_t mine[RANKS_MOST] = {rank}, all[RANKS_MOST] = {0};
    size_t ones[RANKS_MOST], eights[RANKS_MOST], at[RANKS_MOST];
    fly_shape halves[RANKS_MOST]; /* for each rank its number, in two blocks */
    fly_req *req;
    for (int r = 0; r < size; r++) {
        ones[r] = 1;
        eights[r] = 8;
        at[r] = 8 * (size_t)r;
        halves[r] = (fly_shape){2, 4, 4};
    }
    finish("ibarrier", fly_ibarrier(team, &req), &req, 0);
    finish("ireduce", fly_ireduce(team, mine, all, 1, &SUM, 0, &req), &req, 0);
    finish("iallreduce", fly_iallreduce(team, mine, all, 1, &SUM, &req), &req, 0);
    finish("iallgather", fly_iallgather(team, mine, all, 8, &req), &req, 0);
    finish("igather", fly_igather(team, mine, all, 8, 0, &req), &req, 0);
    finish("iscatter", fly_iscatter(team, mine, all, 8, 0, &req), &req, 0);
    finish("ireduce_scatter", fly_ireduce_scatter(team, mine, all, ones, &SUM, &req), &req, 0);
    finish("ialltoall", fly_ialltoall(team, mine, all, 8, &req), &req, 0);
    finish("ialltoallv", fly_ialltoallv(team, mine, eights, at, all, eights, at, &req), &req, 0);
    finish("ialltoallw", fly_ialltoallw(team, mine, halves, at, all, halves, at, &req), &req, 0);
    finish("iscan", fly_iscan(team, mine, all, 1, &SUM, &req), &req, 0);
}

static void again(fly_team *team, int rank, int size) {
    static const fly_fold MOST = {.type = FLY_INT64, .op = FLY_MAX};
    int64_t mine[RANKS_MOST] = {rank}, all[RANKS_MOST] = {0};
    size_t ones[RANKS_MOST], eights[RANKS_MOST], at[RANKS_MOST];
    fly_shape halves[RANKS_MOST]; /* for each rank its number, in two blocks */
    fly_req *req;
    for (int r = 0; r < size; r++) {
        ones[r] = 1;
        eights[r] = 8;
        at[r] = 8 * (size_t)r;
        halves[r] = (fly_shape){2, 4, 4};
    }
    finish("barrier_init", fly_barrier_init(team, &req), &req, 1);
    finish("bcast_init", fly_bcast_init(team, all, 8, 0, &req), &req, 1);
    finish("reduce_init", fly_reduce_init(team, mine, all, 1, &MOST, 0, &req), &req, 1);
    finish("allreduce_init", fly_allreduce_init(team, mine, all, 1, &MOST, &req), &req, 1);
    finish("allgather_init", fly_allgather_init(team, mine, all, 8, &req), &req, 1);
    finish("gather_init", fly_gather_init(team, mine, all, 8, 0, &req), &req, 1);
    finish("scatter_init", fly_scatter_init(team, mine, all, 8, 0, &req), &req, 1);
    finish("reduce_scatter_init", fly_reduce_scatter_init(team, mine, all, ones, &MOST, &req),
           &req, 1);
    finish("alltoall_init", fly_alltoall_init(team, mine, all, 8, &req), &req, 1);
    finish("alltoallv_init", fly_alltoallv_init(team, mine, eights, at, all, eights, at, &req),
           &req, 1);
    finish("alltoallw_init", fly_alltoallw_init(team, mine, halves, at, all, halves, at, &req),
           &req, 1);
    finish("scan_init", fly_scan_init(team, mine, all, 1, &MOST, &req), &req, 1);
}

int main(void) {
    static const fly_fold SUM = {.type = FLY_INT64, .op = FLY_SUM};
    int rank = atoi(getenv("FLYLOOM_RANK")), size = atoi(getenv("FLYLOOM_SIZE"));
    int64_t numbers[RANKS_MOST], mine[RANKS_MOST], total[RANKS_MOST], count = 0;
    size_t ones[RANKS_MOST], eights[RANKS_MOST], at[RANKS_MOST];
    fly_shape halves[RANKS_MOST];
    fly_rt *rt;
    fly_req *req;
    int flag = 0;

    if (size > RANKS_MOST) return 2;
    check("init", fly_init(NULL, NULL, &rt));
    fly_team *team = fly_world(rt);
    double whole = dot(team, rank);
    if (rank == 0) printf("dot product: %.0f\n", whole);

    /* Numbers of rank 0 to all, while each computes. */
    for (int r = 0; r < size; r++) numbers[r] = rank == 0 ? 100 + r : 0;
    check("ibcast", fly_ibcast(team, numbers, sizeof numbers, 0, &req));
    while (!flag) {
        count++;
        check("test", fly_test(req, &flag, NULL));
    }
    check("req_free", fly_req_free(&req));
    printf("rank %d has %d\n", rank, (int)numbers[rank]);

    for (int r = 0; r < size; r++) {
        mine[r] = 10 * rank + r;
        ones[r] = 1;
        eights[r] = 8;
        at[r] = 8 * (size_t)r;
        halves[r] = (fly_shape){2, 4, 4};
    }
    check("barrier", fly_barrier(team));
    check("bcast", fly_bcast(team, numbers, 8, size - 1));
    check("reduce", fly_reduce(team, mine, total, 1, &SUM, 0));
    check("allgather", fly_allgather(team, mine, total, 8));
    check("gather", fly_gather(team, mine, total, 8, 0));
    check("scatter", fly_scatter(team, mine, total, 8, 0));
    check("reduce_scatter", fly_reduce_scatter(team, mine, total, ones, &SUM));
    check("alltoallv", fly_alltoallv(team, mine, eights, at, total, eights, at));
    check("alltoallw", fly_alltoallw(team, mine, halves, at, total, halves, at));
    check("scan", fly_scan(team, mine, total, 1, &SUM));
    check("alltoall", fly_alltoall(team, mine, total, 8)); /* rank s has 10 r + s of r */
    for (int r = 0; r < size; r++)
        if (total[r] != 10 * r + rank) return 1;
    begun(team, rank, size);
    again(team, rank, size);
    check("finalize", fly_finalize(&rt));
    return 0;
}
