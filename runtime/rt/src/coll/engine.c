/* Runs schedules, one round after another, in every turn of the library; it never waits itself. */
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "engine.h"
#include "error.h"
#include "progress.h"
#include "record.h"
#include "remote.h"
#include "team.h"

/* How many turns lie between looks at the clock, and between questions to an awaited rank. */
enum { TURNS_ASK = 32 };
/* How often a rank looks in a lane before it looks at all else, and for how many turns it does. */
enum { LOOKS = 100, TURNS_NEAR = 20 };
static const uint64_t ASK_NS = 200000000;

enum { WHAT_DATA, WHAT_READY, WHAT_PIECE, WHAT_DEATH, WHAT_ASK, WHAT_PLACE, WHAT_TAKEN };

static int world(const struct fly_coll *coll, int rank) {
    return fly_world_rank(coll->team, rank);
}

static inline struct fly_packet packet_of(const struct fly_coll *coll, int tag, int what,
                                          uint64_t number) {
    struct fly_packet packet;
    packet.window = coll->win->object.id;
    packet.tag = tag;
    packet.source = coll->team->rank;
    packet.kind = FLY_K_COLL;
    packet.flags = (uint8_t)what;
    packet.bytes = packet.unused = 0;
    packet.coll.number = number;
    return packet;
}

/* Whether a packet may be sent now. */
static inline bool has_room(const struct fly_coll *coll, int rank) {
    int peer = world(coll, rank);
    if (coll->rt->peers[peer].dead) return false;
    struct fly_lanes *lanes = &coll->lanes[rank];
    return fly_lanes_there(lanes) ? fly_lane_room(lanes)
                                  : fly_credit_there(coll->rt, peer, FLY_CLASS_OTHER);
}

static bool post_beside(struct fly_coll *coll, int rank, const struct fly_packet *packet,
                        const void *data, size_t bytes) {
    int peer = world(coll, rank);
    struct fly_quota *quota = &coll->rt->peers[peer].quota[FLY_CLASS_OTHER];
    if (coll->rt->peers[peer].dead || !fly_credit_there(coll->rt, peer, FLY_CLASS_OTHER))
        return false;
    quota->sent++;
    if (fly_send(coll->rt, peer, packet, data, bytes) == FLY_OK) return true;
    quota->sent--;
    return false;
}

/* Sends a packet, if it may be sent now; a packet in a lane has no data behind it. */
static inline bool post(struct fly_coll *coll, int rank, const struct fly_packet *packet,
                        const void *data, size_t bytes) {
    if (!fly_lanes_there(&coll->lanes[rank])) return post_beside(coll, rank, packet, data, bytes);
    if (!has_room(coll, rank)) return false;
    fly_lane_send(&coll->lanes[rank], packet);
    return true;
}

static bool has_unsent(const struct fly_coll *coll, int rank) {
    const struct fly_carrier *via = coll->rt->peers[world(coll, rank)].via;
    return via->ops->unsent != NULL && via->ops->unsent(via, world(coll, rank)) != 0;
}

/* Sends outside of lanes, since packets of multicast may have data behind them. */
bool fly_coll_post(struct fly_coll *coll, int rank, int tag, int what, uint64_t number,
                   uint64_t offset, uint64_t value, const void *data, size_t bytes) {
    struct fly_packet packet = packet_of(coll, tag, what, number);
    packet.coll.piece.offset = offset;
    packet.coll.piece.bytes = value;
    return post_beside(coll, rank, &packet, data, bytes);
}

static size_t bucket_of(uint64_t number) { return (size_t)number % FLY_COLL_BUCKETS; }

static struct fly_sched *find(const struct fly_coll *coll, uint64_t number) {
    struct fly_sched *s = coll->numbered[bucket_of(number)];
    while (s != NULL && s->number != number) s = s->next_numbered;
    return s;
}

struct fly_sched *fly_sched_find(const struct fly_coll *coll, uint64_t number) {
    return find(coll, number);
}

static void deliver(struct fly_sched *s, int rank, const struct fly_packet *packet) {
    if (packet->flags >= FLY_WHAT_CAST) {
        if (s->casting != NULL) fly_cast_deliver(s, rank, packet);
        return;
    }
    if (packet->flags == WHAT_READY || packet->flags == WHAT_ASK || packet->flags == WHAT_TAKEN) {
        struct fly_sending *sending = fly_find_sending(s, rank, packet->tag);
        if (sending == NULL) return;
        sending->asked |= packet->flags == WHAT_ASK;
        sending->taken |= packet->flags == WHAT_TAKEN;
        if (packet->flags != WHAT_READY || sending->ready >= FLY_COLL_DEPTH) return;
        sending->at[sending->ready].offset = packet->coll.piece.offset;
        sending->at[sending->ready].bytes = packet->coll.piece.bytes;
        sending->ready++;
        return;
    }
    struct fly_receiving *r = fly_find_receiving(s, rank, packet->tag);
    if (r == NULL) return;
    if (packet->flags == WHAT_DATA && packet->bytes == r->bytes)
        memcpy(r->inside, packet->coll.data, packet->bytes);
    if (packet->flags == WHAT_PLACE) r->place = packet->coll.piece.offset;
    r->arrived++;
}

/* Keeps a packet of a collective that has not started here yet; false: no memory. */
static bool keep_early(struct fly_coll *coll, const struct fly_packet *packet) {
    struct fly_early_packet *early = coll->spare;
    if (early == NULL)
        early = malloc(sizeof *early);
    else
        coll->spare = early->next;
    if (early == NULL) return false;
    early->packet = *packet;
    early->next = NULL;
    size_t bucket = bucket_of(packet->coll.number);
    if (coll->early[bucket] == NULL)
        coll->early[bucket] = early;
    else
        coll->early_last[bucket]->next = early;
    coll->early_last[bucket] = early;
    return true;
}

/* Gives a packet to its collective, or keeps it; false: no memory, it must come again. */
static bool sort_in(struct fly_coll *coll, int rank, const struct fly_packet *packet) {
    struct fly_sched *s = find(coll, packet->coll.number);
    if (s != NULL) deliver(s, rank, packet);
    else if (packet->coll.number >= coll->next) return keep_early(coll, packet);
    return true; /* else a death has ended the collective */
}

/* Takes the packets that a rank has sent. */
static void look_in_lane(struct fly_coll *coll, int rank) {
    struct fly_lanes *lanes = &coll->lanes[rank];
    const struct fly_packet *packet;
    if (!fly_lanes_there(lanes)) return;
    while ((packet = fly_ring_peek(&lanes->in)) != NULL && sort_in(coll, rank, packet))
        fly_lane_take(lanes);
}

/* As look_in_lane; usually the first packet is the short message that is awaited. */
static inline void look_for(struct fly_sched *s, struct fly_receiving *r) {
    struct fly_lanes *lanes = &s->coll->lanes[r->peer];
    const struct fly_packet *packet = fly_lanes_there(lanes) ? fly_ring_peek(&lanes->in) : NULL;
    if (packet == NULL) return;
    if (packet->coll.number != s->number || packet->tag != r->tag ||
        packet->flags != WHAT_DATA || packet->bytes != r->bytes) {
        look_in_lane(s->coll, r->peer);
        return;
    }
    if (r->bytes != 0) memcpy(r->inside, packet->coll.data, FLY_COLL_INLINE);
    r->arrived = 1;
    fly_lane_take(lanes);
}

static bool is_inline(size_t bytes) { return bytes <= FLY_COLL_INLINE; }

/* Sends the next piece to the place that the receiver announced; false: there is no credit. */
static bool send_piece(struct fly_sched *s, struct fly_sending *sending) {
    struct fly_coll *coll = s->coll;
    uint64_t offset = sending->at[0].offset;
    size_t bytes = (size_t)sending->at[0].bytes;
    const unsigned char *from = sending->from + sending->sent;
    const struct fly_member *member = &coll->win->members[sending->peer];
    bool direct = member->reach == FLY_DIRECT;
    if (!has_room(coll, sending->peer)) return false;
    struct fly_packet packet = packet_of(coll, sending->tag, WHAT_PIECE, s->number);
    packet.coll.piece.offset = offset;
    packet.coll.piece.bytes = bytes;
    if (direct) memcpy(member->base + offset, from, bytes);
    if (!post(coll, sending->peer, &packet, direct ? NULL : from, direct ? 0 : bytes))
        return false;
    sending->sent += bytes;
    sending->ready--;
    sending->at[0] = sending->at[1];
    return true;
}

static bool step_sending(struct fly_sched *s, struct fly_sending *sending) {
    if (sending->done) return true;
    if (is_inline(sending->bytes)) {
        struct fly_packet packet = packet_of(s->coll, sending->tag, WHAT_DATA, s->number);
        packet.bytes = (uint8_t)sending->bytes;
        if (sending->bytes != 0) memcpy(packet.coll.data, sending->from, sending->bytes);
        sending->done = post(s->coll, sending->peer, &packet, NULL, 0);
        return sending->done;
    }
    if (sending->ready == 0 && !sending->taken) look_in_lane(s->coll, sending->peer);
    if (sending->asked && !sending->place_sent) {
        struct fly_packet packet = packet_of(s->coll, sending->tag, WHAT_PLACE, s->number);
        packet.coll.piece.offset = (uint64_t)(uintptr_t)sending->from;
        packet.coll.piece.bytes = sending->bytes;
        sending->place_sent = post(s->coll, sending->peer, &packet, NULL, 0);
    }
    while (sending->ready != 0 && send_piece(s, sending)) continue;
    sending->done = sending->taken || sending->sent == sending->bytes;
    return sending->done;
}

/* Asks where a message is that is to be read, or confirms that it has been read. */
static bool post_word(struct fly_sched *s, const struct fly_receiving *r, int what) {
    struct fly_packet packet = packet_of(s->coll, r->tag, what, s->number);
    packet.coll.piece.offset = packet.coll.piece.bytes = 0;
    return post(s->coll, r->peer, &packet, NULL, 0);
}

/* Announces places for as many pieces as there is memory for, or asks where the message is. */
static void call_for(struct fly_sched *s, struct fly_receiving *r) {
    if (is_inline(r->bytes)) return;
    if (r->reads) {
        if (r->calls == 0 && post_word(s, r, WHAT_ASK)) r->calls = 1;
        return;
    }
    while (r->called < r->bytes && r->calls - r->used < FLY_COLL_DEPTH) {
        size_t bytes = r->bytes - r->called < r->piece ? r->bytes - r->called : r->piece;
        struct fly_packet packet = packet_of(s->coll, r->tag, WHAT_READY, s->number);
        packet.coll.piece.offset = fly_piece_at(s, r, r->calls);
        packet.coll.piece.bytes = bytes;
        if (!post(s->coll, r->peer, &packet, NULL, 0)) return;
        r->called += bytes;
        r->calls++;
    }
}

static void take(struct fly_sched *s, struct fly_receiving *r, void *from, size_t bytes) {
    if (bytes == 0) return;
    if (r->take == FLY_TAKE_COPY)
        memcpy(r->to + r->taken, from, bytes);
    else
        fly_apply(&s->key.fold, r->to + r->taken, (r->own == NULL ? r->to : r->own) + r->taken,
                  from, bytes, r->take);
    r->taken += bytes;
}

static int read_there(const struct fly_coll *coll, const struct fly_receiving *r, void *to,
                      size_t bytes) {
    int peer = world(coll, r->peer);
    struct fly_carrier *via = coll->rt->peers[peer].via;
    return via->ops->reach_in(via, peer, to, r->place + r->taken, bytes, false);
}

/* Reads a message in the sender's memory: all at once to where it belongs, or in pieces that are
   folded. If the sender has died, or a death has ended its collective so that its memory may hold
   something else by now, this does nothing more: check_dead ends the schedule. */
static bool step_reading(struct fly_sched *s, struct fly_receiving *r, bool may) {
    bool folds = r->take != FLY_TAKE_COPY;
    if (r->arrived == 0) look_in_lane(s->coll, r->peer);
    call_for(s, r);
    if (r->arrived == 0 || !may) return false;
    while (r->taken < r->bytes) {
        size_t bytes = r->bytes - r->taken;
        if (folds && bytes > r->piece) bytes = r->piece;
        void *to = folds ? s->coll->heap + fly_piece_at(s, r, 0) : r->to + r->taken;
        int code = read_there(s->coll, r, to, bytes);
        if (!fly_lane_stays(&s->coll->lanes[r->peer])) {
            fly_peer_died_said(s->coll->rt, fly_lane_left(&s->coll->lanes[r->peer]));
            s->coll->death_heard = true;
            return false;
        }
        if (code != FLY_OK) {
            if (code != FLY_ERR_PEER) s->error = code;
            return false;
        }
        if (folds)
            take(s, r, to, bytes);
        else
            r->taken += bytes;
    }
    r->done = post_word(s, r, WHAT_TAKEN);
    return r->done;
}

/* Advances one message to this rank. `may` false: another must fold into the same memory first. */
static bool step_receiving(struct fly_sched *s, struct fly_receiving *r, bool may) {
    if (r->done) return true;
    if (is_inline(r->bytes)) {
        if (r->arrived == 0) look_for(s, r);
        if (r->arrived == 0 || !may) return false;
        take(s, r, r->inside, r->bytes);
        r->done = true;
        return true;
    }
    if (r->reads) return step_reading(s, r, may);
    if (r->arrived == r->used) look_in_lane(s->coll, r->peer);
    call_for(s, r);
    while (may && r->used < r->arrived) {
        size_t bytes = r->bytes - r->taken < r->piece ? r->bytes - r->taken : r->piece;
        take(s, r, s->coll->heap + fly_piece_at(s, r, r->used), bytes);
        r->used++;
        call_for(s, r);
    }
    r->done = r->taken == r->bytes;
    return r->done;
}

static void do_locals(struct fly_sched *s, const struct fly_span *span) {
    for (size_t i = span[0].local; i < span[1].local; i++) {
        const struct fly_local_work *local = &s->locals[i];
        if (local->take == FLY_TAKE_COPY)
            memmove(local->to, local->from, local->bytes);
        else if (local->take == FLY_TAKE_SHAPED)
            fly_copy_shape(local->to, &s->shapeds[local->bytes].to, local->from,
                           &s->shapeds[local->bytes].from);
        else
            fly_apply(&s->key.fold, local->to, local->to, local->from, local->bytes, local->take);
    }
}

/* Advances a round; returns whether it is done. Its folds keep their order, whatever arrives
   first. */
static bool step_round(struct fly_sched *s) {
    const struct fly_span *span = &s->rounds[s->round];
    bool all = true, folds = true;
    if (!s->begun) do_locals(s, span);
    s->begun = true;
    if (s->casting != NULL) return fly_cast_step(s);
    for (size_t i = span[0].sending; i < span[1].sending; i++)
        all &= step_sending(s, &s->sendings[i]);
    for (size_t i = span[0].receiving; i < span[1].receiving; i++) {
        struct fly_receiving *r = &s->receivings[i];
        bool fold = r->take != FLY_TAKE_COPY;
        bool done = step_receiving(s, r, !fold || folds);
        if (fold) folds &= done;
        all &= done;
    }
    return all;
}

/* Whether everything that was sent has left, for when the program makes no further call. */
static bool all_left(const struct fly_sched *s) {
    const struct fly_coll *coll = s->coll;
    const struct fly_rt *rt = coll->rt;
    if (rt->threaded || rt->only != NULL) return true;
    for (int r = 0; s->casting != NULL && r < coll->team->size; r++)
        if (has_unsent(coll, r)) return false;
    for (size_t i = 0; i < s->sending_count; i++)
        if (has_unsent(coll, s->sendings[i].peer)) return false;
    for (size_t i = 0; i < s->receiving_count; i++)
        if (has_unsent(coll, s->receivings[i].peer)) return false;
    return true;
}

static void step(struct fly_sched *s) {
    while (s->round < s->round_count && step_round(s)) {
        s->round++;
        s->begun = false;
    }
    if (s->round == s->round_count && all_left(s))
        fly_sched_end(s, FLY_OK);
    else if (s->error != FLY_OK)
        fly_sched_end(s, s->error);
}

void fly_sched_end(struct fly_sched *s, int error) {
    struct fly_coll *coll = s->coll;
    struct fly_sched **at = &coll->numbered[bucket_of(s->number)];
    while (*at != s) at = &(*at)->next_numbered;
    *at = s->next_numbered;
    if (s->before_running != NULL)
        s->before_running->next_running = s->next_running;
    else
        coll->running = s->next_running;
    if (s->next_running != NULL)
        s->next_running->before_running = s->before_running;
    else
        coll->last_running = s->before_running;
    coll->rt->scheds--;
    if (s->casting != NULL) coll->rt->casts--;
    s->req.error = error;
    s->req.want.left = 0;
    if (error == FLY_OK && coll->settings.dump[0] != 0) fly_dump(s);
}

static void break_all(struct fly_coll *coll) {
    while (coll->running != NULL) fly_sched_end(coll->running, FLY_ERR_PEER);
}

/* Ends the collectives after the death of a member, and informs the other members once. */
static void check_dead(struct fly_coll *coll) {
    if (!coll->broken) {
        bool dead = coll->death_heard;
        for (int r = 0; r < coll->team->size && !dead; r++)
            dead = coll->rt->peers[world(coll, r)].dead;
        if (!dead) return;
        coll->broken = true;
        coll->to_tell = coll->team->size;
        coll->rt->scheds++;
        for (int r = 0; r < coll->team->size; r++)
            if (fly_lanes_there(&coll->lanes[r]))
                fly_lane_leave(&coll->lanes[r], fly_dead_word(coll->rt));
    }
    break_all(coll);
    while (coll->to_tell > 0) {
        int rank = coll->to_tell - 1;
        struct fly_packet packet = packet_of(coll, 0, WHAT_DEATH, 0);
        packet.coll.piece.offset = fly_dead_word(coll->rt);
        packet.coll.piece.bytes = 0;
        bool skip = rank == coll->team->rank || coll->rt->peers[world(coll, rank)].dead;
        if (!skip && !post_beside(coll, rank, &packet, NULL, 0)) return;
        if (--coll->to_tell == 0) coll->rt->scheds--;
    }
}

/* Over a transport that notices a death only when it sends: asks the ranks that are awaited. */
static void ask_missing(struct fly_coll *coll) {
    uint64_t now = fly_now_ns();
    if (now < coll->next_ask_ns) return;
    bool first = coll->next_ask_ns == 0;
    coll->next_ask_ns = now + ASK_NS;
    for (const struct fly_sched *s = coll->running; s != NULL && !first; s = s->next_running) {
        if (s->round == s->round_count) continue; /* it only waits until its packets have left */
        const struct fly_span *span = &s->rounds[s->round];
        for (int r = -1; s->casting != NULL && (r = fly_cast_awaited(s, r)) >= 0;)
            if (!coll->rt->peers[world(coll, r)].dead && coll->win->members[r].reach != FLY_DIRECT)
                fly_ask(coll->rt, world(coll, r));
        for (size_t i = span[0].receiving; i < span[1].receiving; i++) {
            int rank = s->receivings[i].peer, peer = world(coll, rank);
            if (s->receivings[i].done || coll->rt->peers[peer].dead ||
                coll->win->members[rank].reach == FLY_DIRECT)
                continue;
            fly_ask(coll->rt, peer);
        }
    }
}

void fly_coll_turn(struct fly_rt *rt) {
    for (struct fly_coll *coll = rt->colls; coll != NULL; coll = coll->next_coll) {
        struct fly_sched *next;
        for (struct fly_sched *s = coll->running; s != NULL; s = next) {
            next = s->next_running;
            step(s);
        }
        if (rt->deaths != 0 || coll->death_heard) check_dead(coll);
        if (coll->running != NULL && rt->turns % TURNS_ASK == 0) ask_missing(coll);
    }
}

bool fly_coll_arrived(struct fly_win *win, int peer, const struct fly_packet *packet,
                      const void *data, size_t bytes) {
    (void)peer;
    struct fly_coll *coll = win->object.team->coll;
    if (coll == NULL) return true;
    if (packet->flags == WHAT_DEATH) {
        fly_peer_died_said(win->rt, packet->coll.piece.offset);
        coll->death_heard = true;
        return true;
    }
    bool piece = packet->flags == WHAT_PIECE || packet->flags >= FLY_WHAT_CAST;
    if (piece && bytes != 0 && packet->coll.piece.offset < FLY_COLL_HEAP &&
        bytes <= FLY_COLL_HEAP - packet->coll.piece.offset)
        memcpy(coll->heap + packet->coll.piece.offset, data, bytes);
    return sort_in(coll, packet->source, packet);
}

static void take_early(struct fly_coll *coll, struct fly_sched *s) {
    size_t bucket = bucket_of(s->number);
    struct fly_early_packet *before = NULL, **at = &coll->early[bucket];
    while (*at != NULL) {
        struct fly_early_packet *early = *at;
        if (early->packet.coll.number != s->number) {
            before = early;
            at = &early->next;
            continue;
        }
        *at = early->next;
        if (coll->early_last[bucket] == early) coll->early_last[bucket] = before;
        deliver(s, early->packet.source, &early->packet);
        early->next = coll->spare;
        coll->spare = early;
    }
}

static void reset(struct fly_sched *s) {
    for (size_t i = 0; i < s->sending_count; i++) {
        s->sendings[i].sent = 0;
        s->sendings[i].ready = 0;
        s->sendings[i].done = false;
        s->sendings[i].asked = s->sendings[i].place_sent = s->sendings[i].taken = false;
    }
    for (size_t i = 0; i < s->receiving_count; i++) {
        struct fly_receiving *r = &s->receivings[i];
        r->called = r->taken = 0;
        r->arrived = r->used = r->calls = 0;
        r->done = false;
    }
    s->round = 0;
    s->begun = false;
    s->error = FLY_OK;
    if (s->casting != NULL) fly_cast_reset(s);
}

int fly_sched_start(struct fly_sched *s) {
    struct fly_coll *coll = s->coll;
    if (coll->rt->deaths != 0 || coll->death_heard) check_dead(coll);
    if (coll->broken) return fly_fail_dead(coll->rt, "a collective", -1);
    reset(s);
    s->number = coll->next++;
    if (coll->rt->record != NULL) s->req.recorded = fly_record_schedule(s);
    size_t bucket = bucket_of(s->number);
    s->next_numbered = coll->numbered[bucket];
    coll->numbered[bucket] = s;
    s->next_running = NULL;
    s->before_running = coll->last_running;
    if (coll->last_running != NULL)
        coll->last_running->next_running = s;
    else
        coll->running = s;
    coll->last_running = s;
    coll->rt->scheds++;
    s->req.want.left = 1;
    s->req.error = FLY_OK;
    s->req.active = true;
    coll->win->collectives++;
    if (coll->early[bucket] != NULL) take_early(coll, s);
    for (size_t i = 0; s->early && i < s->receiving_count; i++) call_for(s, &s->receivings[i]);
    step(s);
    return FLY_OK;
}

/* Looks up to `looks` times whether the packet that the schedule waits for is in its lane. */
static inline bool look_ahead(const struct fly_sched *s, int looks) {
    if (s->round == s->round_count) return false;
    const struct fly_span *span = &s->rounds[s->round];
    for (size_t i = span[0].sending; i < span[1].sending; i++) {
        const struct fly_sending *sending = &s->sendings[i];
        const struct fly_lanes *lanes = &s->coll->lanes[sending->peer];
        if (sending->done || sending->bytes < FLY_COLL_LONG || !fly_lanes_there(lanes)) continue;
        if (fly_ring_peek(&lanes->in) != NULL) return true;
    }
    for (size_t i = span[0].receiving; i < span[1].receiving; i++) {
        const struct fly_receiving *r = &s->receivings[i];
        const struct fly_lanes *lanes = &s->coll->lanes[r->peer];
        if (r->done || !fly_lanes_there(lanes)) continue;
        while (fly_ring_peek(&lanes->in) == NULL) {
            if (--looks <= 0) return false;
            fly_look_alone();
        }
        return true;
    }
    return false;
}

void fly_coll_await(struct fly_req *req) {
    struct fly_sched *s = (struct fly_sched *)req;
    struct fly_pause pause = {.rt = req->rt};
    for (uint32_t turn = 1; !fly_match_complete(&req->want); turn++) {
        bool seen = look_ahead(s, pause.turns < TURNS_NEAR && !pause.rt->crowded ? LOOKS : 1);
        if (seen) step(s);
        if (!seen || turn % TURNS_ASK == 0) fly_wait_more(&pause); /* lets others advance */
    }
}

void fly_early_free(struct fly_coll *coll) {
    for (int b = 0; b <= FLY_COLL_BUCKETS; b++) {
        struct fly_early_packet *early = b == FLY_COLL_BUCKETS ? coll->spare : coll->early[b];
        while (early != NULL) {
            struct fly_early_packet *next = early->next;
            free(early);
            early = next;
        }
    }
}
