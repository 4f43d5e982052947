/* Lanes: packets of collectives between two ranks that share memory.
 *
 * A lane is a ring of its own each way, so that a reader looks only where it waits for something.
 * The writer goes on while fewer than FLY_LANE_DEPTH packets are not taken; the reader tells how
 * many it took in its own lane to the writer, once in half as many.
 *
 * Nothing waits for ever behind a packet that nobody looks for: a rank takes from the lane of each
 * rank that a running collective of its waits for, whatever the packet is of.
 */
#ifndef FLY_COLL_LANE_H
#define FLY_COLL_LANE_H

#include "inlet.h"

enum { FLY_LANE_DEPTH = 16 };

/* From one rank to another, in the memory of the reader. */
struct fly_lane {
    struct fly_slot slots[FLY_LANE_DEPTH];
    _Alignas(64) fly_word taken; /* by this lane's writer, of the lane the other way */
    /* Above 0: a death has ended the collectives of this lane's writer, and what it said of its
       memory holds no longer. As fly_dead_word, or 1 << 32. */
    fly_word left;
};

/* Both ways between this rank and another. */
struct fly_lanes {
    struct fly_inlet out; /* without slots: they share no memory */
    struct fly_ring in;
    uint64_t may;              /* the last ticket that may be published, as last seen */
    const fly_word *taken;     /* by the other, of `out` */
    fly_word *tell;            /* there it is told what was taken of `in` */
    uint64_t told;
    fly_word *tell_left;       /* there it is told that this rank has left */
    const fly_word *left;      /* by the other */
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

/* Before anything of this rank's that the other may read is given back to the program. */
static inline void fly_lane_leave(const struct fly_lanes *lanes, uint32_t dead) {
    fly_store_release(lanes->tell_left, dead != 0 ? dead : UINT64_C(1) << 32);
    fly_fence_all();
}

/* Whether the other had not left when the memory was read that was read before. */
static inline bool fly_lane_stays(const struct fly_lanes *lanes) {
    fly_fence_all();
    return fly_load_acquire(lanes->left) == 0;
}

static inline uint64_t fly_lane_left(const struct fly_lanes *lanes) {
    return fly_load_acquire(lanes->left);
}

/* Where there is room. The packet is written at one go: its reader looks at the line meanwhile. */
static inline void fly_lane_send(struct fly_lanes *lanes, const struct fly_packet *packet) {
    struct fly_slot *slot = fly_ring_slot(&lanes->out.ring);
    slot->packet = *packet;
    fly_inlet_publish(&lanes->out, slot);
}

/* After fly_ring_peek: the packet has been read. */
static inline void fly_lane_take(struct fly_lanes *lanes) {
    fly_ring_take(&lanes->in);
    if (lanes->in.next - lanes->told <= FLY_LANE_DEPTH / 2) return;
    lanes->told = lanes->in.next - 1;
    fly_store_release(lanes->tell, lanes->told);
    fly_inlet_rouse(&lanes->out);
}

#endif
