/* The ring under EVA: any ticket, whatever stands in the words that others write. */
#include "eva.h"

#include "ring.h"

#ifndef DEPTH_BITS
#define DEPTH_BITS 6 /* up to 64 slots */
#endif

enum { DEPTH_MOST = 1 << DEPTH_BITS };

static struct fly_slot slots[DEPTH_MOST];

static struct fly_ring any_depth(uint64_t next) {
    return (struct fly_ring){slots, (UINT64_C(1) << pick(DEPTH_BITS + 1)) - 1, next};
}

/* What others wrote is anything: no access leaves the ring. */
void any_ticket(void) {
    struct fly_ring ring = any_depth(Frama_C_unsigned_long_interval(1, ULONG_MAX - 1));
    Frama_C_make_unknown((char *)slots, sizeof slots);
    const struct fly_packet *packet = fly_ring_peek(&ring);
    if (packet != NULL) {
        struct fly_packet copy = *packet;
        (void)copy;
        fly_ring_take(&ring);
    }
    struct fly_slot *slot = fly_ring_slot(&ring);
    slot->packet = (struct fly_packet){.kind = FLY_K_ACK};
    fly_ring_publish(&ring, slot);
}

/* Twice around and one more: empty at first, and what was published is seen, once, in order. */
void around(void) {
    struct fly_ring out = any_depth(1), in = out;
    for (uint64_t i = 0; i < 2 * out.mask + 3; i++) {
        bool early = fly_ring_peek(&in) != NULL;
        //@ assert empty: !early;
        struct fly_slot *slot = fly_ring_slot(&out);
        slot->packet = (struct fly_packet){.kind = FLY_K_NOTIFY, .tag = (int32_t)i};
        fly_ring_publish(&out, slot);
        const struct fly_packet *packet = fly_ring_peek(&in);
        bool seen = packet != NULL && packet->tag == (int32_t)i;
        //@ assert seen: seen;
        fly_ring_take(&in);
    }
}
