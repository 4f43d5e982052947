/* The graph of neighbour collectives, who sends to whom, as one rank sees it. */
#ifndef FLY_COLL_GRAPH_H
#define FLY_COLL_GRAPH_H

#include "coll.h"

/* An edge at one of its ends. */
struct fly_route {
    int peer;
    int tag;    /* how many edges between the same two ranks come before it */
    int colour; /* its round; -1: an edge to itself */
    int slot;   /* its place in this rank's list of sources or targets */
};

struct fly_graph {
    struct fly_coll *coll; /* NULL: its team is gone */
    int number;            /* counts the team's graphs; never used again */
    int degree, selfs;     /* the most edges that one rank sends or receives by; edges to itself */
    size_t in_count, out_count;
    struct fly_route *ins, *outs; /* sorted by colour: edges to itself come first */
    int *sources, *targets;       /* ranks, by slot */
    struct fly_graph *next;       /* list of the team */
};

/* Detaches the graphs of a team that ends: they can only be freed. */
void fly_graphs_orphan(struct fly_coll *coll);

#endif
