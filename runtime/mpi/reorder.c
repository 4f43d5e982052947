/* MPI_Dist_graph_create, MPI_Dist_graph_create_adjacent, MPI_Cart_create and MPI_Graph_create that
 * give ranks new processes where the program allows it (reorder), so that neighbours are near on
 * the network: LD_PRELOAD, or a link.
 *
 * The graph goes to rank 0 of the communicator, which maps it (reorder_map.c). Where ranks are to
 * move, a communicator with the new ranks is split off, and the library makes the topology on it:
 * with the edges as they were given, since edges name ranks. If each process gave its own edges,
 * the process that now has a rank first gets the edges that this rank's former process gave.
 * FLYLOOM_HOST is this process's host, if MPI's name is not the right one.
 *
 * All processes make the same collective calls in the same order, whatever is wrong at one of them:
 * rank 0 always decides what they do next. Only collectives are used on the program's communicator,
 * since the program may be waiting for messages on it.
 */
#define _GNU_SOURCE
#include "reorder.h"

#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *look_up(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        fprintf(stderr, "flyloom: reorder: the MPI library has no %s; build this one anew\n",
                name);
    return found;
}

#define WRAP_LOOK_UP look_up
#include "wrap.h"

#define TRY(call)                                                                                 \
    if ((code = (call)) != MPI_SUCCESS) goto end

/* The new place of a process: its new rank, and the new rank of the process that had that rank. */
struct rank_move {
    int moves, rank, from;
};

/* What rank 0 gathers from all processes. */
struct gathered_data {
    int *counts, *starts, *ranks, *places; /* places: three numbers for each process */
    struct edge *edges;
    char *hosts;
};

static void drop(struct gathered_data *all) {
    free(all->counts);
    free(all->starts);
    free(all->ranks);
    free(all->places);
    free(all->edges);
    free(all->hosts);
}

/* Makes room for all data at rank 0; 0, with the reason printed, if there is none or no network. */
static int can_gather(struct gathered_data *all, int size, int64_t edges) {
    if (!reo_can_map()) return 0;
    if (edges > INT_MAX) {
        reo_keep("%lld edges are too many", (long long)edges);
        return 0;
    }
    size_t n = (size_t)size;
    all->counts = malloc(n * sizeof *all->counts);
    all->starts = malloc(n * sizeof *all->starts);
    all->ranks = malloc(n * sizeof *all->ranks);
    all->places = malloc(3 * n * sizeof *all->places);
    all->edges = malloc(((size_t)edges + 1) * sizeof *all->edges);
    all->hosts = malloc(n * HOST_BYTES);
    int is_room = all->counts && all->starts && all->ranks && all->places && all->edges &&
                  all->hosts;
    if (!is_room) reo_keep("memory is short");
    return is_room;
}

static void own_host(char *host) {
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    const char *given = getenv("FLYLOOM_HOST");
    if (given == NULL || given[0] == 0) PMPI_Get_processor_name(name, &length);
    snprintf(host, HOST_BYTES, "%.*s", HOST_BYTES - 1,
             length > 0 ? name : given != NULL ? given : "");
}

/* Maps what was gathered, and writes each process's new place into all->places. */
static void map_all(struct gathered_data *all, int size, int64_t edges) {
    int moves = reo_map(all->edges, (size_t)edges, all->hosts, size, all->ranks);
    for (int i = 0; i < size; i++) {
        int rank = moves ? all->ranks[i] : i;
        all->places[3 * i] = moves;
        all->places[3 * i + 1] = rank;
        all->places[3 * i + 2] = moves ? all->ranks[rank] : i;
    }
}

/* Finds the new place of each process of a communicator with these edges, of which there are
 * `edges` at all processes. */
static int decide(MPI_Comm comm, enum reo_call which, struct edge *own, int count, int64_t edges,
                  struct rank_move *place) {
    struct gathered_data all = {0};
    MPI_Datatype three = MPI_DATATYPE_NULL;
    char host[HOST_BYTES] = "";
    int code, rank, size, goes = 0, new_place[3];
    TRY(PMPI_Comm_rank(comm, &rank));
    TRY(PMPI_Comm_size(comm, &size));
    if (rank == 0) goes = can_gather(&all, size, edges);
    TRY(PMPI_Bcast(&goes, 1, MPI_INT, 0, comm));
    *place = (struct rank_move){0, rank, rank};
    if (rank == 0 && !goes) reo_count(which, REO_UNMAPPED);
    if (!goes) goto end;
    own_host(host);
    TRY(PMPI_Type_contiguous(3, MPI_INT, &three));
    TRY(PMPI_Type_commit(&three));
    TRY(PMPI_Gather(&count, 1, MPI_INT, all.counts, 1, MPI_INT, 0, comm));
    for (int i = 0, at = 0; rank == 0 && i < size; i++) {
        all.starts[i] = at;
        at += all.counts[i];
    }
    TRY(PMPI_Gatherv(own, count, three, all.edges, all.counts, all.starts, three, 0, comm));
    TRY(PMPI_Gather(host, HOST_BYTES, MPI_CHAR, all.hosts, HOST_BYTES, MPI_CHAR, 0, comm));
    if (rank == 0) map_all(&all, size, edges);
    TRY(PMPI_Scatter(all.places, 3, MPI_INT, new_place, 3, MPI_INT, 0, comm));
    *place = (struct rank_move){new_place[0], new_place[1], new_place[2]};
    if (rank == 0) reo_count(which, place->moves ? REO_MOVED : REO_AS_GOOD);
end:
    if (three != MPI_DATATYPE_NULL) PMPI_Type_free(&three);
    drop(&all);
    return code;
}

/* Whether the processes of this communicator are one group, which can be split. */
static int is_one_group(MPI_Comm comm) {
    int is_inter = 1;
    return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS &&
           !is_inter;
}

/* Whether all processes could give their edges, and how many there are in all: `count` is this
 * process's, or -1 where an argument is wrong, which the library reports. */
static int agree(MPI_Comm comm, enum reo_call which, int count, int64_t *edges, int *is_good) {
    int rank = 0;
    int64_t mine[2] = {count < 0, count < 0 ? 0 : count}, all[2] = {0, 0};
    int code = PMPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, comm);
    *is_good = all[0] == 0;
    *edges = all[1];
    if (!*is_good && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == 0)
        reo_count(which, REO_WRONG);
    return code;
}

/* A communicator with the new ranks, or none where they stay; `count` is this process's number of
 * edges, or -1 where an argument is wrong. */
static int move(MPI_Comm comm, enum reo_call which, struct edge *edges, int count,
                MPI_Comm *moved) {
    struct rank_move place = {0, 0, 0};
    int code, is_good = 0;
    int64_t all = 0;
    TRY(agree(comm, which, count, &all, &is_good));
    if (is_good) TRY(decide(comm, which, edges, count, all, &place));
    if (place.moves) TRY(PMPI_Comm_split(comm, 0, place.rank, moved));
end:
    return code;
}

static int is_rank(int rank, int size) { return rank >= 0 && rank < size; }

/* Lists the edges of MPI_Dist_graph_create in `edges`, to be freed; how many, or -1. */
static int edges_of(int size, int n, const int sources[], const int degrees[],
                    const int destinations[], const int weights[], struct edge **edges) {
    int64_t count = 0;
    if (n < 0 || (n > 0 && (sources == NULL || degrees == NULL))) return -1;
    for (int i = 0; i < n; i++) {
        if (degrees[i] < 0 || !is_rank(sources[i], size)) return -1;
        count += degrees[i];
    }
    int is_weighted = weights != MPI_UNWEIGHTED;
    if (count > INT_MAX || (count > 0 && (destinations == NULL || weights == NULL))) return -1;
    *edges = malloc(((size_t)count + 1) * sizeof **edges);
    if (*edges == NULL) {
        reo_keep("memory is short");
        return -1;
    }
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        for (int64_t end = at + degrees[i]; at < end; at++) {
            int weight = is_weighted ? weights[at] : 1;
            if (weight < 0 || !is_rank(destinations[at], size)) return -1;
            (*edges)[at] = (struct edge){sources[i], destinations[at], weight};
        }
    }
    return (int)count;
}

API int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                              const int destinations[], const int weights[], MPI_Info info,
                              int reorder, MPI_Comm *made) {
    REAL(Dist_graph_create)
    if (!reorder || !is_one_group(comm)) {
        reo_count_fixed(comm, REO_DIST_GRAPH);
        return real(comm, n, sources, degrees, destinations, weights, info, reorder, made);
    }
    struct edge *edges = NULL;
    int code, size = 0;
    MPI_Comm moved = MPI_COMM_NULL;
    TRY(PMPI_Comm_size(comm, &size));
    int count = edges_of(size, n, sources, degrees, destinations, weights, &edges);
    TRY(move(comm, REO_DIST_GRAPH, edges, count, &moved));
    code = real(moved != MPI_COMM_NULL ? moved : comm, n, sources, degrees, destinations, weights,
                info, 0, made);
end:
    if (moved != MPI_COMM_NULL) PMPI_Comm_free(&moved);
    free(edges);
    return code;
}
ALIAS(Dist_graph_create)

/* A process's own neighbours: their numbers, whether they have weights, and, one after the other,
 * the ranks of sources, their weights, the ranks of destinations, their weights. */
struct neighbour_lists {
    int in, out, in_weighted, out_weighted;
    int *all;
};

static int length(const struct neighbour_lists *of) {
    return of->in * (1 + of->in_weighted) + of->out * (1 + of->out_weighted);
}

static int *destinations_of(const struct neighbour_lists *of) {
    return of->all + of->in * (1 + of->in_weighted);
}

/* Whether neighbours are ranks with weights from 0. */
static int are_good(int size, int degree, const int ranks[], const int weights[]) {
    if (degree < 0 || degree > INT_MAX / 4) return 0;
    if (degree > 0 && (ranks == NULL || weights == NULL)) return 0;
    for (int i = 0; i < degree; i++)
        if (!is_rank(ranks[i], size) || (weights != MPI_UNWEIGHTED && weights[i] < 0)) return 0;
    return 1;
}

static int *copied(int *into, const int *from, int count) {
    if (count > 0) memcpy(into, from, (size_t)count * sizeof *into);
    return into + count;
}

/* Packs the lists that a process gave into one piece; 0, or -1 where memory is short. */
static int pack(struct neighbour_lists *own, const int *sources, const int *in_weights,
                const int *destinations, const int *out_weights) {
    own->all = malloc(((size_t)length(own) + 1) * sizeof *own->all);
    if (own->all == NULL) return -1;
    int *at = copied(own->all, sources, own->in);
    if (own->in_weighted) at = copied(at, in_weights, own->in);
    at = copied(at, destinations, own->out);
    if (own->out_weighted) copied(at, out_weights, own->out);
    return 0;
}

/* The edges that leave this process; how many, or -1 where memory is short. */
static int edges_from(int rank, const struct neighbour_lists *own, struct edge **edges) {
    *edges = malloc(((size_t)own->out + 1) * sizeof **edges);
    if (*edges == NULL) return -1;
    const int *ranks = destinations_of(own);
    for (int i = 0; i < own->out; i++) {
        int weight = own->out_weighted ? ranks[own->out + i] : 1;
        (*edges)[i] = (struct edge){rank, ranks[i], weight};
    }
    return own->out;
}

/* Exchanges lists: gets those of the process that had this process's new rank; `theirs`. is_room is
 * 0 if memory is short at any process. */
static int exchange(MPI_Comm moved, int old, int from, const struct neighbour_lists *own,
                    struct neighbour_lists *theirs, int *is_room) {
    int mine[4] = {own->in, own->out, own->in_weighted, own->out_weighted}, given[4], code;
    TRY(PMPI_Sendrecv(mine, 4, MPI_INT, old, 0, given, 4, MPI_INT, from, 0, moved,
                      MPI_STATUS_IGNORE));
    *theirs = (struct neighbour_lists){given[0], given[1], given[2], given[3], NULL};
    theirs->all = malloc(((size_t)length(theirs) + 1) * sizeof *theirs->all);
    int has = theirs->all != NULL;
    TRY(PMPI_Allreduce(&has, is_room, 1, MPI_INT, MPI_MIN, moved));
    if (*is_room)
        code = PMPI_Sendrecv(own->all, length(own), MPI_INT, old, 1, theirs->all, length(theirs),
                             MPI_INT, from, 1, moved, MPI_STATUS_IGNORE);
end:
    return code;
}

/* The weights that follow `degree` ranks, as MPI expects them. */
static const int *weights_of(const int *ranks, int degree, int is_weighted) {
    if (!is_weighted) return MPI_UNWEIGHTED;
    return degree > 0 ? ranks + degree : MPI_WEIGHTS_EMPTY;
}

API int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[],
                                       const int in_weights[], int out, const int destinations[],
                                       const int out_weights[], MPI_Info info, int reorder,
                                       MPI_Comm *made) {
    REAL(Dist_graph_create_adjacent)
    if (!reorder || !is_one_group(comm)) {
        reo_count_fixed(comm, REO_ADJACENT);
        return real(comm, in, sources, in_weights, out, destinations, out_weights, info, reorder,
                    made);
    }
    struct neighbour_lists own = {in, out, in_weights != MPI_UNWEIGHTED, out_weights != MPI_UNWEIGHTED,
                        NULL};
    struct neighbour_lists theirs = {0};
    struct edge *edges = NULL;
    struct rank_move place = {0, 0, 0};
    int code, rank = 0, size = 0, count = -1, is_good = 0, is_room = 0;
    int64_t all = 0;
    MPI_Comm moved = MPI_COMM_NULL;
    TRY(PMPI_Comm_rank(comm, &rank));
    TRY(PMPI_Comm_size(comm, &size));
    if (are_good(size, in, sources, in_weights) && are_good(size, out, destinations, out_weights) &&
        pack(&own, sources, in_weights, destinations, out_weights) == 0)
        count = edges_from(rank, &own, &edges);
    if (count < 0 && own.all != NULL) reo_keep("memory is short");
    TRY(agree(comm, REO_ADJACENT, count, &all, &is_good));
    if (is_good) TRY(decide(comm, REO_ADJACENT, edges, count, all, &place));
    if (place.moves) {
        TRY(PMPI_Comm_split(comm, 0, place.rank, &moved));
        TRY(exchange(moved, rank, place.from, &own, &theirs, &is_room));
        if (!is_room && rank == 0) reo_keep("memory is short");
    }
    if (is_room) {
        const int *to = destinations_of(&theirs);
        code = real(moved, theirs.in, theirs.all,
                    weights_of(theirs.all, theirs.in, theirs.in_weighted), theirs.out, to,
                    weights_of(to, theirs.out, theirs.out_weighted), info, 0, made);
    } else {
        code = real(comm, in, sources, in_weights, out, destinations, out_weights, info, 0, made);
    }
end:
    if (moved != MPI_COMM_NULL) PMPI_Comm_free(&moved);
    free(own.all);
    free(theirs.all);
    free(edges);
    return code;
}
ALIAS(Dist_graph_create_adjacent)

/* The number of ranks of a grid, or -1 where it is none of at most `size`. */
static int grid_ranks(int size, int count, const int sizes[], const int rounds[]) {
    int64_t all = 1;
    if (count < 0 || (count > 0 && (sizes == NULL || rounds == NULL))) return -1;
    for (int i = 0; i < count; i++) {
        if (sizes[i] <= 0 || (all *= sizes[i]) > size) return -1;
    }
    return (int)all;
}

/* Lists what a rank of a grid sends to its neighbours, the last coordinate the quickest; how many,
 * or -1 where memory is short. */
static int edges_on_grid(int rank, int count, const int sizes[], const int rounds[],
                         struct edge **edges) {
    *edges = malloc((2 * (size_t)count + 1) * sizeof **edges);
    if (*edges == NULL) {
        reo_keep("memory is short");
        return -1;
    }
    int found = 0;
    for (int i = count - 1, stride = 1; i >= 0; stride *= sizes[i--]) {
        int at = rank / stride % sizes[i];
        for (int step = -1; step <= 1; step += 2) {
            int next = at + step, is_inside = next >= 0 && next < sizes[i];
            if ((!is_inside && !rounds[i]) || sizes[i] == 1) continue;
            next = (next + sizes[i]) % sizes[i];
            (*edges)[found++] = (struct edge){rank, rank + (next - at) * stride, 1};
        }
    }
    return found;
}

API int MPI_Cart_create(MPI_Comm comm, int count, const int sizes[], const int rounds[],
                        int reorder, MPI_Comm *made) {
    REAL(Cart_create)
    if (!reorder || !is_one_group(comm)) {
        reo_count_fixed(comm, REO_CART);
        return real(comm, count, sizes, rounds, reorder, made);
    }
    struct edge *edges = NULL;
    int code, rank = 0, size = 0;
    MPI_Comm moved = MPI_COMM_NULL;
    TRY(PMPI_Comm_rank(comm, &rank));
    TRY(PMPI_Comm_size(comm, &size));
    int ranks = grid_ranks(size, count, sizes, rounds), own = ranks < 0 ? -1 : 0;
    if (rank < ranks) own = edges_on_grid(rank, count, sizes, rounds, &edges);
    TRY(move(comm, REO_CART, edges, own, &moved));
    code = real(moved != MPI_COMM_NULL ? moved : comm, count, sizes, rounds, 0, made);
end:
    if (moved != MPI_COMM_NULL) PMPI_Comm_free(&moved);
    free(edges);
    return code;
}
ALIAS(Cart_create)

/* Lists the edges of a rank of MPI_Graph_create's graph; how many, or -1 where it is none. */
static int edges_in_graph(int rank, int size, int ranks, const int index[], const int to[],
                          struct edge **edges) {
    if (ranks < 0 || ranks > size || (ranks > 0 && index == NULL)) return -1;
    for (int i = 0; i < ranks; i++)
        if (index[i] < (i > 0 ? index[i - 1] : 0)) return -1;
    if (rank >= ranks) return 0;
    int first = rank > 0 ? index[rank - 1] : 0, count = index[rank] - first;
    *edges = malloc(((size_t)count + 1) * sizeof **edges);
    if (*edges == NULL) {
        reo_keep("memory is short");
        return -1;
    }
    if (count > 0 && to == NULL) return -1;
    for (int i = 0; i < count; i++) {
        if (!is_rank(to[first + i], ranks)) return -1;
        (*edges)[i] = (struct edge){rank, to[first + i], 1};
    }
    return count;
}

API int MPI_Graph_create(MPI_Comm comm, int ranks, const int index[], const int to[], int reorder,
                         MPI_Comm *made) {
    REAL(Graph_create)
    if (!reorder || !is_one_group(comm)) {
        reo_count_fixed(comm, REO_GRAPH);
        return real(comm, ranks, index, to, reorder, made);
    }
    struct edge *edges = NULL;
    int code, rank = 0, size = 0;
    MPI_Comm moved = MPI_COMM_NULL;
    TRY(PMPI_Comm_rank(comm, &rank));
    TRY(PMPI_Comm_size(comm, &size));
    int own = edges_in_graph(rank, size, ranks, index, to, &edges);
    TRY(move(comm, REO_GRAPH, edges, own, &moved));
    code = real(moved != MPI_COMM_NULL ? moved : comm, ranks, index, to, 0, made);
end:
    if (moved != MPI_COMM_NULL) PMPI_Comm_free(&moved);
    free(edges);
    return code;
}
ALIAS(Graph_create)

API int MPI_Finalize(void) {
    REAL(Finalize)
    reo_end();
    return real();
}
ALIAS(Finalize)
