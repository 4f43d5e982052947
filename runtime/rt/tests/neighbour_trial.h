/* A random graph that every rank knows, and neighbour collectives on it with the expected result.
 *
 * This does not use the library's own order of edges: it makes and matches the lists independently.
 */
#ifndef FLY_TEST_NEIGHBOUR_TRIAL_H
#define FLY_TEST_NEIGHBOUR_TRIAL_H

#include <stdbool.h>

#include "check.h"
#include "flyloom_coll.h"
#include "shape_trial.h"

enum { RANKS_MOST = 64, EDGES_MOST = 6 * RANKS_MOST };

/* An edge, and its place in the lists of both ends. */
struct edge {
    int from, to, giver;
    size_t out, in;
};

struct sparse {
    fly_graph *graph;
    int rank, size, degree; /* degree: the most edges of one rank to or from others */
    uint64_t seed;
    size_t edge_count, in_count, out_count;
    struct edge edges[EDGES_MOST];
    int sources[EDGES_MOST], targets[EDGES_MOST]; /* sources and targets of this rank */
    const struct edge *ins[EDGES_MOST], *outs[EDGES_MOST];
};

/* Repeated edges, edges of a rank to itself, ranks without any; the same at all by `seed`. */
void sparse_draw(struct sparse *sparse, int rank, int size, uint64_t seed);
/* Makes the graph of all edges, each given by some rank, or of each rank's own lists, as drawn. */
void sparse_make(struct sparse *sparse, fly_team *team);

enum sparse_operation {
    SPARSE_ALLGATHER, SPARSE_ALLGATHERV, SPARSE_ALLTOALL, SPARSE_ALLTOALLV, SPARSE_ALLTOALLW,
    SPARSE_OPERATIONS
};
enum sparse_form { SPARSE_BLOCKING, SPARSE_BEGUN, SPARSE_PERSISTENT };

struct sparse_call {
    const struct sparse *sparse;
    enum sparse_operation operation;
    uint64_t seed;
    size_t bytes; /* bytes of a block, or of the largest */
    size_t send_bytes[EDGES_MOST], send_at[EDGES_MOST];
    size_t receive_bytes[EDGES_MOST], receive_at[EDGES_MOST];
    fly_shape send_shapes[EDGES_MOST], receive_shapes[EDGES_MOST]; /* one block, or of ALLTOALLW */
    unsigned char *send, *receive; /* memory with guards around it */
    size_t sent, received;
};

void sparse_call_draw(struct sparse_call *call, const struct sparse *sparse, uint64_t seed,
                      size_t most);
void sparse_call_fill(struct sparse_call *call, uint64_t epoch);
int sparse_call_make(struct sparse_call *call, enum sparse_form form, fly_req **req);
/* Ends the program where a byte is not what it must be. */
void sparse_call_check(const struct sparse_call *call, uint64_t epoch);
void sparse_call_end(struct sparse_call *call);
/* Where the memory to send begins, and the memory to receive into. */
unsigned char *sparse_send(const struct sparse_call *call);
unsigned char *sparse_receive(const struct sparse_call *call);

#endif
