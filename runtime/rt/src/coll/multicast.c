/* Runs broadcasts by multicast (multicast.h), one step in every turn of the library. */
#include "multicast.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "progress.h"
#include "team.h"
#include "trees.h"

/* How many fragments must come behind a missing one before it is asked for, since datagrams may be
   reordered; and QUIET_NS is how long nothing may have come before the last ones are asked for. */
enum { LATER = 3 };
static const uint64_t QUIET_NS = 100000;
/* The most datagrams taken, and sent, in a step. */
enum { TAKEN_MOST = 64, SENT_MOST = 16 };

struct fly_early_fragment { /* a fragment of a broadcast that has not begun here */
    struct fly_early_fragment *next;
    struct fly_cast_head head;
    size_t bytes;
    unsigned char data[];
};

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static size_t bytes_of(const struct fly_sched *s, uint32_t fragment) {
    size_t piece = s->coll->cast->fragment_bytes, at = (size_t)fragment * piece;
    return s->key.bytes - at < piece ? s->key.bytes - at : piece;
}

static unsigned char *place_of(const struct fly_sched *s, uint32_t fragment) {
    return (unsigned char *)s->key.receive + (size_t)fragment * s->coll->cast->fragment_bytes;
}

/* The place of a rank, counted from the root; rank_of is the inverse. */
static int turned(const struct fly_sched *s, int rank) {
    return fly_turned(rank, -s->key.root, s->coll->team->size);
}

static int rank_of(const struct fly_sched *s, int place) {
    return fly_turned(place, s->key.root, s->coll->team->size);
}

/* The number of children of a place in a tree of this arity, and the place of the first one. */
static int children(int size, int place, int64_t arity, int *first) {
    int64_t from = place * arity + 1, left = size - from;
    *first = from < size ? (int)from : size;
    return left <= 0 ? 0 : (int)(left < arity ? left : arity);
}

void fly_cast_build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_cast *cast = s->coll->cast;
    int size = call->size, place = turned(s, call->rank);
    if (call->key.bytes == 0 || size == 1) return;
    fly_round(s);
    struct fly_broadcast *c = fly_temporary(s, sizeof *c);
    if (c == NULL) return;
    c->count = (uint32_t)((call->key.bytes - 1) / cast->fragment_bytes + 1);
    c->root = place == 0;
    c->tracked = c->count > cast->step;
    int64_t arity = (int64_t)call->key.parameter, up = arity == 1 ? FLY_MULTICAST_ARITY : arity;
    c->repairer = c->root ? -1 : rank_of(s, (int)((place - 1) / arity));
    c->repaired_count = children(size, place, arity, &c->first_repaired);
    c->parent = c->root ? -1 : rank_of(s, (int)((place - 1) / up));
    if (c->tracked) c->below_count = children(size, place, up, &c->first_below);
    c->below = fly_temporary(s, ((size_t)c->below_count + 1) * sizeof *c->below);
    c->repaired = fly_temporary(s, ((size_t)c->repaired_count + 1) * sizeof *c->repaired);
    c->bits = fly_temporary(s, c->count / 8 + 1);
    s->casting = c;
}

uint64_t fly_cast_room(struct fly_sched *s, size_t most) {
    struct fly_broadcast *c = s->casting;
    uint32_t slots = (uint32_t)(FLY_CAST_SLOTS * most / FLY_COLL_PIECE);
    c->slots = c->root ? 0 : least(slots < 1 ? 1 : slots, c->count);
    return (uint64_t)c->slots * ((bytes_of(s, 0) + 63) / 64 * 64);
}

static uint64_t slot_at(const struct fly_sched *s, uint32_t slot) {
    return s->heap_offset + (uint64_t)slot * ((bytes_of(s, 0) + 63) / 64 * 64);
}

void fly_cast_reset(struct fly_sched *s) {
    struct fly_broadcast *c = s->casting;
    s->coll->rt->casts++;
    c->begun = c->complete_sent = false;
    c->have = c->reach = c->looked = c->heard = c->announced = c->all_have = c->asked = 0;
    memset(c->slot, 0, sizeof c->slot);
    memset(c->below, 0, (size_t)c->below_count * sizeof *c->below);
    memset(c->repaired, 0, (size_t)c->repaired_count * sizeof *c->repaired);
    memset(c->bits, 0, c->count / 8 + 1);
}

static bool is_here(const struct fly_broadcast *c, uint32_t fragment) {
    return c->root || (c->bits[fragment / 8] >> fragment % 8 & 1) != 0;
}

static void take(struct fly_sched *s, uint32_t fragment, const void *data) {
    struct fly_broadcast *c = s->casting;
    if (is_here(c, fragment)) return;
    memcpy(place_of(s, fragment), data, bytes_of(s, fragment));
    c->bits[fragment / 8] |= (unsigned char)(1 << fragment % 8);
    while (c->have < c->count && is_here(c, c->have)) c->have++;
}

/* Takes a datagram of this broadcast. */
static void take_cast(struct fly_sched *s, const struct fly_cast_head *head, const void *data,
                      size_t bytes) {
    struct fly_broadcast *c = s->casting;
    if (c == NULL || c->root || head->source != s->key.root || head->fragment >= c->count ||
        bytes != bytes_of(s, head->fragment))
        return;
    if (!is_here(c, head->fragment)) s->coll->cast->taken++;
    take(s, head->fragment, data);
    if (c->reach <= head->fragment) c->reach = head->fragment + 1;
    if (c->have < c->count) c->quiet_ns = fly_now_ns();
}

/* Keeps a fragment of a broadcast that has not begun here; one for which there is no room is
   lost. */
static void keep_early(struct fly_cast *cast, const struct fly_cast_head *head, const void *data,
                       size_t bytes) {
    if (cast->early_bytes + bytes > FLY_CAST_EARLY) return;
    struct fly_early_fragment *early = malloc(sizeof *early + bytes);
    if (early == NULL) return;
    early->next = NULL;
    early->head = *head;
    early->bytes = bytes;
    memcpy(early->data, data, bytes);
    *cast->early_last = early;
    cast->early_last = &early->next;
    cast->early_bytes += bytes;
}

/* Gives a broadcast the fragments that were kept for it; NULL: drops all that were kept. */
static void take_early(struct fly_cast *cast, struct fly_sched *s) {
    struct fly_early_fragment **at = &cast->early;
    while (*at != NULL) {
        struct fly_early_fragment *early = *at;
        if (s != NULL && early->head.number != s->number) {
            at = &early->next;
            continue;
        }
        if (s != NULL) take_cast(s, &early->head, early->data, early->bytes);
        cast->early_bytes -= early->bytes;
        *at = early->next;
        free(early);
    }
    cast->early_last = at;
}

void fly_cast_forget(struct fly_cast *cast) { take_early(cast, NULL); }

/* Takes the datagrams that have arrived, of any broadcast. */
static void take_arrived(struct fly_coll *coll) {
    struct fly_cast *cast = coll->cast;
    for (int i = 0; i < TAKEN_MOST; i++) {
        struct fly_cast_head head;
        uint64_t source;
        size_t got = cast->link->ops->receive(cast->link, cast->room, cast->link->most_bytes,
                                              &source);
        if (got == 0) return;
        if (got <= sizeof head) continue;
        memcpy(&head, cast->room, sizeof head);
        if (head.token != cast->token || head.source < 0 || head.source >= coll->team->size ||
            head.source == coll->team->rank || source != cast->sources[head.source])
            continue;
        const unsigned char *data = cast->room + sizeof head;
        struct fly_sched *s = fly_sched_find(coll, head.number);
        if (s != NULL)
            take_cast(s, &head, data, got - sizeof head);
        else if (head.number >= coll->next)
            keep_early(cast, &head, data, got - sizeof head);
    }
}

/* Sends fragments; a long broadcast sends only as many as may be in flight, that is, as not all
   ranks have. Broadcasts send one at a time: so one that is stopped has either announced all that
   it sent, or waits for one that has. */
static void send_more(struct fly_sched *s) {
    struct fly_broadcast *c = s->casting;
    struct fly_cast *cast = s->coll->cast;
    struct fly_cast_head head = {cast->token, s->number, 0, s->coll->team->rank};
    if (c->have == c->count || (cast->sending != NULL && cast->sending != s)) return;
    cast->sending = s;
    for (int i = 0; i < SENT_MOST && c->have < c->count; i++) {
        if (c->tracked && cast->in_flight >= cast->window) return;
        head.fragment = c->have;
        if (!cast->link->ops->send(cast->link, &head, sizeof head, place_of(s, c->have),
                                   bytes_of(s, c->have)))
            break;
        c->have++;
        cast->sent++;
        if (c->tracked) cast->in_flight++;
    }
    if (c->have == c->count) cast->sending = NULL;
}

/* Asks for missing fragments, for each once, since the transports lose nothing. */
static void ask_for(struct fly_sched *s) {
    struct fly_broadcast *c = s->casting;
    uint32_t limit = c->reach > LATER ? c->reach - LATER : 0;
    if (limit < c->heard && c->have < c->heard && fly_now_ns() - c->quiet_ns > QUIET_NS)
        limit = c->heard;
    while (c->looked < limit) {
        if (!is_here(c, c->looked)) {
            uint32_t slot = 0;
            while (slot < c->slots && c->slot[slot] != 0) slot++;
            if (slot == c->slots ||
                !fly_coll_post(s->coll, c->repairer, (int)c->looked, FLY_CAST_WANT, s->number,
                               slot_at(s, slot), slot, NULL, 0))
                return;
            c->slot[slot] = c->looked + 1;
            c->asked++;
            s->coll->cast->asked++;
        }
        c->looked++;
    }
}

static bool give(struct fly_sched *s, int rank, uint32_t fragment, uint64_t offset,
                 uint32_t slot) {
    struct fly_coll *coll = s->coll;
    const struct fly_member *member = &coll->win->members[rank];
    int peer = fly_world_rank(coll->team, rank);
    bool direct = member->reach == FLY_DIRECT;
    size_t bytes = bytes_of(s, fragment);
    const unsigned char *from = place_of(s, fragment);
    if (coll->rt->peers[peer].dead || !fly_credit_there(coll->rt, peer, FLY_CLASS_OTHER))
        return false;
    if (direct) memcpy(member->base + offset, from, bytes);
    if (!fly_coll_post(coll, rank, (int)fragment, FLY_CAST_FRAGMENT, s->number, offset, slot,
                       direct ? NULL : from, direct ? 0 : bytes))
        return false;
    coll->cast->repaired++;
    return true;
}

/* The count that is worth announcing: in whole steps, or everything. */
static uint32_t round_of(const struct fly_broadcast *c, const struct fly_cast *cast) {
    return c->have == c->count ? c->count : c->have / cast->step * cast->step;
}

/* Serves the ranks that this one repairs: sends what they want, and announces what they may ask
   for. */
static void repair(struct fly_sched *s) {
    struct fly_broadcast *c = s->casting;
    uint32_t have = round_of(c, s->coll->cast);
    for (int i = 0; i < c->repaired_count; i++) {
        struct fly_cast_child *child = &c->repaired[i];
        int rank = rank_of(s, c->first_repaired + i);
        if (child->complete) continue;
        for (uint32_t slot = 0; slot < FLY_CAST_SLOTS; slot++) {
            uint32_t wanted = child->wants[slot].fragment;
            if (wanted != 0 && is_here(c, wanted - 1) &&
                give(s, rank, wanted - 1, child->wants[slot].offset, slot))
                child->wants[slot].fragment = 0;
        }
        if (child->announced < have &&
            fly_coll_post(s->coll, rank, 0, FLY_CAST_HAVE, s->number, have, 0, NULL, 0))
            child->announced = have;
    }
}

/* Reports up the tree how much this rank and all below it have, so that the root may send more. */
static void track(struct fly_sched *s) {
    struct fly_broadcast *c = s->casting;
    struct fly_cast *cast = s->coll->cast;
    uint32_t all = round_of(c, cast);
    for (int i = 0; i < c->below_count; i++) all = least(all, c->below[i]);
    if (c->root) cast->in_flight -= all - c->all_have;
    c->all_have = all;
    if (!c->root && c->announced < all &&
        fly_coll_post(s->coll, c->parent, 0, FLY_CAST_HAS, s->number, all, 0, NULL, 0))
        c->announced = all;
}

/* Reports that this rank needs no more; all that it asked for must have come, too. */
static void tell_complete(struct fly_sched *s) {
    struct fly_broadcast *c = s->casting;
    if (c->root || c->complete_sent || c->have < c->count || c->asked != 0) return;
    c->complete_sent = fly_coll_post(s->coll, c->repairer, 0, FLY_CAST_COMPLETE, s->number, 0, 0,
                                     NULL, 0);
}

static bool is_done(const struct fly_broadcast *c) {
    bool done = c->root ? c->have == c->count : c->complete_sent;
    if (c->tracked) done &= c->all_have == c->count && (c->root || c->announced == c->count);
    for (int i = 0; i < c->repaired_count; i++) done &= c->repaired[i].complete;
    return done;
}

bool fly_cast_step(struct fly_sched *s) {
    struct fly_broadcast *c = s->casting;
    if (!c->begun) take_early(s->coll->cast, s);
    c->begun = true;
    take_arrived(s->coll);
    if (c->root)
        send_more(s);
    else
        ask_for(s);
    repair(s);
    if (c->tracked) track(s);
    tell_complete(s);
    return is_done(c);
}

/* Takes a packet of the repairer: it announces a fragment, or brings one. */
static void from_above(struct fly_sched *s, const struct fly_packet *packet) {
    struct fly_broadcast *c = s->casting;
    uint64_t number = packet->coll.piece.offset, slot = packet->coll.piece.bytes;
    uint32_t fragment = (uint32_t)packet->tag;
    if (packet->flags == FLY_CAST_HAVE && number <= c->count && c->heard < number) {
        c->heard = (uint32_t)number;
        c->quiet_ns = fly_now_ns();
    } else if (packet->flags == FLY_CAST_FRAGMENT && slot < c->slots && fragment < c->count &&
               c->slot[slot] == fragment + 1) {
        take(s, fragment, s->coll->heap + slot_at(s, (uint32_t)slot));
        c->slot[slot] = 0;
        c->asked--;
    }
}

void fly_cast_deliver(struct fly_sched *s, int rank, const struct fly_packet *packet) {
    struct fly_broadcast *c = s->casting;
    uint64_t number = packet->coll.piece.offset, slot = packet->coll.piece.bytes;
    uint32_t fragment = (uint32_t)packet->tag;
    int place = turned(s, rank), below = place - c->first_below, at = place - c->first_repaired;
    if (rank == c->repairer) from_above(s, packet);
    if (below >= 0 && below < c->below_count && packet->flags == FLY_CAST_HAS &&
        number <= c->count)
        c->below[below] = (uint32_t)number;
    if (at < 0 || at >= c->repaired_count) return;
    if (packet->flags == FLY_CAST_COMPLETE) {
        c->repaired[at].complete = true;
    } else if (packet->flags == FLY_CAST_WANT && slot < FLY_CAST_SLOTS && fragment < c->count &&
               number < FLY_COLL_HEAP) {
        c->repaired[at].wants[slot].offset = number;
        c->repaired[at].wants[slot].fragment = fragment + 1;
    }
}

int fly_cast_awaited(const struct fly_sched *s, int rank) {
    const struct fly_broadcast *c = s->casting;
    for (rank++; rank < s->coll->team->size; rank++) {
        int place = turned(s, rank), below = place - c->first_below, at = place - c->first_repaired;
        if (rank == c->repairer && c->have < c->count) return rank;
        if (below >= 0 && below < c->below_count && c->below[below] < c->count) return rank;
        if (at >= 0 && at < c->repaired_count && !c->repaired[at].complete) return rank;
    }
    return -1;
}
