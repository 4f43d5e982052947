/* A ring with many producers and one consumer, in memory that processes share; 64-byte slots.
 *
 * Tickets count from `depth`; ticket t is in slot t mod depth. The word of a slot holds the last
 * ticket claimed there, its owner, and whether it is published. A producer claims by one compare
 * and swap on that word, so that a claim and its owner are one step: where an owner dies between
 * claim and publication, the consumer knows whose slot it may pass over. `hint` is a place to start
 * looking; it may be old.
 *
 * Precondition of a claim: a credit. The credits of all producers together are at most `depth`, so
 * ticket t - depth was consumed. That consumption happens before the claim: the producer that has
 * seen the credit for it returned (acquire) claimed a ticket up to t, and claims are read with
 * acquire, from slot to slot or by the hint, in order of tickets.
 */
#ifndef FLY_RING_H
#define FLY_RING_H

#include "atomics.h"
#include "packet.h"

enum { FLY_OWNER_BITS = 12 };

struct fly_slot {
    fly_word word;
    struct fly_packet packet;
};

struct fly_ring {
    struct fly_slot *slots;
    fly_word *hint;
    uint64_t depth; /* a power of two */
};

static inline uint64_t fly_ring_word(uint64_t ticket, unsigned owner, bool published) {
    return ticket << (FLY_OWNER_BITS + 1) | (uint64_t)owner << 1 | published;
}
static inline uint64_t fly_ring_ticket(uint64_t word) { return word >> (FLY_OWNER_BITS + 1); }
static inline unsigned fly_ring_owner(uint64_t word) {
    return (unsigned)(word >> 1) & ((1U << FLY_OWNER_BITS) - 1);
}

static inline struct fly_slot *fly_ring_slot(const struct fly_ring *ring, uint64_t ticket) {
    return &ring->slots[ticket & (ring->depth - 1)];
}

/* Before first use, by the consumer; the memory is zero. */
static inline void fly_ring_init(struct fly_ring *ring) {
    for (uint64_t i = 0; i < ring->depth; i++)
        fly_store_release(&ring->slots[i].word, fly_ring_word(i, 0, true));
    fly_store_release(ring->hint, ring->depth);
}

/* The caller has a credit. Never waits for the consumer. */
static inline uint64_t fly_ring_claim(const struct fly_ring *ring, unsigned owner) {
    uint64_t ticket = fly_load_acquire(ring->hint);
    for (;;) {
        struct fly_slot *slot = fly_ring_slot(ring, ticket);
        uint64_t word = fly_load_acquire(&slot->word);
        uint64_t last = fly_ring_ticket(word);
        if (last >= ticket) {
            ticket = last + 1; /* all up to `last` are claimed: claims leave no gap */
        } else if (last + ring->depth == ticket && (word & 1) != 0 &&
                   fly_swap_if(&slot->word, word, fly_ring_word(ticket, owner, false))) {
            fly_store_release(ring->hint, ticket + 1);
            return ticket;
        }
    }
}

static inline void fly_ring_publish(const struct fly_ring *ring, uint64_t ticket, unsigned owner) {
    fly_store_release(&fly_ring_slot(ring, ticket)->word, fly_ring_word(ticket, owner, true));
}

/* The packet of a ticket, or NULL: *claimed says whether somebody (*owner) is writing it. */
static inline struct fly_packet *fly_ring_peek(const struct fly_ring *ring, uint64_t ticket,
                                               unsigned *owner, bool *claimed) {
    struct fly_slot *slot = fly_ring_slot(ring, ticket);
    uint64_t word = fly_load_acquire(&slot->word);
    *claimed = fly_ring_ticket(word) == ticket;
    *owner = fly_ring_owner(word);
    return *claimed && (word & 1) != 0 ? &slot->packet : NULL;
}

/* Passes over the slot that a dead owner claimed. */
static inline void fly_ring_void(const struct fly_ring *ring, uint64_t ticket, unsigned owner) {
    fly_ring_slot(ring, ticket)->packet.kind = FLY_K_VOID;
    fly_ring_publish(ring, ticket, owner);
}

#endif
