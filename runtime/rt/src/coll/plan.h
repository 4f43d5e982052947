/* The edges of a whole graph, with their places at both ends and their rounds. Pure. */
#ifndef FLY_COLL_PLAN_H
#define FLY_COLL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLY_EDGES_MOST = 1 << 28 };

/* What the words of a rank are: as many senders as receivers and weights; or the number of sources,
   they, the targets, and the weights of these. */
enum fly_graph_kind { FLY_GRAPH_EDGES = 1, FLY_GRAPH_ADJACENT };

struct fly_place {
    int peer, tag, colour;
};

/* What a rank hears: its numbers; or what is wrong, which is the same at all. */
struct fly_verdict {
    int code, from, to;
    uint32_t in_targets, in_sources;
    uint32_t in_count, out_count, degree;
};

struct fly_half;
struct fly_plan {
    int size;
    size_t out_count, in_count;
    struct fly_half *outs, *ins; /* edges as the senders' lists have them, and the receivers' */
    struct fly_place *slots;      /* of rank 0's sources, its targets, rank 1's sources, ... */
    uint32_t degree;
};

/* From the words of all ranks, those of r from starts[r] on, to slots and a verdict for each. */
void fly_plan_make(struct fly_plan *plan, enum fly_graph_kind kind, int size, const int *words,
                   const size_t *starts, struct fly_verdict *verdicts);
void fly_plan_end(struct fly_plan *plan);

#endif
