/* One access to a member's memory, between the calls that users make and what carries it. */
#ifndef FLY_ACCESS_H
#define FLY_ACCESS_H

#include <string.h>

#include "state.h"

struct fly_access {
    struct fly_win *win;
    struct fly_rt *rt;
    const struct fly_member *member;
    int target, peer, tag;
    uint64_t offset; /* in the target's memory, or in its entry */
};

/* FLY_OK, an error, or FLY_NOTHING for FLY_PROC_NULL. */
int fly_target(const struct fly_win *win, const char *call, int target);
/* Checks target, tag and range; `shape` is the target's. FLY_NOTHING for FLY_PROC_NULL. */
int fly_access_begin(struct fly_access *at, const char *call, struct fly_win *win, int target,
                     uint64_t disp, const fly_shape *shape, int tag, bool tag_optional);
/* A notification in place: a copy of a packet that was just put together waits for its stores, and
   they wait for the cache line of the data before them. */
static inline void fly_write_note(struct fly_packet *packet, const struct fly_win *win, int tag,
                                  const void *data, size_t bytes) {
    size_t inside = bytes <= FLY_INLINE ? bytes : 0;
    packet->window = win->object.id;
    packet->tag = tag;
    packet->source = win->object.team->rank;
    packet->kind = FLY_K_NOTIFY;
    packet->bytes = (uint8_t)inside;
    packet->flags = packet->unused = 0;
    if (inside == 8)
        memcpy(packet->data, data, 8);
    else if (inside != 0)
        memmove(packet->data, data, inside);
}

/* Puts a notification into the ring to the target, after the data; the caller has a credit. */
static inline int fly_note_here(struct fly_inlet *inlet, const struct fly_win *win, int tag,
                                const void *data, size_t bytes) {
    struct fly_slot *slot = fly_ring_slot(&inlet->ring);
    fly_write_note(&slot->packet, win, tag, data, bytes);
    fly_inlet_publish(inlet, slot);
    return FLY_OK;
}

/* The request, or NULL, is done at once or when the bytes have been moved; so for a get. */
int fly_access_put(struct fly_access *at, const void *src, const fly_shape *from,
                   const fly_shape *to, struct fly_req *req);
int fly_access_get(struct fly_access *at, void *dst, const fly_shape *to, const fly_shape *from,
                   struct fly_req *req);
/* *state becomes 1, or an error below 0, when *old is there. */
int fly_access_atomic(struct fly_access *at, int operation, uint64_t first, uint64_t second,
                      void *old, int *state, bool control);
/* An atomic on a word of a member's entry; waits for the answer. */
int fly_control(struct fly_win *win, int rank, int operation, size_t field, uint64_t first,
                uint64_t second, uint64_t *old);
/* The operation with the token could not be sent: no answer will come. */
void fly_abandon(const struct fly_access *at, uint32_t token);

#endif
