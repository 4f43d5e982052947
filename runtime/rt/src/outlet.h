/* The rings from the ranks of the node, as the receiver holds them. */
#ifndef FLY_OUTLET_H
#define FLY_OUTLET_H

#include "remote.h"

struct fly_outlet {
    struct fly_ring ring;
    struct fly_quota *note;  /* the credits of the peer's notifications */
    struct fly_outlet *next; /* the ring from the next peer; the last one leads to the first */
    int peer;
};

/* Cache lines that are fetched ahead of the reader, since their packets may be written already. */
enum { FLY_AHEAD = 16 };

static inline void fly_outlet_taken(struct fly_outlet *from) {
    fly_ring_take(&from->ring);
    __builtin_prefetch(&from->ring.slots[(from->ring.next + FLY_AHEAD - 1) & from->ring.mask]);
}

/* After a look that found nothing; `last`: it was at the last ring of a round. Few rings are looked
   at one after the other; for many that would take too long. */
enum { FLY_FEW = 8 };
static inline void fly_outlet_looked(const struct fly_rt *rt, bool last) {
    if (last || rt->near <= FLY_FEW) fly_look_alone();
}

/* Looks at all rings in turn for a while, until one has a packet. rt->from is then that ring; NULL:
   there was none. */
static inline const struct fly_packet *fly_outlet_await(struct fly_rt *rt) {
    struct fly_outlet *from = rt->from;
    const struct fly_packet *packet;
    int rounds = rt->rounds;
    while ((packet = fly_ring_peek(&from->ring)) == NULL) {
        from = from->next;
        bool last = from == rt->from;
        if (last && --rounds <= 0) return NULL;
        fly_outlet_looked(rt, last);
    }
    rt->from = from;
    return packet;
}

/* Gives that packet to the request, where it is the usual one: a notification of the window, for
   the request, which is posted alone. false: it is not, and nothing has happened. */
static inline bool fly_outlet_hand(const struct fly_packet *packet, struct fly_win *win,
                                   struct fly_want *want) {
    return packet->window == win->object.id && packet->kind == FLY_K_NOTIFY &&
           fly_match_hand(&win->match, want, packet->source, packet->tag, packet->data,
                          packet->bytes);
}

/* After fly_outlet_hand took that packet. true: it is time to return credits to its sender, and to
   look at the rings of the others. */
static inline bool fly_outlet_noted(struct fly_rt *rt) {
    fly_outlet_taken(rt->from);
    return ++rt->from->note->taken == rt->from->note->tell_at;
}

/* Sorts that packet in, where it is a notification of the window; false: it is not, or memory is
   short. The others have their turn. */
static inline bool fly_outlet_sort(struct fly_rt *rt, const struct fly_packet *packet,
                                   struct fly_win *win) {
    struct fly_outlet *from = rt->from;
    if (packet->window != win->object.id || packet->kind != FLY_K_NOTIFY ||
        !fly_notification(win, from->peer, packet->source, packet->tag, packet->data,
                          packet->bytes))
        return false;
    fly_outlet_taken(from);
    rt->from = from->next;
    return true;
}

#endif
