/* Who sends to whom in neighbour collectives, as one rank sees it. */
#ifndef FLY_COLL_GRAPH_H
#define FLY_COLL_GRAPH_H

#include "coll.h"

/* An edge at one of its ends. */
struct fly_route {
    int peer;
    int tag;    /* how many edges between the same two are before it */
    int colour; /* its round; -1: to itself */
    int slot;   /* its place in the list of this rank */
};

struct fly_graph {
    struct fly_coll *coll; /* NULL: its team is gone */
    int number;            /* of the team's graphs; never again */
    int degree, selfs;     /* the most edges that one rank sends or receives by; own to itself */
    size_t in_count, out_count;
    struct fly_route *ins, *outs; /* by colour: those to itself first */
    int *sources, *targets;       /* by slot */
    struct fly_graph *next;       /* of the team */
};

/* Those of a team that ends: they can only be freed. */
void fly_graphs_orphan(struct fly_coll *coll);

#endif
