/* A ring with many producers and one consumer, in memory that processes share; 64-byte slots.
 *
 * Tickets count from `depth`; ticket t has slot t mod depth. A producer claims a ticket by one
 * compare and swap on the claim word of the slot, which holds the last ticket claimed and its
 * owner: a claim and its owner are one step, so that where an owner dies between claim and
 * publication the consumer knows whose slot it may pass over. The claim words are apart from the
 * slots: the consumer polls a slot, and a slot moves to the producer once, written whole. `hint`
 * is a place to start looking for a free ticket; it may be old.
 *
 * Precondition of a claim: a credit. The credits of all producers together are at most `depth`, so
 * ticket t - depth was consumed. That consumption happens before the claim of t: the producer that
 * has seen the credit for it returned (acquire) claimed a ticket up to t, and claims are read with
 * acquire, from word to word or by the hint, in order of tickets.
 */
#ifndef FLY_RING_H
#define FLY_RING_H

#include "atomics.h"
#include "packet.h"

enum { FLY_OWNER_BITS = 12 };

struct fly_slot {
    fly_word word; /* the last ticket published here, and its owner */
    struct fly_packet packet;
};

struct fly_ring {
    struct fly_slot *slots;
    fly_word *claims; /* one a slot */
    fly_word *hint;
    uint64_t depth; /* a power of two */
};

static inline uint64_t fly_ring_word(uint64_t ticket, unsigned owner) {
    return ticket << FLY_OWNER_BITS | owner;
}
static inline uint64_t fly_ring_ticket(uint64_t word) { return word >> FLY_OWNER_BITS; }
static inline unsigned fly_ring_owner(uint64_t word) {
    return (unsigned)word & ((1U << FLY_OWNER_BITS) - 1);
}

static inline uint64_t fly_ring_place(const struct fly_ring *ring, uint64_t ticket) {
    return ticket & (ring->depth - 1);
}

/* Before first use, by the consumer. */
static inline void fly_ring_init(struct fly_ring *ring) {
    for (uint64_t i = 0; i < ring->depth; i++) {
        fly_store_release(&ring->slots[i].word, fly_ring_word(i, 0));
        fly_store_release(&ring->claims[i], fly_ring_word(i, 0));
    }
    fly_store_release(ring->hint, ring->depth);
}

/* The caller has a credit. Never waits for the consumer. */
static inline uint64_t fly_ring_claim(const struct fly_ring *ring, unsigned owner) {
    uint64_t ticket = fly_load_acquire(ring->hint);
    for (;;) {
        fly_word *claim = &ring->claims[fly_ring_place(ring, ticket)];
        uint64_t word = fly_load_acquire(claim);
        uint64_t last = fly_ring_ticket(word);
        if (last >= ticket) {
            ticket = last + 1; /* all up to `last` are claimed: claims leave no gap */
        } else if (last + ring->depth == ticket &&
                   fly_swap_if(claim, word, fly_ring_word(ticket, owner))) {
            fly_store_release(ring->hint, ticket + 1);
            return ticket;
        }
    }
}

static inline struct fly_slot *fly_ring_slot(const struct fly_ring *ring, uint64_t ticket) {
    return &ring->slots[fly_ring_place(ring, ticket)];
}

/* Where the owner of a ticket writes its packet. */
static inline struct fly_packet *fly_ring_packet(const struct fly_ring *ring, uint64_t ticket) {
    return &ring->slots[fly_ring_place(ring, ticket)].packet;
}

static inline void fly_slot_publish(struct fly_slot *slot, uint64_t ticket, unsigned owner) {
    fly_store_release(&slot->word, fly_ring_word(ticket, owner));
}

static inline void fly_ring_publish(const struct fly_ring *ring, uint64_t ticket, unsigned owner) {
    fly_slot_publish(&ring->slots[fly_ring_place(ring, ticket)], ticket, owner);
}

/* The packet of a ticket and its owner, or NULL: it is not published. */
static inline struct fly_packet *fly_ring_peek(const struct fly_ring *ring, uint64_t ticket,
                                               unsigned *owner) {
    struct fly_slot *slot = &ring->slots[fly_ring_place(ring, ticket)];
    uint64_t word = fly_load_acquire(&slot->word);
    *owner = fly_ring_owner(word);
    return fly_ring_ticket(word) == ticket ? &slot->packet : NULL;
}

/* Whether a ticket is claimed, and by whom. */
static inline bool fly_ring_claimed(const struct fly_ring *ring, uint64_t ticket,
                                    unsigned *owner) {
    uint64_t word = fly_load_acquire(&ring->claims[fly_ring_place(ring, ticket)]);
    *owner = fly_ring_owner(word);
    return fly_ring_ticket(word) == ticket;
}

/* Passes over the slot that a dead owner claimed. */
static inline void fly_ring_void(const struct fly_ring *ring, uint64_t ticket, unsigned owner) {
    fly_ring_packet(ring, ticket)->kind = FLY_K_VOID;
    fly_ring_publish(ring, ticket, owner);
}

#endif
