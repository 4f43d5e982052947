/* Plans a whole graph: finds each edge's place at both ends, and its round. Pure. */
#ifndef FLY_COLL_PLAN_H
#define FLY_COLL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLY_EDGES_MOST = 1 << 28 };

/* What the words of a rank are. EDGES: equally many senders, receivers and weights. ADJACENT: the
   number of sources, the sources, the targets, and the targets' weights. */
enum fly_graph_kind { FLY_GRAPH_EDGES = 1, FLY_GRAPH_ADJACENT };

struct fly_place {
    int peer, tag, colour;
};

/* What a rank is sent: the counts that it needs, or the error, which is the same at all ranks. */
struct fly_verdict {
    int code, from, to;
    uint32_t in_targets, in_sources;
    uint32_t in_count, out_count, degree;
};

struct fly_edge_end;
struct fly_plan {
    int size;
    size_t out_count, in_count;
    struct fly_edge_end *outs, *ins; /* in the order of senders' lists, and receivers' */
    struct fly_place *slots;      /* of rank 0's sources, its targets, rank 1's sources, ... */
    uint32_t degree;
};

/* Computes the slots and each rank's verdict from the words of all; rank r's begin at starts[r]. */
void fly_plan_make(struct fly_plan *plan, enum fly_graph_kind kind, int size, const int *words,
                   const size_t *starts, struct fly_verdict *verdicts);
void fly_plan_end(struct fly_plan *plan);

#endif
