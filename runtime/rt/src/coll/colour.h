/* Rounds of messages in which a rank sends one at most and receives one at most. Pure. */
#ifndef FLY_COLL_COLOUR_H
#define FLY_COLL_COLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fly_arc {
    int from, to;
};

/* The round of each message into `rounds`, from 0, in the order given; *count of them, which is
   never above the largest number that one rank sends, or receives. False: no memory. */
bool fly_colour(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                uint32_t *count);
/* Each way alone: the first round that is free at both ends; Koenig's, which is never worse. */
bool fly_colour_first_fit(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                          uint32_t *count);
bool fly_colour_koenig(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                       uint32_t *count);
/* The largest number of messages that one rank sends, or receives. False: no memory. */
bool fly_degree(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *degree);

#endif
