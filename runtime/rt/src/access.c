/* Put, get and atomics. Each checks its arguments, takes a credit, moves data, then notifies. */
#include "access.h"

#include <stdlib.h>
#include <string.h>

#include "alive.h"
#include "error.h"
#include "parts.h"
#include "pending.h"
#include "progress.h"
#include "record.h"
#include "remote.h"
#include "state.h"
#include "sync.h"
#include "team.h"

int fly_target(const struct fly_win *win, const char *call, int target) {
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "%s: win is NULL", call);
    if (target == FLY_PROC_NULL) return FLY_NOTHING;
    if (target < 0 || target >= win->object.team->size)
        return fly_fail(FLY_ERR_RANK, "%s: target: %d must be 0 to %d, or FLY_PROC_NULL", call,
                        target, win->object.team->size - 1);
    return FLY_OK;
}

static int check_tag(const struct fly_win *win, const char *call, int tag, bool optional) {
    if ((tag < 0 || tag > win->tag_ub) && !(optional && tag == FLY_NO_TAG))
        return fly_fail(FLY_ERR_TAG, "%s: tag: %d must be 0 to %d%s", call, tag, win->tag_ub,
                        optional ? ", or FLY_NO_TAG" : "");
    return FLY_OK;
}

/* How far blocks reach before and behind their start; false where that overflows. */
static bool extent(const fly_shape *shape, uint64_t *before, uint64_t *behind) {
    *before = *behind = 0;
    if (shape->blocks == 0 || shape->block_bytes == 0) return true;
    uint64_t step = shape->stride_bytes < 0 ? 0 - (uint64_t)shape->stride_bytes
                                            : (uint64_t)shape->stride_bytes;
    uint64_t far, total;
    if (__builtin_mul_overflow(step, shape->blocks - 1, &far) ||
        __builtin_mul_overflow(shape->blocks, shape->block_bytes, &total) || far > INT64_MAX)
        return false;
    *before = shape->stride_bytes < 0 ? far : 0;
    *behind = shape->stride_bytes < 0 ? 0 : far;
    return !__builtin_add_overflow(*behind, shape->block_bytes, behind);
}

static int locate(struct fly_access *at, const char *call, uint64_t disp, const fly_shape *shape) {
    const struct fly_entry *entry = &at->win->table[at->target];
    uint64_t before, behind;
    if (!extent(shape, &before, &behind) ||
        __builtin_mul_overflow(disp, entry->unit, &at->offset) || at->offset > entry->bytes ||
        behind > entry->bytes - at->offset || before > at->offset)
        return fly_fail(FLY_ERR_RANGE,
                        "%s: disp: %llu x %llu bytes, with %llu blocks of %zu, is not inside the "
                        "%llu bytes of rank %d", call, (unsigned long long)disp,
                        (unsigned long long)entry->unit, (unsigned long long)shape->blocks,
                        shape->block_bytes, (unsigned long long)entry->bytes, at->target);
    return FLY_OK;
}

int fly_access_begin(struct fly_access *at, const char *call, struct fly_win *win, int target,
                     uint64_t disp, const fly_shape *shape, int tag, bool tag_optional) {
    int code = fly_target(win, call, target);
    if (code != FLY_OK) return code;
    *at = (struct fly_access){.win = win, .rt = win->rt, .target = target, .tag = tag};
    code = check_tag(win, call, tag, tag_optional);
    if (code == FLY_OK) code = locate(at, call, disp, shape);
    at->member = &win->members[target];
    at->peer = fly_world_rank(win->object.team, target);
    return code;
}

/* Takes the credit that the operation needs: of its notification, or of a packet without one. */
static int credit(const struct fly_access *at, bool packet) {
    if (at->tag != FLY_NO_TAG) return fly_credit(at->rt, at->peer, FLY_CLASS_NOTE, false);
    if (packet) return fly_credit(at->rt, at->peer, FLY_CLASS_OTHER, false);
    fly_heed(at->rt);
    if (at->rt->peers[at->peer].dead)
        return fly_fail_dead(at->rt, "an operation", at->peer);
    return FLY_OK;
}

static void uncredit(const struct fly_access *at) {
    int class = at->tag != FLY_NO_TAG ? FLY_CLASS_NOTE : FLY_CLASS_OTHER;
    at->rt->peers[at->peer].quota[class].sent--;
}

static struct fly_packet packet_of(const struct fly_access *at, enum fly_kind kind) {
    struct fly_packet packet;
    packet.window = at->win->object.id;
    packet.tag = at->tag;
    packet.source = at->win->object.team->rank;
    packet.kind = (uint8_t)kind;
    packet.bytes = packet.flags = packet.unused = 0;
    return packet;
}

/* Notifies the target, after the data so that the two arrive in this order. */
static int notify(const struct fly_access *at, const void *data, size_t bytes) {
    if (at->tag == FLY_NO_TAG) return FLY_OK;
    struct fly_inlet *inlet = &at->rt->peers[at->peer].inlet;
    if (inlet->ring.slots == NULL) {
        struct fly_packet packet;
        fly_write_note(&packet, at->win, at->tag, data, bytes);
        return fly_send(at->rt, at->peer, &packet, NULL, 0);
    }
    return fly_note_here(inlet, at->win, at->tag, data, bytes);
}

struct reach {
    const struct fly_access *at;
    unsigned char *here;
    bool write;
};

static int reach_run(void *context, ptrdiff_t to, ptrdiff_t from, size_t bytes) {
    const struct reach *reach = context;
    const struct fly_access *at = reach->at;
    struct fly_carrier *via = at->rt->peers[at->peer].via;
    uint64_t there = at->win->table[at->target].address + at->offset +
                     (uint64_t)(reach->write ? to : from);
    return via->ops->reach_in(via, at->peer, reach->here + (reach->write ? from : to), there, bytes,
                              reach->write);
}

static struct fly_packet move_of(const struct fly_access *at, enum fly_kind kind,
                                 const fly_shape *shape) {
    struct fly_packet packet = packet_of(at, kind);
    packet.move.offset = at->offset;
    packet.move.blocks = shape->blocks;
    packet.move.block_bytes = shape->block_bytes;
    packet.move.stride = shape->stride_bytes;
    packet.move.token = 0;
    return packet;
}

static bool contiguous(const fly_shape *shape) { return shape->blocks == 1; }

static enum fly_transfer transfer_of(const struct fly_access *at, const struct fly_packet *packet,
                                     const fly_shape *from, const fly_shape *to) {
    struct fly_carrier *via = at->rt->peers[at->peer].via;
    if (via->ops->transfer == NULL || !contiguous(from) || !contiguous(to))
        return FLY_TRANSFER_MESSAGE;
    return via->ops->transfer(via, at->peer, packet, at->win->table[at->target].loan,
                              to->block_bytes);
}

/* Waits while reads in flight still need the bytes that the packet would change. */
static void after_reads(const struct fly_access *at, const struct fly_packet *packet) {
    struct fly_carrier *via = at->rt->peers[at->peer].via;
    struct fly_pause pause = {.rt = at->rt, .awaited = 1 + at->peer};
    if (via->ops->reading == NULL) return;
    while (via->ops->reading(via, at->peer, packet)) fly_wait_more(&pause);
}

/* Registers an operation that is pending until a transport has moved bytes of the user's memory. */
static uint32_t moving(const struct fly_access *at, struct fly_req *req) {
    uint32_t token = fly_pending_new(at->rt);
    if (token == UINT32_MAX) return token;
    at->rt->pending[token] = (struct fly_pending){.win = at->win, .req = req, .used = true,
                                                  .moved = true, .peer = at->peer};
    at->win->operations++;
    return token;
}

/* Moves bytes without the target's help, on a credit that was taken for it. */
static int move(const struct fly_access *at, enum fly_transfer transfer,
                const struct fly_packet *packet,
                void *here, struct fly_req *req) {
    struct fly_carrier *via = at->rt->peers[at->peer].via;
    size_t bytes = packet->move.block_bytes;
    const uint64_t *loan = at->win->table[at->target].loan;
    uint32_t token = UINT32_MAX;
    if (transfer == FLY_TRANSFER_KEPT) {
        token = moving(at, req);
        if (token == UINT32_MAX) return fly_fail(FLY_ERR_NOMEM, "no memory for an operation");
        if (req != NULL) req->want.left = 1;
    }
    int code = packet->kind == FLY_K_GET
                   ? via->ops->read(via, at->peer, packet, loan, here, bytes, token)
                   : via->ops->write(via, at->peer, packet, loan, here, bytes, token);
    if (code != FLY_OK && token != UINT32_MAX) fly_abandon(at, token);
    return code;
}

/* The most bytes that one packet to the target may carry behind it. */
static size_t most_of(const struct fly_access *at) {
    size_t most = at->rt->peers[at->peer].via->ops->most, asked = at->rt->settings.piece_bytes;
    if (most == 0) most = SIZE_MAX;
    return asked != 0 && asked < most ? asked : most;
}

/* Sends a put as one packet: `bytes` of its blocks, from `skip` on, are gathered behind it. */
static int put_packet(const struct fly_access *at, const struct fly_packet *packet,
                      const unsigned char *src, const fly_shape *from, size_t skip, size_t bytes) {
    unsigned char *packed = NULL;
    if (from->blocks > 1 && bytes != 0) {
        packed = malloc(bytes);
        if (packed == NULL) return fly_fail(FLY_ERR_NOMEM, "no memory for %zu bytes", bytes);
        fly_gather_part(packed, src, from, skip, bytes);
        src = packed;
    } else if (skip != 0) {
        src += skip;
    }
    int code = fly_send(at->rt, at->peer, packet, src, bytes);
    free(packed);
    return code;
}

/* The packet of one part of a longer put: only the last part notifies. */
static struct fly_packet packet_of_part(const struct fly_packet *whole,
                                        const struct fly_part *part, bool last) {
    struct fly_packet packet = *whole;
    if (!last) packet.tag = FLY_NO_TAG;
    packet.flags |= FLY_F_PART;
    packet.move.offset += (uint64_t)part->offset;
    packet.move.blocks = part->shape.blocks;
    packet.move.block_bytes = part->shape.block_bytes;
    packet.move.stride = part->shape.stride_bytes;
    return packet;
}

/* Sends a put in as many packets as it needs; the last one uses the credit taken before. */
static int put_packets(const struct fly_access *at, const struct fly_packet *packet,
                       const unsigned char *src, const fly_shape *from, const fly_shape *to) {
    size_t bytes = to->blocks * to->block_bytes, most = most_of(at);
    if (bytes <= most) return put_packet(at, packet, src, from, 0, bytes);
    for (size_t skip = 0; skip < bytes;) {
        struct fly_part part = fly_part_of(to, skip, most);
        bool last = skip + part.bytes == bytes;
        struct fly_packet one = packet_of_part(packet, &part, last);
        int code = last ? FLY_OK : fly_credit(at->rt, at->peer, FLY_CLASS_OTHER, true);
        if (code == FLY_OK) code = put_packet(at, &one, src, from, skip, part.bytes);
        if (code != FLY_OK) return code;
        skip += part.bytes;
    }
    return FLY_OK;
}

/* Sends an earlier small put to the target, if one waits for the end of its epoch. */
static int hurry(const struct fly_access *at) {
    return at->win->late == 0 ? FLY_OK : fly_sync_hurry(at->win, at->target);
}

int fly_access_put(struct fly_access *at, const void *src, const fly_shape *from,
                   const fly_shape *to, struct fly_req *req) {
    bool remote = at->member->reach == FLY_REMOTE;
    int code = hurry(at);
    if (code == FLY_OK) code = credit(at, remote);
    if (code != FLY_OK) return code;
    size_t bytes = to->blocks * to->block_bytes;
    if (remote) {
        struct fly_packet packet = move_of(at, FLY_K_PUT, to);
        after_reads(at, &packet);
        if (at->tag == FLY_NO_TAG && req == NULL && contiguous(from) &&
            fly_sync_late(at->win, at->target, &packet, src, bytes))
            return FLY_OK;
        enum fly_transfer transfer = transfer_of(at, &packet, from, to);
        code = transfer == FLY_TRANSFER_MESSAGE
                   ? put_packets(at, &packet, src, from, to)
                   : move(at, transfer, &packet, (void *)(uintptr_t)src, req);
        if (code != FLY_OK) uncredit(at);
        return code;
    }
    if (at->member->reach == FLY_KERNEL) {
        struct reach reach = {at, (unsigned char *)(uintptr_t)src, true};
        code = fly_each_run(to, from, reach_run, &reach);
    } else if (contiguous(from) && contiguous(to)) {
        if (bytes != 0) memmove(at->member->base + at->offset, src, bytes);
    } else {
        fly_copy_shape(at->member->base + at->offset, to, src, from);
    }
    if (code != FLY_OK) return code;
    return notify(at, contiguous(from) ? src : at->member->base + at->offset,
                  contiguous(from) && contiguous(to) ? bytes : 0);
}

/* Prepares for an answer: room for it at both ends, a credit for the packet that asks, a token. */
static int await(const struct fly_access *at, struct fly_pending what, uint32_t *token) {
    int code = fly_answer_room(at->rt, at->peer);
    if (code == FLY_OK && at->tag != FLY_NO_TAG) code = credit(at, false);
    if (code != FLY_OK) return code;
    *token = fly_pending_new(at->rt);
    if (*token == UINT32_MAX) {
        if (at->tag != FLY_NO_TAG) uncredit(at);
        return fly_fail(FLY_ERR_NOMEM, "no memory for an operation");
    }
    what.used = true;
    what.peer = at->peer;
    what.win = at->win;
    at->rt->pending[*token] = what;
    at->rt->peers[at->peer].replies++;
    at->win->operations++;
    return FLY_OK;
}

/* Asks the target for part of a get, which goes into the local bytes from `skip` on. */
static int get_packet(const struct fly_access *at, struct fly_packet *packet, void *dst,
                      const fly_shape *to, size_t skip, struct fly_req *req) {
    uint32_t token;
    struct fly_pending what = {.req = req, .into = dst, .shape = *to, .skip = skip};
    int code = await(at, what, &token);
    if (code != FLY_OK) return code;
    packet->move.token = token;
    if (req != NULL) req->want.left++;
    code = fly_send(at->rt, at->peer, packet, NULL, 0);
    if (code != FLY_OK) fly_abandon(at, token);
    return code;
}

/* Detaches pending operations from a request, so that late answers do not touch it. */
static void forget_request(struct fly_rt *rt, const struct fly_req *req) {
    for (uint32_t i = 0; req != NULL && i < rt->pending_room; i++)
        if (rt->pending[i].used && rt->pending[i].req == req) rt->pending[i].req = NULL;
}

/* Runs a get whose answer may need several packets. The notification's credit is taken first, so
   that a refusal for lack of one leaves nothing half done. */
static int get_packets(const struct fly_access *at, struct fly_packet *packet, void *dst,
                       const fly_shape *to, const fly_shape *from, struct fly_req *req) {
    size_t bytes = to->blocks * to->block_bytes, most = most_of(at);
    if (bytes <= most) return get_packet(at, packet, dst, to, 0, req);
    int code = at->tag == FLY_NO_TAG ? FLY_OK : credit(at, false);
    if (code != FLY_OK) return code;
    struct fly_access plain = *at;
    plain.tag = FLY_NO_TAG;
    for (size_t skip = 0; skip < bytes && code == FLY_OK;) {
        struct fly_part part = fly_part_of(from, skip, most);
        struct fly_packet one = packet_of_part(packet, &part, skip + part.bytes == bytes);
        code = get_packet(&plain, &one, dst, to, skip, req);
        skip += part.bytes;
    }
    if (code == FLY_OK) return FLY_OK;
    forget_request(at->rt, req);
    if (at->tag != FLY_NO_TAG) uncredit(at);
    return code;
}

int fly_access_get(struct fly_access *at, void *dst, const fly_shape *to, const fly_shape *from,
                   struct fly_req *req) {
    int sent = hurry(at);
    if (sent != FLY_OK) return sent;
    if (at->member->reach == FLY_REMOTE) {
        struct fly_packet packet = move_of(at, FLY_K_GET, from);
        enum fly_transfer transfer = transfer_of(at, &packet, from, to);
        if (transfer == FLY_TRANSFER_MESSAGE) return get_packets(at, &packet, dst, to, from, req);
        int code = credit(at, false);
        if (code != FLY_OK) return code;
        code = move(at, transfer, &packet, dst, req);
        if (code != FLY_OK && at->tag != FLY_NO_TAG) uncredit(at);
        return code;
    }
    int code = credit(at, false);
    if (code != FLY_OK) return code;
    if (at->member->reach == FLY_KERNEL) {
        struct reach reach = {at, dst, false};
        code = fly_each_run(to, from, reach_run, &reach);
        if (code != FLY_OK) return code;
    } else {
        fly_copy_shape(dst, to, at->member->base + at->offset, from);
    }
    return notify(at, NULL, 0);
}

void fly_abandon(const struct fly_access *at, uint32_t token) {
    at->rt->pending[token].req = NULL;
    at->rt->pending[token].state = NULL;
    fly_pending_done(at->rt, token, FLY_ERR_PEER);
}

int fly_access_atomic(struct fly_access *at, int operation, uint64_t first, uint64_t second,
                      void *old, int *state, bool control) {
    int sent = hurry(at);
    if (sent != FLY_OK) return sent;
    bool direct = control ? at->member->entry_shared : at->member->reach == FLY_DIRECT;
    if (direct) {
        int code = credit(at, false);
        if (code != FLY_OK) return code;
        unsigned char *from = control ? (unsigned char *)&at->win->table[at->target]
                                      : at->member->base;
        fly_word *word = (fly_word *)(void *)(from + at->offset);
        uint64_t was = fly_atomic(word, (uint64_t)operation, first, second);
        if (old != NULL) memcpy(old, &was, sizeof was);
        if (state != NULL) *state = 1;
        return notify(at, NULL, 0);
    }
    uint32_t token;
    struct fly_pending what = {.into = old, .atomic = true, .state = state};
    int code = await(at, what, &token);
    if (code != FLY_OK) return code;
    struct fly_packet packet = packet_of(at, FLY_K_ATOMIC);
    packet.flags = control ? FLY_F_CONTROL : 0;
    packet.atomic.offset = at->offset;
    packet.atomic.operation = (uint64_t)operation;
    packet.atomic.first = first;
    packet.atomic.second = second;
    packet.atomic.token = token;
    if (!control) after_reads(at, &packet);
    code = fly_send(at->rt, at->peer, &packet, NULL, 0);
    if (code != FLY_OK) fly_abandon(at, token);
    return code;
}

int fly_control(struct fly_win *win, int rank, int operation, size_t field, uint64_t first,
                uint64_t second, uint64_t *old) {
    struct fly_access at = {.win = win, .rt = win->rt, .target = rank, .tag = FLY_NO_TAG};
    int state = 0;
    at.member = &win->members[rank];
    at.peer = fly_world_rank(win->object.team, rank);
    struct fly_pause pause = {.rt = win->rt, .awaited = 1 + at.peer};
    at.offset = field;
    int code = fly_access_atomic(&at, operation, first, second, old, &state, true);
    while (code == FLY_OK && state == 0) fly_wait_more(&pause);
    if (code == FLY_OK) {
        fly_record_ask(win, at.peer, FLY_NO_TAG, true, operation == FLY_ATOMIC_SWAP ? 16 : 8, 8);
        fly_record_answers(win, at.peer);
    }
    if (code == FLY_OK && state < 0) code = fly_fail_dead(win->rt, "a lock", at.peer);
    return code;
}
