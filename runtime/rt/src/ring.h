/* A ring with one producer and one consumer, in memory that processes share; 64-byte slots.
 *
 * Ticket t, from 1 on, has slot t mod `depth`, which holds t once its packet is whole; memory that
 * is zero is an empty ring. Each rank has a ring from each rank of its node, so that no step of a
 * put is locked: a locked step would wait until the stores before it have got their cache lines,
 * and consecutive puts could not have several lines in flight. Where a producer
 * dies, what it published is whole, and nothing stands behind what it did not.
 *
 * Precondition of a ticket: a credit. The credits of the producer are at most `depth`, so ticket
 * t - depth was consumed: the producer knows it by the credit that was returned (acquire).
 */
#ifndef FLY_RING_H
#define FLY_RING_H

#include <stddef.h>

#include "atomics.h"
#include "packet.h"

struct fly_slot {
    fly_word word; /* the last ticket published here */
    struct fly_packet packet;
};

/* One side's view. */
struct fly_ring {
    struct fly_slot *slots;
    uint64_t mask; /* depth - 1; the depth is a power of two */
    uint64_t next; /* ticket to be published, or to be taken: from 1 on */
};

/* The slot of the next ticket. The producer has a credit for it, and writes its packet there. */
static inline struct fly_slot *fly_ring_slot(const struct fly_ring *ring) {
    return &ring->slots[ring->next & ring->mask];
}

/* The producer calls this when its packet in that slot is complete. */
static inline void fly_ring_publish(struct fly_ring *ring, struct fly_slot *slot) {
    fly_store_release(&slot->word, ring->next++);
}

/* Gives the consumer the next packet, or NULL if it is not published. */
static inline const struct fly_packet *fly_ring_peek(const struct fly_ring *ring) {
    const struct fly_slot *slot = fly_ring_slot(ring);
    return fly_load_acquire(&slot->word) == ring->next ? &slot->packet : NULL;
}

/* The consumer calls this when it has read that packet, whose credit may be back by now. */
static inline void fly_ring_take(struct fly_ring *ring) { ring->next++; }

#endif
