/* What neighbour collectives give to the record of what ran. */
#ifndef FLY_COLL_NEIGHBOUR_H
#define FLY_COLL_NEIGHBOUR_H

struct fly_call;

/* For dump.c: a line for each target and source of a call, in the order of the lists, in memory of
   malloc; NULL: no memory. */
char *fly_edges_text(const struct fly_call *call);

#endif
