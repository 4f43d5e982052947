/* Colours messages into rounds in which each rank sends and receives at most one. Pure. */
#ifndef FLY_COLL_COLOUR_H
#define FLY_COLL_COLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fly_arc {
    int from, to;
};

/* Assigns each message a round, from 0, in `rounds`, in the order given. *count is the number of
   rounds, never above the most messages that one rank sends or receives. False: no memory. */
bool fly_colour(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                uint32_t *count);
/* The two methods alone: the first round that is free at both ends, and Koenig's, never worse. */
bool fly_colour_first_fit(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                          uint32_t *count);
bool fly_colour_koenig(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                       uint32_t *count);
/* The most messages that one rank sends, or receives. False: no memory. */
bool fly_degree(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *degree);

#endif
