/* flyloom_mpi_map.h: graphs of communicators, and ranks by the network; part of flyloom_mpi.h. */
#ifndef FLYLOOM_MPI_MAP_H
#define FLYLOOM_MPI_MAP_H

#include "flyloom_mpi_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLY_MPI_HOST_BYTES = 256, FLY_MPI_TEXT_BYTES = 400 };

/* What rank 0 gathers from all processes. */
typedef struct {
    int *counts, *starts, *ranks, *edges;
    char *hosts;
} fly_mpi_graph;

static inline int fly_mpi_graph_room(fly_mpi_graph *all, int size, long long edges) {
    size_t n = (size_t)size;
    if (edges > INT_MAX / 3)
        return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_comm_mapped: graph: %lld edges are too many",
                            edges);
    all->counts = (int *)malloc(n * sizeof(int));
    all->starts = (int *)malloc(n * sizeof(int));
    all->ranks = (int *)malloc(n * sizeof(int));
    all->edges = (int *)malloc(((size_t)edges + 1) * 3 * sizeof(int));
    all->hosts = (char *)malloc(n * FLY_MPI_HOST_BYTES);
    if (all->counts != NULL && all->starts != NULL && all->ranks != NULL && all->edges != NULL &&
        all->hosts != NULL)
        return FLY_OK;
    return fly_mpi_fail(FLY_ERR_NOMEM, "fly_mpi_comm_mapped: no memory");
}

static inline void fly_mpi_graph_drop(fly_mpi_graph *all) {
    free(all->counts);
    free(all->starts);
    free(all->ranks);
    free(all->edges);
    free(all->hosts);
}

/* Makes the error of rank 0 that of all ranks, with its text. */
static inline int fly_mpi_graph_code(MPI_Comm graph, int rank, int code) {
    char text[FLY_MPI_TEXT_BYTES] = "";
    if (rank == 0 && code != FLY_OK) snprintf(text, sizeof text, "%s", fly_last_error(NULL));
    MPI_Bcast(&code, 1, MPI_INT, 0, graph);
    if (code == FLY_OK) return code;
    MPI_Bcast(text, (int)sizeof text, MPI_CHAR, 0, graph);
    return rank == 0 ? code : fly_mpi_fail(code, "%s", text);
}

/* Lists the edges that leave this process, three numbers each; how many, or -1: no memory. */
static inline int fly_mpi_graph_own(MPI_Comm graph, int rank, int **edges) {
    int in = 0, out = 0, weighted = 0, i;
    int *lists;
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    lists = (int *)malloc(((size_t)in + (size_t)out + 1) * 2 * sizeof(int));
    *edges = (int *)malloc(((size_t)out + 1) * 3 * sizeof(int));
    if (lists == NULL || *edges == NULL) {
        free(lists);
        return -1;
    }
    /* The lists are sources, their weights, targets, their weights, one behind the other. */
    MPI_Dist_graph_neighbors(graph, in, lists, lists + in, out, lists + 2 * in,
                             lists + 2 * in + out);
    for (i = 0; i < out; i++) {
        (*edges)[3 * i] = rank;
        (*edges)[3 * i + 1] = lists[2 * in + i];
        (*edges)[3 * i + 2] = weighted ? lists[2 * in + out + i] : 1;
    }
    free(lists);
    return out;
}

/* Gathers edges and hosts at rank 0, which maps them and returns each process's new rank. */
static inline int fly_mpi_graph_map(MPI_Comm graph, int rank, int size, int count, int *own,
                                    long long edges, int *mapped) {
    fly_mpi_graph all = {NULL, NULL, NULL, NULL, NULL};
    char host[FLY_MPI_HOST_BYTES] = "", name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    const char *given = getenv("FLYLOOM_HOST");
    int code = FLY_OK, length = 0, numbers = 3 * count, i, at = 0;
    if (given == NULL || given[0] == 0) MPI_Get_processor_name(name, &length);
    snprintf(host, sizeof host, "%.255s", length > 0 ? name : given != NULL ? given : "");
    if (rank == 0) code = fly_mpi_graph_room(&all, size, edges);
    code = fly_mpi_graph_code(graph, rank, code);
    if (code == FLY_OK) {
        MPI_Gather(&numbers, 1, MPI_INT, all.counts, 1, MPI_INT, 0, graph);
        for (i = 0; rank == 0 && i < size; i++) {
            all.starts[i] = at;
            at += all.counts[i];
        }
        MPI_Gatherv(own, numbers, MPI_INT, all.edges, all.counts, all.starts, MPI_INT, 0, graph);
        MPI_Gather(host, FLY_MPI_HOST_BYTES, MPI_CHAR, all.hosts, FLY_MPI_HOST_BYTES, MPI_CHAR, 0,
                   graph);
        if (rank == 0)
            code = fly_map(size, all.hosts, FLY_MPI_HOST_BYTES, (size_t)edges, all.edges,
                           all.ranks);
        code = fly_mpi_graph_code(graph, rank, code);
    }
    if (code == FLY_OK) MPI_Scatter(all.ranks, 1, MPI_INT, mapped, 1, MPI_INT, 0, graph);
    fly_mpi_graph_drop(&all);
    return code;
}

/* The rank and size of a communicator that has a distributed graph; else an error of `call`. */
static inline int fly_mpi_graph_known(const char *call, MPI_Comm graph, int *rank, int *size) {
    int topology = MPI_UNDEFINED;
    if (!fly_mpi_alive())
        return fly_mpi_fail(FLY_ERR_STATE, "%s: MPI is not initialised, or finalised", call);
    if (graph != MPI_COMM_NULL) MPI_Topo_test(graph, &topology);
    if (topology != MPI_DIST_GRAPH)
        return fly_mpi_fail(FLY_ERR_ARG, "%s: graph: not one that MPI_Dist_graph_create or "
                            "MPI_Dist_graph_create_adjacent made", call);
    MPI_Comm_rank(graph, rank);
    MPI_Comm_size(graph, size);
    return FLY_OK;
}

/* Makes a communicator of the same processes whose ranks flyloom has mapped to the network in use:
   those that are neighbours in `graph`, of MPI_Dist_graph_create or _adjacent, are near. What rank
   r of `graph` does, with its neighbours and weights, is for the process that has rank r of
   *mapped; where others are no better ranks stay as they are. FLYLOOM_NETWORK names the network,
   FLYLOOM_HOST this process's host where MPI's name is not the one; others as for fly_map. *mapped
   has no topology, and is freed by MPI_Comm_free. Collective over `graph`; all get the same error,
   and *mapped is then MPI_COMM_NULL. Errors: ARG (graph has no distributed graph; what fly_map
   refuses), UNSUPPORTED (no network is named, or the library is not there), STATE (MPI is not
   initialised), NOMEM, TRANSPORT. Cost: all edges to rank 0, which maps. */
FLY_MPI int fly_mpi_comm_mapped(MPI_Comm graph, MPI_Comm *mapped) {
    int rank, size, count, place = 0, code;
    int *own = NULL;
    long long mine[2], all[2];
    if (mapped == NULL) return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_comm_mapped: mapped is NULL");
    *mapped = MPI_COMM_NULL;
    code = fly_mpi_graph_known("fly_mpi_comm_mapped", graph, &rank, &size);
    if (code != FLY_OK) return code;
    count = fly_mpi_graph_own(graph, rank, &own);
    mine[0] = count < 0;
    mine[1] = count < 0 ? 0 : count;
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, graph);
    code = all[0] != 0 ? fly_mpi_fail(FLY_ERR_NOMEM, "fly_mpi_comm_mapped: no memory at a rank")
                       : fly_mpi_graph_map(graph, rank, size, count, own, all[1], &place);
    free(own);
    if (code != FLY_OK) return code;
    if (MPI_Comm_split(graph, 0, place, mapped) == MPI_SUCCESS) return FLY_OK;
    *mapped = MPI_COMM_NULL;
    return fly_mpi_fail(FLY_ERR_TRANSPORT, "fly_mpi_comm_mapped: MPI_Comm_split failed");
}

/* Makes the graph of neighbour collectives that a communicator of MPI_Dist_graph_create or
   MPI_Dist_graph_create_adjacent has, with its weights; `team` has the same processes with the same
   ranks. Collective over `graph`. Errors, the same at all: ARG (graph has no distributed graph; the
   team is another), STATE (MPI is not initialised), NOMEM, PEER. Cost: as
   fly_graph_adjacent_weighted. */
FLY_MPI int fly_mpi_graph_of(MPI_Comm graph, fly_team *team, fly_graph **made) {
    int rank = 0, size = 0, mine = 0, all = 0, in = 0, out = 0;
    int weighted = 0, good, every = 0, code, i;
    int *lists;
    if (made == NULL) return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_graph_of: made is NULL");
    *made = NULL;
    code = fly_mpi_graph_known("fly_mpi_graph_of", graph, &rank, &size);
    if (code != FLY_OK) return code;
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    lists = (int *)malloc(((size_t)in + (size_t)out + 1) * 2 * sizeof(int));
    good = team != NULL && fly_team_self(team, &mine, &all) == FLY_OK && mine == rank &&
           all == size;
    if (lists == NULL) good = -1;
    MPI_Allreduce(&good, &every, 1, MPI_INT, MPI_MIN, graph);
    if (every != 1) {
        free(lists);
        return every < 0 ? fly_mpi_fail(FLY_ERR_NOMEM, "fly_mpi_graph_of: no memory at a rank")
                         : fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_graph_of: team: its ranks are not "
                                        "those of graph");
    }
    MPI_Dist_graph_neighbors(graph, in, lists, lists + in, out, lists + 2 * in,
                             lists + 2 * in + out);
    for (i = 0; i < out && !weighted; i++) lists[2 * in + out + i] = 1;
    code = fly_graph_adjacent_weighted(team, (size_t)in, lists, (size_t)out, lists + 2 * in,
                                       lists + 2 * in + out, made);
    free(lists);
    return code;
}

#ifdef __cplusplus
}
#endif
#endif
