/* Neighbour collectives: values between neighbours of a ring, by a graph made by two calls. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom_coll.h"

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

/* Exchanges with both sides of a ring: block 0 is for the rank before, block 1 for the next. */
static void ring(fly_team *team, int rank, int size) {
    int before = (rank + size - 1) % size, behind = (rank + 1) % size;
    int sources[] = {before, behind}, targets[] = {behind, before};
    int64_t mine[2] = {10 * rank, 10 * rank + 1}, theirs[2] = {0};
    size_t eights[] = {8, 8}, at[] = {0, 8};
    fly_graph *graph;
    fly_req *req;
    check("adjacent", fly_graph_adjacent(team, 2, sources, 2, targets, &graph));
    check("alltoall", fly_neighbour_alltoall(graph, mine, theirs, 8));
    printf("rank %d got %d from before and %d from behind\n", rank, (int)theirs[0],
           (int)theirs[1]);
    check("alltoallv", fly_neighbour_alltoallv(graph, mine, eights, at, theirs, eights, at));
    finish("ialltoall", fly_ineighbour_alltoall(graph, mine, theirs, 8, &req), &req, 0);
    finish("ialltoallv",
           fly_ineighbour_alltoallv(graph, mine, eights, at, theirs, eights, at, &req), &req, 0);
    finish("alltoall_init", fly_neighbour_alltoall_init(graph, mine, theirs, 8, &req), &req, 1);
    finish("alltoallv_init",
           fly_neighbour_alltoallv_init(graph, mine, eights, at, theirs, eights, at, &req), &req,
           1);
    check("graph_free", fly_graph_free(&graph));
}

/* A field of 4 x 4 with a halo: its outer columns go to the halos of the ranks beside it. */
static void halo(fly_team *team, int rank, int size) {
    enum { WIDE = 6, HIGH = 4 };
    double field[HIGH][WIDE];
    int before = (rank + size - 1) % size, behind = (rank + 1) % size;
    int sources[] = {before, behind}, targets[] = {behind, before};
    fly_shape column = {HIGH, sizeof(double), sizeof field[0]}, columns[] = {column, column};
    size_t out[] = {(WIDE - 2) * sizeof(double), sizeof(double)};
    size_t in[] = {0, (WIDE - 1) * sizeof(double)};
    fly_graph *graph;
    fly_req *req;
    for (int i = 0; i < HIGH; i++)
        for (int j = 0; j < WIDE; j++) field[i][j] = 100 * rank + 10 * i + j;
    int weights[] = {HIGH * sizeof(double), HIGH * sizeof(double)};
    check("adjacent",
          fly_graph_adjacent_weighted(team, 2, sources, 2, targets, weights, &graph));
    check("alltoallw",
          fly_neighbour_alltoallw(graph, field, columns, out, field, columns, in));
    printf("rank %d has %g and %g beside its last row\n", rank, field[HIGH - 1][0],
           field[HIGH - 1][WIDE - 1]);
    finish("ialltoallw",
           fly_ineighbour_alltoallw(graph, field, columns, out, field, columns, in, &req), &req, 0);
    finish("alltoallw_init",
           fly_neighbour_alltoallw_init(graph, field, columns, out, field, columns, in, &req),
           &req, 1);
    check("graph_free", fly_graph_free(&graph));
}

/* Rank 0 gives all edges: from itself to every rank, itself as well. */
static void star(fly_team *team, int rank, int size) {
    int *from = calloc((size_t)size, sizeof *from), *to = calloc((size_t)size, sizeof *to);
    int64_t mine = 100 + rank, theirs = 0;
    size_t in, eight = 8, at = 0;
    const int *sources;
    fly_graph *graph;
    fly_req *req;
    if (from == NULL || to == NULL) exit(1);
    for (int r = 0; r < size; r++) to[r] = r;
    size_t count = rank == 0 ? (size_t)size : 0;
    check("create", fly_graph_create(team, count, from, to, &graph));
    check("graph_free", fly_graph_free(&graph));
    check("create", fly_graph_create_weighted(team, count, from, to, NULL, &graph)); /* the same */
    fly_team *whose;
    check("team", fly_graph_team(graph, &whose));
    check("barrier", fly_barrier(whose));
    check("neighbours", fly_graph_neighbours(graph, &in, &sources, NULL, NULL));
    check("allgather", fly_neighbour_allgather(graph, &mine, &theirs, 8));
    printf("rank %d has %zu source, %d, with %d\n", rank, in, sources[0], (int)theirs);
    check("allgatherv", fly_neighbour_allgatherv(graph, &mine, 8, &theirs, &eight, &at));
    finish("iallgather", fly_ineighbour_allgather(graph, &mine, &theirs, 8, &req), &req, 0);
    finish("iallgatherv",
           fly_ineighbour_allgatherv(graph, &mine, 8, &theirs, &eight, &at, &req), &req, 0);
    finish("allgather_init", fly_neighbour_allgather_init(graph, &mine, &theirs, 8, &req), &req,
           1);
    finish("allgatherv_init",
           fly_neighbour_allgatherv_init(graph, &mine, 8, &theirs, &eight, &at, &req), &req, 1);
    check("graph_free", fly_graph_free(&graph));
    free(from);
    free(to);
}

int main(void) {
    int rank = atoi(getenv("FLYLOOM_RANK")), size = atoi(getenv("FLYLOOM_SIZE"));
    fly_rt *rt;
    check("init", fly_init(NULL, NULL, &rt));
    ring(fly_world(rt), rank, size);
    star(fly_world(rt), rank, size);
    halo(fly_world(rt), rank, size);
    check("finalize", fly_finalize(&rt));
    return 0;
}
