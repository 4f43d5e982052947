/* What a rank does when packets of others arrive, and when others die. */
#include "remote.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "coll/engine.h"
#include "objects.h"
#include "parts.h"
#include "pending.h"
#include "progress.h"
#include "state.h"
#include "sync.h"
#include "team.h"

/* With up to this many ranks, a death is reported to all of them; beyond, to a few. */
enum { INFORM_ALL = 64 };

static bool hold_room(struct fly_win *win) {
    if (win->held_count < win->held_room) return true;
    size_t room = win->held_room == 0 ? 16 : win->held_room * 2;
    int *held = malloc(room * sizeof *held);
    if (held == NULL) return false;
    for (size_t i = 0; i < win->held_count; i++)
        held[i] = win->held[(win->held_first + i) % win->held_room];
    free(win->held);
    win->held = held;
    win->held_room = room;
    win->held_first = 0;
    return true;
}

bool fly_notification(struct fly_win *win, int peer, int source, int tag, const void *data,
                      size_t bytes) {
    uint64_t most = win->rt->settings.unexpected_max;
    struct fly_want *taker;
    bool full = win->match.unmatched >= most;
    if (full && !hold_room(win)) return false;
    if (!fly_match_arrive(&win->match, source, tag, data, bytes, &taker)) return false;
    if (full && taker == NULL)
        win->held[(win->held_first + win->held_count++) % win->held_room] = peer;
    else
        fly_give_back(win->rt, peer, FLY_CLASS_NOTE);
    return true;
}

void fly_held_release(struct fly_win *win) {
    uint64_t most = win->rt->settings.unexpected_max;
    uint64_t over = win->match.unmatched > most ? win->match.unmatched - most : 0;
    while (win->held_count > over) {
        int peer = win->held[win->held_first];
        win->held_first = (win->held_first + 1) % win->held_room;
        win->held_count--;
        fly_give_back(win->rt, peer, FLY_CLASS_NOTE);
    }
}

int fly_each_run(const fly_shape *to, const fly_shape *from, fly_run *run, void *context) {
    size_t left = to->blocks * to->block_bytes, to_at = 0, from_at = 0;
    ptrdiff_t to_block = 0, from_block = 0;
    int code = FLY_OK;
    while (left != 0 && code == FLY_OK) {
        size_t most = to->block_bytes - to_at;
        if (from->block_bytes - from_at < most) most = from->block_bytes - from_at;
        code = run(context, to_block + (ptrdiff_t)to_at, from_block + (ptrdiff_t)from_at, most);
        left -= most;
        to_at += most;
        from_at += most;
        if (to_at == to->block_bytes) {
            to_block += to->stride_bytes;
            to_at = 0;
        }
        if (from_at == from->block_bytes) {
            from_block += from->stride_bytes;
            from_at = 0;
        }
    }
    return code;
}

struct copy {
    unsigned char *to;
    const unsigned char *from;
};

static int copy_run(void *context, ptrdiff_t to, ptrdiff_t from, size_t bytes) {
    const struct copy *copy = context;
    memmove(copy->to + to, copy->from + from, bytes);
    return FLY_OK;
}

void fly_copy_shape(unsigned char *to, const fly_shape *to_shape, const unsigned char *from,
                    const fly_shape *from_shape) {
    struct copy copy = {to, from};
    fly_each_run(to_shape, from_shape, copy_run, &copy);
}

static fly_shape shape_in(const struct fly_packet *packet) {
    return (fly_shape){packet->move.blocks, packet->move.block_bytes,
                       (ptrdiff_t)packet->move.stride};
}

static bool notified(struct fly_win *win, int peer, const struct fly_packet *packet,
                     const void *data, size_t bytes) {
    if (packet->tag == FLY_NO_TAG) return true;
    return fly_notification(win, peer, packet->source, packet->tag, data, bytes);
}

/* Executes a put that arrived. The notification enters first, since memory for it may be short and
   the packet comes again; only this thread sees the state in between. */
static bool put_arrived(struct fly_rt *rt, struct fly_win *win, int peer,
                        const struct fly_packet *packet, const void *data, size_t bytes) {
    if (win != NULL) {
        size_t inside = bytes <= FLY_INLINE && (packet->flags & FLY_F_PART) == 0 ? bytes : 0;
        if ((packet->flags & FLY_F_COMPLETE) != 0 &&
            !fly_sync_arrived(win, packet->source, FLY_K_COMPLETE))
            return false;
        if (!notified(win, peer, packet, data, inside)) return false;
        fly_shape to = shape_in(packet), from = {1, bytes, 0};
        if (bytes != 0)
            fly_copy_shape((unsigned char *)win->base + packet->move.offset, &to, data, &from);
    }
    struct fly_peer *from_peer = &rt->peers[peer];
    from_peer->executed++;
    if (from_peer->tell_done != NULL) {
        fly_store_release(from_peer->tell_done, from_peer->executed);
        fly_inlet_rouse(&from_peer->inlet);
    }
    if (packet->tag == FLY_NO_TAG)
        fly_give_back(rt, peer, FLY_CLASS_OTHER);
    else if (win == NULL)
        fly_give_back(rt, peer, FLY_CLASS_NOTE);
    return true;
}

/* As put_arrived, for bytes that a write has put in place already. */
static bool written(struct fly_rt *rt, struct fly_win *win, int peer,
                    const struct fly_packet *packet) {
    if (win != NULL && !notified(win, peer, packet, NULL, 0)) return false;
    if ((packet->flags & FLY_F_DELIVERED) == 0) rt->peers[peer].executed++;
    if (packet->tag == FLY_NO_TAG)
        fly_give_back(rt, peer, FLY_CLASS_OTHER);
    else if (win == NULL)
        fly_give_back(rt, peer, FLY_CLASS_NOTE);
    return true;
}

/* Sends an answer. If that fails it sends the error instead, so that nobody waits without end. */
static void answer(struct fly_rt *rt, int peer, struct fly_packet *reply, const void *data,
                   size_t bytes) {
    int code = fly_send(rt, peer, reply, data, bytes);
    if (code == FLY_OK || code == FLY_ERR_PEER) return;
    reply->flags = FLY_F_REFUSED;
    reply->reply.value = (uint64_t)code;
    fly_send(rt, peer, reply, NULL, 0);
}

static bool get_arrived(struct fly_rt *rt, struct fly_win *win, int peer,
                        const struct fly_packet *packet) {
    fly_shape from = shape_in(packet);
    size_t bytes = from.blocks * from.block_bytes;
    struct fly_packet reply = {.kind = FLY_K_REPLY};
    reply.reply.token = packet->move.token;
    if (win == NULL) return true;
    unsigned char *at = bytes == 0 ? NULL : (unsigned char *)win->base + packet->move.offset;
    if (from.blocks <= 1) {
        if (!notified(win, peer, packet, NULL, 0)) return false;
        answer(rt, peer, &reply, at, bytes);
        return true;
    }
    unsigned char *packed = malloc(bytes == 0 ? 1 : bytes);
    bool taken = packed != NULL && notified(win, peer, packet, NULL, 0);
    if (taken) {
        fly_shape whole = {1, bytes, 0};
        fly_copy_shape(packed, &whole, at, &from);
        answer(rt, peer, &reply, packed, bytes);
    }
    free(packed);
    return taken;
}

uint64_t fly_atomic(fly_word *word, uint64_t operation, uint64_t first, uint64_t second) {
    if (operation == FLY_ATOMIC_ADD) return fly_add(word, first);
    __atomic_compare_exchange_n(&word->value, &first, second, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return first;
}

static bool atomic_arrived(struct fly_rt *rt, struct fly_win *win, int peer,
                           const struct fly_packet *packet) {
    if (win == NULL) return true;
    if (!notified(win, peer, packet, NULL, 0)) return false;
    unsigned char *from = (packet->flags & FLY_F_CONTROL) != 0
                              ? (unsigned char *)&win->table[win->object.team->rank]
                              : win->base;
    fly_word *word = (fly_word *)(void *)(from + packet->atomic.offset);
    struct fly_packet reply = {.kind = FLY_K_REPLY};
    reply.reply.token = packet->atomic.token;
    reply.reply.value = fly_atomic(word, packet->atomic.operation, packet->atomic.first,
                                   packet->atomic.second);
    fly_send(rt, peer, &reply, NULL, 0);
    return true;
}

static void reply_arrived(struct fly_rt *rt, int peer, const struct fly_packet *packet,
                          const void *data, size_t bytes) {
    if (packet->reply.token >= rt->pending_room) return;
    struct fly_pending *pending = &rt->pending[packet->reply.token];
    if (!pending->used || pending->moved || pending->peer != peer) return;
    if (pending->atomic) {
        if (pending->into != NULL) memcpy(pending->into, &packet->reply.value, 8);
    } else if (bytes != 0) {
        fly_scatter_part(pending->into, &pending->shape, pending->skip, data, bytes);
    }
    bool refused = (packet->flags & FLY_F_REFUSED) != 0;
    if (refused) pending->win->refused = (int)packet->reply.value;
    fly_pending_done(rt, (uint32_t)packet->reply.token,
                     refused ? (int)packet->reply.value : FLY_OK);
}

static void ack_arrived(struct fly_rt *rt, int peer, const struct fly_packet *packet) {
    struct fly_peer *from = &rt->peers[peer];
    from->puts_done = packet->ack.done;
    for (int i = 0; i < FLY_CLASSES; i++)
        fly_store_release(&from->quota[i].back, packet->ack.returned[i]);
}

bool fly_packet_arrived(struct fly_rt *rt, int peer, const struct fly_packet *packet,
                        const void *data, size_t bytes) {
    struct fly_object *object = NULL;
    if (packet->kind < FLY_K_REPLY || packet->kind > FLY_K_ACK)
        object = fly_object_find(rt, packet->window);
    bool window = object != NULL && object->kind == FLY_IS_WINDOW;
    struct fly_win *win = window ? (struct fly_win *)object : NULL;
    switch (packet->kind) {
    case FLY_K_NOTIFY:
        if (win != NULL)
            return fly_notification(win, peer, packet->source, packet->tag, packet->data,
                                    packet->bytes);
        fly_give_back(rt, peer, FLY_CLASS_NOTE);
        return true;
    case FLY_K_PUT: return put_arrived(rt, win, peer, packet, data, bytes);
    case FLY_K_GET: return get_arrived(rt, win, peer, packet);
    case FLY_K_ATOMIC: return atomic_arrived(rt, win, peer, packet);
    case FLY_K_REPLY: reply_arrived(rt, peer, packet, data, bytes); return true;
    case FLY_K_ACK: ack_arrived(rt, peer, packet); return true;
    case FLY_K_ASK: fly_give_now(rt, peer); return true;
    case FLY_K_AGREE:
        if (object != NULL) fly_agree_arrived(object, packet);
        fly_give_back(rt, peer, FLY_CLASS_OTHER);
        return true;
    case FLY_K_POST:
    case FLY_K_COMPLETE:
        if (win != NULL && !fly_sync_arrived(win, packet->source, packet->kind)) return false;
        fly_give_back(rt, peer, FLY_CLASS_OTHER);
        return true;
    case FLY_K_COLL:
        if (win != NULL && !fly_coll_arrived(win, peer, packet, data, bytes)) return false;
        fly_give_back(rt, peer, FLY_CLASS_OTHER);
        return true;
    case FLY_K_DIED: fly_peer_died_said(rt, (uint64_t)packet->source + 1); return true;
    case FLY_K_WRITTEN: return written(rt, win, peer, packet);
    default: return true;
    }
}

static void source_died(void *context, struct fly_want *want) {
    struct fly_req *req = (struct fly_req *)want; /* `want` is its first member */
    fly_match_give_up(context, want);
    req->error = FLY_ERR_PEER;
}

/* Reports a death to other ranks: this rank may end because of it, and those who notice that must
   know the reason. With many ranks it informs a few, chosen such that the news spreads to all. Not
   in fly_finalize, where a connection may have ended without a death. */
static void say_to_others(struct fly_rt *rt, int dead) {
    struct fly_packet packet = {.kind = FLY_K_DIED, .source = dead};
    for (int i = 0; i < rt->carrier_count; i++)
        if (rt->carriers[i]->ops->say_dead != NULL)
            rt->carriers[i]->ops->say_dead(rt->carriers[i], dead);
    for (int step = 1; step < rt->size && !rt->finalizing;
         step = rt->size <= INFORM_ALL ? step + 1 : step * 2) {
        int peer = (rt->rank + step) % rt->size;
        const struct fly_carrier *via = rt->peers[peer].via;
        if (via != NULL && via->ops->ends_unheard && !rt->peers[peer].dead)
            fly_send(rt, peer, &packet, NULL, 0);
    }
}

void fly_peer_died_said(struct fly_rt *rt, uint64_t said) {
    if (said > 0 && said <= (uint64_t)rt->size && said != (uint64_t)rt->rank + 1)
        fly_peer_died(rt, (int)(said - 1));
}

void fly_peer_died(struct fly_rt *rt, int peer) {
    if (rt->peers[peer].dead) return;
    rt->peers[peer].dead = true;
    rt->peers[peer].quick = false;
    if (rt->deaths++ == 0) {
        rt->first_dead = peer;
        say_to_others(rt, peer);
    }
    for (uint32_t i = 0; i < rt->pending_room; i++)
        if (rt->pending[i].used && rt->pending[i].peer == peer && !rt->pending[i].moved)
            fly_pending_done(rt, i, FLY_ERR_PEER); /* moves end by the transport */
    for (size_t i = 0; i < rt->object_room; i++) {
        struct fly_object *object = rt->objects[i];
        if (object == NULL || object->kind != FLY_IS_WINDOW) continue;
        struct fly_win *win = (struct fly_win *)object;
        int rank = fly_team_rank(object->team, peer);
        for (struct fly_req *req = win->requests; req != NULL; req = req->next) req->quick = false;
        if (rank >= 0) fly_match_each(&win->match, rank, source_died, &win->match);
    }
}

void fly_peer_lost(struct fly_rt *rt, int peer) {
    if (!rt->finalizing)
        fly_peer_died(rt, peer);
    else if (rt->peers[peer].lost_ns == 0)
        rt->peers[peer].lost_ns = fly_now_ns();
}
