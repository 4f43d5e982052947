/* The ring under EVA: any ticket, whatever stands in the words that others write. */
#include "eva.h"

#include "ring.h"

#ifndef DEPTH_BITS
#define DEPTH_BITS 6 /* up to 64 slots */
#endif

enum { DEPTH_MOST = 1 << DEPTH_BITS };

static struct fly_slot slots[DEPTH_MOST];
static fly_word claims[DEPTH_MOST], hint;
static struct fly_ring ring;

static void begin(void) {
    ring = (struct fly_ring){slots, claims, &hint, UINT64_C(1) << pick(DEPTH_BITS + 1)};
    fly_ring_init(&ring);
}

/* What others wrote is anything: no access leaves the ring, and an owner is one that there is. */
void any_ticket(void) {
    uint64_t ticket = Frama_C_unsigned_long_interval(0, ULONG_MAX);
    unsigned mine = Frama_C_unsigned_int_interval(0, (1U << FLY_OWNER_BITS) - 1), owner;
    begin();
    Frama_C_make_unknown((char *)slots, sizeof slots);
    Frama_C_make_unknown((char *)claims, sizeof claims);
    Frama_C_make_unknown((char *)&hint, sizeof hint);
    struct fly_packet *packet = fly_ring_peek(&ring, ticket, &owner);
    //@ assert peeked: owner < 1 << FLY_OWNER_BITS;
    if (packet != NULL) packet->kind = FLY_K_VOID;
    fly_ring_claimed(&ring, ticket, &owner);
    //@ assert claimed: owner < 1 << FLY_OWNER_BITS;
    fly_ring_void(&ring, ticket, mine);
    *fly_ring_packet(&ring, ticket) = (struct fly_packet){.kind = FLY_K_ACK};
    fly_slot_publish(fly_ring_slot(&ring, ticket), ticket, mine);
    fly_ring_publish(&ring, ticket, mine);
}

/* Once and a half around by one: claims are in order, and what was published is seen. */
void around(void) {
    unsigned owner;
    begin();
    for (uint64_t i = 0; i < ring.depth + ring.depth / 2 + 1; i++) {
        hint.value = ring.depth + (pick(2) == 0 ? 0 : i); /* it may be old */
        uint64_t ticket = fly_ring_claim(&ring, 3);
        //@ assert in_order: ticket == ring.depth + i;
        fly_ring_packet(&ring, ticket)->kind = FLY_K_NOTIFY;
        fly_ring_publish(&ring, ticket, 3);
        bool there = fly_ring_peek(&ring, ticket, &owner) != NULL;
        //@ assert seen: there && owner == 3;
    }
}
