/* Lanes: packets of collectives between two ranks that share memory.
 *
 * Each direction has a ring of its own, so that a reader looks only where it waits for something.
 * The writer goes on while fewer than FLY_LANE_DEPTH packets are not taken. The reader writes how
 * many it took into its own lane to the writer, each time after half of the depth.
 *
 * No packet blocks those after it for long: a rank takes from the lane of each rank that one of its
 * running collectives waits for, whichever collective the packet belongs to.
 */
#ifndef FLY_COLL_LANE_H
#define FLY_COLL_LANE_H

#include "inlet.h"

enum { FLY_LANE_DEPTH = 16 };

/* A lane from one rank to another, in the memory of the reader. */
struct fly_lane {
    struct fly_slot slots[FLY_LANE_DEPTH];
    _Alignas(64) fly_word taken; /* how many this lane's writer took from the other lane */
    /* Above 0: a death has ended the collectives of this lane's writer, so what it announced about
       its memory no longer holds. The value is a fly_dead_word, or 1 << 32. */
    fly_word left;
};

/* The lanes between this rank and another, in both directions. */
struct fly_lanes {
    struct fly_inlet out; /* without slots: the two ranks share no memory */
    struct fly_ring in;
    uint64_t may;              /* the last ticket that may be published, as last seen */
    const fly_word *taken;     /* the other writes here how many it took from `out` */
    fly_word *tell;            /* this rank writes here how many it took from `in` */
    uint64_t reported;         /* the last count that it wrote */
    fly_word *tell_left;       /* this rank writes here that it has left */
    const fly_word *left;      /* the other writes here that it has left */
    bool reads; /* the kernel lets this rank read the other's memory */
};

static inline bool fly_lanes_there(const struct fly_lanes *lanes) {
    return lanes->out.ring.slots != NULL;
}

/* `theirs` is in the other's memory; `inlet`, to the other, says how it is woken. */
static inline void fly_lanes_link(struct fly_lanes *lanes, struct fly_lane *theirs,
                                  struct fly_lane *mine, const struct fly_inlet *inlet) {
    *lanes = (struct fly_lanes){.out = *inlet, .taken = &mine->taken, .tell = &theirs->taken,
                                 .tell_left = &theirs->left, .left = &mine->left};
    lanes->out.ring = (struct fly_ring){theirs->slots, FLY_LANE_DEPTH - 1, 1};
    lanes->in = (struct fly_ring){mine->slots, FLY_LANE_DEPTH - 1, 1};
}

static inline bool fly_lane_room(struct fly_lanes *lanes) {
    if (lanes->out.ring.next <= lanes->may) return true;
    lanes->may = fly_load_acquire(lanes->taken) + FLY_LANE_DEPTH;
    return lanes->out.ring.next <= lanes->may;
}

/* Announces that this rank has left, before memory that the other may read goes back to the
   program. */
static inline void fly_lane_leave(const struct fly_lanes *lanes, uint32_t dead) {
    fly_store_release(lanes->tell_left, dead != 0 ? dead : UINT64_C(1) << 32);
    fly_fence_all();
}

/* After a read of the other's memory: whether the other had not left when it was read. */
static inline bool fly_lane_stays(const struct fly_lanes *lanes) {
    fly_fence_all();
    return fly_load_acquire(lanes->left) == 0;
}

static inline uint64_t fly_lane_left(const struct fly_lanes *lanes) {
    return fly_load_acquire(lanes->left);
}

/* Sends a packet; the lane has room. The packet is written at once, since its reader looks at the
   line meanwhile. */
static inline void fly_lane_send(struct fly_lanes *lanes, const struct fly_packet *packet) {
    struct fly_slot *slot = fly_ring_slot(&lanes->out.ring);
    slot->packet = *packet;
    fly_inlet_publish(&lanes->out, slot);
}

/* After fly_ring_peek: the packet has been read, and its slot is free. */
static inline void fly_lane_take(struct fly_lanes *lanes) {
    fly_ring_take(&lanes->in);
    if (lanes->in.next - lanes->reported <= FLY_LANE_DEPTH / 2) return;
    lanes->reported = lanes->in.next - 1;
    fly_store_release(lanes->tell, lanes->reported);
    fly_inlet_rouse(&lanes->out);
}

#endif
