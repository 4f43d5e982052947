/* flyloom_coll.h: collectives: what all processes of a team do together.
 *
 * Each operation has three forms. fly_<name> does it and returns when this process's part is done.
 * fly_i<name> begins it and returns a request that is active: it goes on in every call of the
 * library, or in the progress thread, and fly_test or fly_wait says when it is done; then the
 * request can only be freed. fly_<name>_init makes a request that fly_start begins, as often as
 * wanted. Until it is done, memory to read stays as it is and memory to write is not looked at.
 *
 * All members of a team call the same collectives with arguments that go together, in the same
 * order: that of fly_<name>, fly_i<name> and fly_start. They may complete in any order. The first
 * collective call of a team, of whatever form, waits until all members have come to theirs.
 * Schedules of arguments that come again are kept, so that beginning one allocates nothing.
 *
 * Errors of all: ARG (a parameter is NULL, memory overlaps; with FLYLOOM_CHECK=1 also arguments
 * that differ between ranks, and at all others what one has refused), PEER (a member has died),
 * NOMEM. Costs are in messages, or in bytes sent, of the process that has most; P is the size of
 * the team.
 */
#ifndef FLYLOOM_COLL_H
#define FLYLOOM_COLL_H

#include "flyloom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Given as memory to read: the data is in the memory to write, as described with each call. */
#define FLY_IN_PLACE ((void *)(uintptr_t)-1)

/* Elements of a fold. FLY_BYTES: of as many bytes as the fold says, for a function of the user. */
enum {
    FLY_BYTES,
    FLY_INT8,
    FLY_INT16,
    FLY_INT32,
    FLY_INT64,
    FLY_UINT8,
    FLY_UINT16,
    FLY_UINT32,
    FLY_UINT64,
    FLY_FLOAT,
    FLY_DOUBLE
};
/* How two elements become one. Sums and products of integers wrap; bits are not for FLY_FLOAT and
   FLY_DOUBLE. */
enum { FLY_SUM, FLY_PROD, FLY_MIN, FLY_MAX, FLY_LAND, FLY_LOR, FLY_BAND, FLY_BOR, FLY_BXOR };

/* A fold of elements: `apply` NULL is `op`, else the user's function, which makes *inout of left
   and *inout for `count` elements and calls nothing of flyloom. `ordered` 1: it is not commutative,
   and is given elements of lower ranks on the left. With FLYLOOM_REPEAT=1 every fold is ordered and
   bracketed by ranks alone: the same bits whatever the algorithm, root or network. */
typedef struct {
    int type, op;
    size_t bytes; /* of an element, for FLY_BYTES: 1 to 65536 */
    int ordered;
    void (*apply)(void *context, const void *left, void *inout, size_t count);
    void *context;
} fly_fold;

/* Returns when all members have called it. Cost: n messages in each of ceil(log P / log(n + 1))
   rounds, n chosen for the network. */
FLY_API int fly_barrier(fly_team *team);

/* Begins what fly_barrier does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_barrier. */
FLY_API int fly_ibarrier(fly_team *team, fly_req **req);

/* Makes a request that fly_start begins as fly_barrier, again and again. Errors: as fly_barrier. */
FLY_API int fly_barrier_init(fly_team *team, fly_req **req);

/* Copies `bytes` at `buffer` of `root` to `buffer` of all. Errors: RANK (root). Cost: ceil(log2
   P) messages, or the bytes once in segments; by multicast (fly_multicast_query) the bytes once as
   datagrams, and two messages. */
FLY_API int fly_bcast(fly_team *team, void *buffer, size_t bytes, int root);

/* Begins what fly_bcast does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_bcast. */
FLY_API int fly_ibcast(fly_team *team, void *buffer, size_t bytes, int root, fly_req **req);

/* Makes a request that fly_start begins as fly_bcast, again and again. Errors: as fly_bcast. */
FLY_API int fly_bcast_init(fly_team *team, void *buffer, size_t bytes, int root, fly_req **req);

/* What fly_multicast_query returns about this process's broadcasts by multicast in a team. */
typedef struct {
    int open;              /* 1: broadcasts may go by multicast */
    size_t fragment_bytes; /* bytes of a broadcast in one datagram; 0: not open */
    uint64_t sent;         /* fragments sent as datagrams */
    uint64_t taken;        /* fragments received as datagrams */
    uint64_t asked;        /* fragments that were asked for again */
    uint64_t repaired;     /* fragments given to others that asked */
    uint64_t dropped;      /* datagrams that FLYLOOM_MULTICAST_FAULTS dropped */
    char text[200];        /* the group; or the reason why it is not open */
} fly_multicast;

/* Says whether broadcasts of a team may go by multicast, or why not, and counts fragments. The
   group is opened by the team's first collective, where FLYLOOM_MULTICAST or FLYLOOM_COLL ask for
   it. Errors: ARG. Cost: O(1). */
FLY_API int fly_multicast_query(fly_team *team, fly_multicast *facts);

/* Folds element i of all members' `send` into element i of `receive` of `root`, which the others
   may give as NULL. `send` FLY_IN_PLACE at the root: its elements are in `receive`. Errors: RANK
   (root), ARG (fold). Cost: as fly_bcast. */
FLY_API int fly_reduce(fly_team *team, const void *send, void *receive, size_t count,
                       const fly_fold *fold, int root);

/* Begins what fly_reduce does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_reduce. */
FLY_API int fly_ireduce(fly_team *team, const void *send, void *receive, size_t count,
                        const fly_fold *fold, int root, fly_req **req);

/* Makes a request that fly_start begins as fly_reduce, again and again. Errors: as fly_reduce. */
FLY_API int fly_reduce_init(fly_team *team, const void *send, void *receive, size_t count,
                            const fly_fold *fold, int root, fly_req **req);

/* As fly_reduce with the result at all, the same bits at each; `send` FLY_IN_PLACE: it is in
   `receive`. Errors: ARG (fold). Cost: ceil(log2 P) messages of all, or twice the bytes. */
FLY_API int fly_allreduce(fly_team *team, const void *send, void *receive, size_t count,
                          const fly_fold *fold);

/* Begins what fly_allreduce does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_allreduce. */
FLY_API int fly_iallreduce(fly_team *team, const void *send, void *receive, size_t count,
                           const fly_fold *fold, fly_req **req);

/* Makes a request that fly_start begins as fly_allreduce, again and again. Errors: as
   fly_allreduce. */
FLY_API int fly_allreduce_init(fly_team *team, const void *send, void *receive, size_t count,
                               const fly_fold *fold, fly_req **req);

/* Puts `bytes` at `send` of rank r at r times `bytes` of `receive` of all. `send` FLY_IN_PLACE:
   it is there already. Cost: P - 1 messages, or ceil(log2 P); bytes times P - 1. */
FLY_API int fly_allgather(fly_team *team, const void *send, void *receive, size_t bytes);

/* Begins what fly_allgather does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_allgather. */
FLY_API int fly_iallgather(fly_team *team, const void *send, void *receive, size_t bytes,
                           fly_req **req);

/* Makes a request that fly_start begins as fly_allgather, again and again. Errors: as
   fly_allgather. */
FLY_API int fly_allgather_init(fly_team *team, const void *send, void *receive, size_t bytes,
                               fly_req **req);

/* Puts `bytes` at `send` of rank r at r times `bytes` of `receive` of `root`; others may give
   NULL. `send` FLY_IN_PLACE at the root: its own are there. Errors: RANK (root). Cost: P - 1
   messages at the root, or ceil(log2 P). */
FLY_API int fly_gather(fly_team *team, const void *send, void *receive, size_t bytes, int root);

/* Begins what fly_gather does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_gather. */
FLY_API int fly_igather(fly_team *team, const void *send, void *receive, size_t bytes, int root,
                        fly_req **req);

/* Makes a request that fly_start begins as fly_gather, again and again. Errors: as fly_gather. */
FLY_API int fly_gather_init(fly_team *team, const void *send, void *receive, size_t bytes, int root,
                            fly_req **req);

/* Puts `bytes` at r times `bytes` of `send` of `root`, which others may give as NULL, at
   `receive` of rank r. `receive` FLY_IN_PLACE at the root: its own stay there. Errors: RANK
   (root). Cost: as fly_gather. */
FLY_API int fly_scatter(fly_team *team, const void *send, void *receive, size_t bytes, int root);

/* Begins what fly_scatter does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_scatter. */
FLY_API int fly_iscatter(fly_team *team, const void *send, void *receive, size_t bytes, int root,
                         fly_req **req);

/* Makes a request that fly_start begins as fly_scatter, again and again. Errors: as fly_scatter. */
FLY_API int fly_scatter_init(fly_team *team, const void *send, void *receive, size_t bytes,
                             int root, fly_req **req);

/* Folds as fly_reduce does, and gives rank r its counts[r] elements of the result, one rank's
   behind the other's; `counts` are the same at all. `send` FLY_IN_PLACE: all elements are in
   `receive`, and the result begins it. Errors: ARG (fold, counts). Cost: P - 1 messages, or
   ceil(log2 P) of more bytes. */
FLY_API int fly_reduce_scatter(fly_team *team, const void *send, void *receive,
                               const size_t counts[], const fly_fold *fold);

/* Begins what fly_reduce_scatter does; *req is active and ends with fly_test or fly_wait. Errors:
   as fly_reduce_scatter. */
FLY_API int fly_ireduce_scatter(fly_team *team, const void *send, void *receive,
                                const size_t counts[], const fly_fold *fold, fly_req **req);

/* Makes a request that fly_start begins as fly_reduce_scatter, again and again. Errors: as
   fly_reduce_scatter. */
FLY_API int fly_reduce_scatter_init(fly_team *team, const void *send, void *receive,
                                    const size_t counts[], const fly_fold *fold, fly_req **req);

/* Puts `bytes` at r times `bytes` of `send` at s times `bytes` of `receive` of rank r, for each
   rank s. `send` FLY_IN_PLACE: they are in `receive`, which is replaced. Cost: P - 1 messages, or
   ceil(log2 P) of half of all bytes each. */
FLY_API int fly_alltoall(fly_team *team, const void *send, void *receive, size_t bytes);

/* Begins what fly_alltoall does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_alltoall. */
FLY_API int fly_ialltoall(fly_team *team, const void *send, void *receive, size_t bytes,
                          fly_req **req);

/* Makes a request that fly_start begins as fly_alltoall, again and again. Errors: as
   fly_alltoall. */
FLY_API int fly_alltoall_init(fly_team *team, const void *send, void *receive, size_t bytes,
                              fly_req **req);

/* As fly_alltoall with sizes and places for each rank, in bytes; what r sends to s is as much as
   s receives from r. `send` FLY_IN_PLACE: send_bytes and send_at are those of receive. Cost: P -
   1 messages. */
FLY_API int fly_alltoallv(fly_team *team, const void *send, const size_t send_bytes[],
                          const size_t send_at[], void *receive, const size_t receive_bytes[],
                          const size_t receive_at[]);

/* Begins what fly_alltoallv does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_alltoallv. */
FLY_API int fly_ialltoallv(fly_team *team, const void *send, const size_t send_bytes[],
                           const size_t send_at[], void *receive, const size_t receive_bytes[],
                           const size_t receive_at[], fly_req **req);

/* Makes a request that fly_start begins as fly_alltoallv, again and again. Errors: as
   fly_alltoallv. */
FLY_API int fly_alltoallv_init(fly_team *team, const void *send, const size_t send_bytes[],
                               const size_t send_at[], void *receive, const size_t receive_bytes[],
                               const size_t receive_at[], fly_req **req);

/* As fly_alltoallv with a shape for each rank: what r sends to s is as many bytes as s receives
   from r, in the order of their blocks, whatever the shapes. Places are in bytes; no block of a
   shape lies before the memory. Blocks may lie between one another, as columns of one array do;
   those of receive are apart from all others. `send` FLY_IN_PLACE: send_shapes and send_at are
   those of receive. Errors also: ARG (a shape leaves memory; blocks overlap). Cost: P - 1 messages;
   a copy of what has gaps before and after. */
FLY_API int fly_alltoallw(fly_team *team, const void *send, const fly_shape send_shapes[],
                          const size_t send_at[], void *receive, const fly_shape receive_shapes[],
                          const size_t receive_at[]);

/* Begins what fly_alltoallw does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_alltoallw. */
FLY_API int fly_ialltoallw(fly_team *team, const void *send, const fly_shape send_shapes[],
                           const size_t send_at[], void *receive, const fly_shape receive_shapes[],
                           const size_t receive_at[], fly_req **req);

/* Makes a request that fly_start begins as fly_alltoallw, again and again. Errors: as
   fly_alltoallw. */
FLY_API int fly_alltoallw_init(fly_team *team, const void *send, const fly_shape send_shapes[],
                               const size_t send_at[], void *receive,
                               const fly_shape receive_shapes[], const size_t receive_at[],
                               fly_req **req);

/* Folds the elements of ranks 0 to r into `receive` of rank r. `send` FLY_IN_PLACE: they are in
   `receive`. Errors: ARG (fold). Cost: ceil(log2 P) messages. */
FLY_API int fly_scan(fly_team *team, const void *send, void *receive, size_t count,
                     const fly_fold *fold);

/* Begins what fly_scan does; *req is active and ends with fly_test or fly_wait. Errors: as
   fly_scan. */
FLY_API int fly_iscan(fly_team *team, const void *send, void *receive, size_t count,
                      const fly_fold *fold, fly_req **req);

/* Makes a request that fly_start begins as fly_scan, again and again. Errors: as fly_scan. */
FLY_API int fly_scan_init(fly_team *team, const void *send, void *receive, size_t count,
                          const fly_fold *fold, fly_req **req);

/* A graph of who sends to whom in neighbour collectives: made by all members of a team, used by all
   of them, and freed by each for itself. Edges may come again and may lead from a rank to itself. A
   rank's sources are those that it receives from, its targets those that it sends to, in the order
   of its blocks: the n-th edge from r to s is the n-th s among the targets of r, and the n-th r
   among the sources of s. */
typedef struct fly_graph fly_graph;

/* Makes a graph of edges, from[i] to to[i], of which each member gives any: some, none or all, each
   edge once in all. Sources and targets are in the order of the ranks that gave the edges, then in
   the order given. Errors, the same at all members: RANK (from, to), ARG. Cost: all edges once to
   rank 0 and back, coloured there in O(edges * (degree + P)) at most. Source: Koenig 1916. */
FLY_API int fly_graph_create(fly_team *team, size_t count, const int from[], const int to[],
                             fly_graph **graph);

/* Makes a graph of each member's own sources and targets. Errors, the same at all members: RANK
   (sources, targets), ARG (a rank has another among its targets more or less often than that has it
   among its sources). Cost: as fly_graph_create. */
FLY_API int fly_graph_adjacent(fly_team *team, size_t in_count, const int sources[],
                               size_t out_count, const int targets[], fly_graph **graph);

/* As fly_graph_create with weights[i], such as the bytes that go by edge i: rounds are filled with
   the heaviest first, so that those of a round are like one another. `weights` NULL: all are
   alike. Errors: as fly_graph_create; ARG (a weight below 0). Cost: as fly_graph_create. */
FLY_API int fly_graph_create_weighted(fly_team *team, size_t count, const int from[],
                                      const int to[], const int weights[], fly_graph **graph);

/* As fly_graph_adjacent with a weight for each target of this process; those of its sources are
   what they say. `target_weights` NULL: all are alike. Errors: as fly_graph_adjacent; ARG (a weight
   below 0). Cost: as fly_graph_create. */
FLY_API int fly_graph_adjacent_weighted(fly_team *team, size_t in_count, const int sources[],
                                        size_t out_count, const int targets[],
                                        const int target_weights[], fly_graph **graph);

/* Gives this process's sources and targets, in the order of its blocks; the arrays live as long as
   the graph. Each of the four may be NULL. Errors: ARG. Cost: none. */
FLY_API int fly_graph_neighbours(const fly_graph *graph, size_t *in_count, const int **sources,
                                 size_t *out_count, const int **targets);

/* Gives the team that a graph belongs to. Errors: ARG, STATE (it is gone). Cost: none. */
FLY_API int fly_graph_team(const fly_graph *graph, fly_team **team);

/* Frees a graph at this process, and sets *graph to NULL. Requests made with it stay as they are,
   and it may be freed after its team. Errors: ARG. Cost: no messages. */
FLY_API int fly_graph_free(fly_graph **graph);

/* Puts `bytes` at `send` of this process at `receive` of each target: what comes from source i is
   at i times `bytes`. Errors also: STATE (the team is gone). Cost: a message for each edge, in as
   many rounds as the largest number of targets or sources of a rank, or all at once. */
FLY_API int fly_neighbour_allgather(fly_graph *graph, const void *send, void *receive,
                                    size_t bytes);

/* Begins what fly_neighbour_allgather does; *req is active and ends with fly_test or fly_wait.
   Errors: as fly_neighbour_allgather. */
FLY_API int fly_ineighbour_allgather(fly_graph *graph, const void *send, void *receive,
                                     size_t bytes, fly_req **req);

/* Makes a request that fly_start begins as fly_neighbour_allgather, again and again. Errors: as
   fly_neighbour_allgather. */
FLY_API int fly_neighbour_allgather_init(fly_graph *graph, const void *send, void *receive,
                                         size_t bytes, fly_req **req);

/* As fly_neighbour_allgather with sizes of each process's own, in bytes: receive_bytes[i] is what
   source i gives as `bytes`, put at receive_at[i] of `receive`. Errors also: STATE. Cost: as
   fly_neighbour_allgather. */
FLY_API int fly_neighbour_allgatherv(fly_graph *graph, const void *send, size_t bytes,
                                     void *receive, const size_t receive_bytes[],
                                     const size_t receive_at[]);

/* Begins what fly_neighbour_allgatherv does; *req is active and ends with fly_test or fly_wait.
   Errors: as fly_neighbour_allgatherv. */
FLY_API int fly_ineighbour_allgatherv(fly_graph *graph, const void *send, size_t bytes,
                                      void *receive, const size_t receive_bytes[],
                                      const size_t receive_at[], fly_req **req);

/* Makes a request that fly_start begins as fly_neighbour_allgatherv, again and again. Errors: as
   fly_neighbour_allgatherv. */
FLY_API int fly_neighbour_allgatherv_init(fly_graph *graph, const void *send, size_t bytes,
                                          void *receive, const size_t receive_bytes[],
                                          const size_t receive_at[], fly_req **req);

/* Puts `bytes` at i times `bytes` of `send` at target i, and what comes from source i at i times
   `bytes` of `receive`. Errors also: STATE. Cost: as fly_neighbour_allgather. */
FLY_API int fly_neighbour_alltoall(fly_graph *graph, const void *send, void *receive,
                                   size_t bytes);

/* Begins what fly_neighbour_alltoall does; *req is active and ends with fly_test or fly_wait.
   Errors: as fly_neighbour_alltoall. */
FLY_API int fly_ineighbour_alltoall(fly_graph *graph, const void *send, void *receive, size_t bytes,
                                    fly_req **req);

/* Makes a request that fly_start begins as fly_neighbour_alltoall, again and again. Errors: as
   fly_neighbour_alltoall. */
FLY_API int fly_neighbour_alltoall_init(fly_graph *graph, const void *send, void *receive,
                                        size_t bytes, fly_req **req);

/* As fly_neighbour_alltoall with sizes and places for each target and source, in bytes; what is
   sent by an edge is as much as is received by it. Errors also: STATE. Cost: as
   fly_neighbour_allgather. */
FLY_API int fly_neighbour_alltoallv(fly_graph *graph, const void *send, const size_t send_bytes[],
                                    const size_t send_at[], void *receive,
                                    const size_t receive_bytes[], const size_t receive_at[]);

/* Begins what fly_neighbour_alltoallv does; *req is active and ends with fly_test or fly_wait.
   Errors: as fly_neighbour_alltoallv. */
FLY_API int fly_ineighbour_alltoallv(fly_graph *graph, const void *send, const size_t send_bytes[],
                                     const size_t send_at[], void *receive,
                                     const size_t receive_bytes[], const size_t receive_at[],
                                     fly_req **req);

/* Makes a request that fly_start begins as fly_neighbour_alltoallv, again and again. Errors: as
   fly_neighbour_alltoallv. */
FLY_API int fly_neighbour_alltoallv_init(fly_graph *graph, const void *send,
                                         const size_t send_bytes[], const size_t send_at[],
                                         void *receive, const size_t receive_bytes[],
                                         const size_t receive_at[], fly_req **req);

/* As fly_neighbour_alltoall with a shape and a place in bytes for each target and source, as
   fly_alltoallw: faces of an array go to its halo without a copy of one's own. Errors also: STATE,
   ARG (a shape leaves memory; blocks overlap). Cost: as fly_neighbour_allgather; a copy of what has
   gaps before and after. */
FLY_API int fly_neighbour_alltoallw(fly_graph *graph, const void *send,
                                    const fly_shape send_shapes[], const size_t send_at[],
                                    void *receive, const fly_shape receive_shapes[],
                                    const size_t receive_at[]);

/* Begins what fly_neighbour_alltoallw does; *req is active and ends with fly_test or fly_wait.
   Errors: as fly_neighbour_alltoallw. */
FLY_API int fly_ineighbour_alltoallw(fly_graph *graph, const void *send,
                                     const fly_shape send_shapes[], const size_t send_at[],
                                     void *receive, const fly_shape receive_shapes[],
                                     const size_t receive_at[], fly_req **req);

/* Makes a request that fly_start begins as fly_neighbour_alltoallw, again and again. Errors: as
   fly_neighbour_alltoallw. */
FLY_API int fly_neighbour_alltoallw_init(fly_graph *graph, const void *send,
                                         const fly_shape send_shapes[], const size_t send_at[],
                                         void *receive, const fly_shape receive_shapes[],
                                         const size_t receive_at[], fly_req **req);

#ifdef __cplusplus
}
#endif
#endif
