/* Edge colouring under EVA: every graph of few ranks and edges, with allocations that fail. */
#include "eva.h"

#include "../src/coll/colour.c"

#ifndef RANKS
#define RANKS 3
#endif
#ifndef EDGES
#define EDGES 2
#endif
#ifndef FAILURES
#define FAILURES 4 /* runs in which the n-th allocation fails, n below this */
#endif

/* Colours of every graph. */
void graphs(void) {
    struct fly_arc arcs[EDGES];
    uint32_t rounds[EDGES], count;
    until_failure = pick(FAILURES + 1) - 1;
    for (int i = 0; i < EDGES; i++) arcs[i] = (struct fly_arc){pick(RANKS), pick(RANKS)};
    bool good = fly_colour_koenig(RANKS, EDGES, arcs, rounds, &count);
    //@ assert few: !good || (1 <= count <= EDGES);
    good = fly_colour(RANKS, EDGES, arcs, rounds, &count);
    //@ assert as_few: !good || (1 <= count <= EDGES);
}
