/* The rings from the ranks of the node, as the one that takes holds them. */
#ifndef FLY_OUTLET_H
#define FLY_OUTLET_H

#include "core.h"

struct fly_outlet {
    struct fly_ring ring;
    struct fly_quota *note;  /* of the peer's notifications */
    struct fly_outlet *next; /* from another peer; all are in a circle */
    int peer;
};

/* The ring that gave a packet gives the next; after so many, the others have their turn. */
enum { FLY_IN_A_ROW = 16 };

static inline void fly_outlet_taken(struct fly_rt *rt, struct fly_outlet *from) {
    fly_ring_take(&from->ring);
    rt->from = from->ring.next % FLY_IN_A_ROW != 0 ? from : from->next;
}

/* Looks at the rings in turn for a while, until one has a packet; NULL: none has. */
static inline struct fly_outlet *fly_outlet_await(struct fly_rt *rt) {
    struct fly_outlet *from = rt->from;
    for (int looks = rt->looks; fly_ring_peek(&from->ring) == NULL; from = from->next) {
        if (--looks == 0) return NULL;
        fly_look_alone();
    }
    return rt->from = from;
}

/* Gives the next packet to the request, where it is the usual one: a notification of the window,
   for the request, which is posted alone. false: it is not, and nothing has happened. */
static inline bool fly_outlet_hand(const struct fly_outlet *from, struct fly_win *win,
                                   struct fly_want *want) {
    const struct fly_packet *packet = &fly_ring_slot(&from->ring)->packet;
    return packet->window == win->object.id && packet->kind == FLY_K_NOTIFY &&
           fly_match_hand(&win->match, want, packet->source, packet->tag, packet->data,
                          packet->bytes);
}

/* Sorts it in, where it is a notification of the window; false: it is not, or memory is short. */
static inline bool fly_outlet_sort(struct fly_rt *rt, struct fly_outlet *from,
                                   struct fly_win *win) {
    const struct fly_packet *packet = &fly_ring_slot(&from->ring)->packet;
    if (packet->window != win->object.id || packet->kind != FLY_K_NOTIFY ||
        !fly_notification(win, from->peer, packet->source, packet->tag, packet->data,
                          packet->bytes))
        return false;
    fly_outlet_taken(rt, from);
    return true;
}

/* That packet was handed over; true: it is time to tell its sender so. */
static inline bool fly_outlet_noted(struct fly_rt *rt, struct fly_outlet *from) {
    fly_outlet_taken(rt, from);
    return ++from->note->taken == from->note->tell_at;
}

#endif
