/* What dump.c needs of neighbour collectives. */
#ifndef FLY_COLL_NEIGHBOUR_H
#define FLY_COLL_NEIGHBOUR_H

struct fly_call;

/* Describes the edges of a call, a line for each target and source in the order of the lists. The
   caller frees the text; NULL: no memory. */
char *fly_edges_text(const struct fly_call *call);

#endif
