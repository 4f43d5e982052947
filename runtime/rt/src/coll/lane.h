/* Lanes: packets of collectives between two ranks that share memory.
 *
 * A lane has one writer and one reader, so that it needs no claims and no locked steps, and a
 * reader looks only where it waits for something: packet t is whole once slot t mod FLY_LANE_DEPTH
 * holds t + 1. The writer goes on while fewer than FLY_LANE_DEPTH are not taken; the reader tells
 * how many it took in its own lane to the writer, once in half as many.
 *
 * Nothing waits for ever behind a packet that nobody looks for: a rank takes from the lane of each
 * rank that a running collective of its waits for, whatever the packet is of.
 */
#ifndef FLY_COLL_LANE_H
#define FLY_COLL_LANE_H

#include "core.h"
#include "inlet.h"

enum { FLY_LANE_DEPTH = 16 };

/* From one rank to another, in the memory of the reader. */
struct fly_lane {
    struct {
        fly_word word;
        struct fly_packet packet;
    } slots[FLY_LANE_DEPTH];
    _Alignas(64) fly_word taken; /* by this lane's writer, of the lane the other way */
};

/* Both ways between this rank and another. */
struct fly_lanes {
    struct fly_lane *out, *in; /* NULL: they share no memory */
    const struct fly_inlet *inlet;
    uint64_t sent, seen;  /* packets; of these known to be taken */
    uint64_t taken, told; /* of the other's; of these told to it */
};

static inline bool fly_lane_room(struct fly_lanes *lanes) {
    if (lanes->sent - lanes->seen < FLY_LANE_DEPTH) return true;
    lanes->seen = fly_load_acquire(&lanes->in->taken);
    return lanes->sent - lanes->seen < FLY_LANE_DEPTH;
}

/* Where there is room. The packet is written at one go: its reader looks at the line meanwhile. */
static inline void fly_lane_send(struct fly_lanes *lanes, const struct fly_packet *packet) {
    uint64_t at = lanes->sent % FLY_LANE_DEPTH;
    lanes->out->slots[at].packet = *packet;
    fly_store_release(&lanes->out->slots[at].word, ++lanes->sent);
    fly_inlet_rouse(lanes->inlet);
}

/* The packet that comes next; NULL: it is not there. */
static inline const struct fly_packet *fly_lane_peek(const struct fly_lanes *lanes) {
    uint64_t at = lanes->taken % FLY_LANE_DEPTH;
    return fly_load_acquire(&lanes->in->slots[at].word) == lanes->taken + 1
               ? &lanes->in->slots[at].packet
               : NULL;
}

static inline void fly_lane_take(struct fly_lanes *lanes) {
    lanes->taken++;
    if (lanes->taken - lanes->told < FLY_LANE_DEPTH / 2) return;
    lanes->told = lanes->taken;
    fly_store_release(&lanes->out->taken, lanes->taken);
    fly_inlet_rouse(lanes->inlet);
}

#endif
