/* Transport "ofi": decides which of a rank's operations to a peer may not overtake each other.
 *
 * A write reaches memory before the target has executed the packets that were sent before it. Where
 * both touch the same bytes the write goes as a packet, too, since packets are executed in the
 * order of their numbers. So the bytes end as the last put left them, as if every put were a
 * packet. The spans of bytes that packets touch are kept until the target has acknowledged them.
 */
#include <string.h>

#include "ofi.h"

static bool earlier(uint32_t one, uint32_t other) { return (int32_t)(one - other) < 0; }

static void forget_taken(struct ofi_peer *peer) {
    int kept = 0;
    for (int i = 0; i < peer->span_count; i++)
        if (!earlier(peer->spans[i].number, peer->acked)) peer->spans[kept++] = peer->spans[i];
    peer->span_count = kept;
}

/* The bytes from a packet's first block to behind its last one. */
static struct ofi_span span_of(const struct fly_packet *packet) {
    struct ofi_span span = {.window = packet->window, .from = packet->move.offset};
    if (packet->kind == FLY_K_ATOMIC) {
        span.to = span.from + 8;
        return span;
    }
    uint64_t blocks = packet->move.blocks, bytes = packet->move.block_bytes;
    int64_t far = blocks == 0 ? 0 : packet->move.stride * (int64_t)(blocks - 1);
    span.to = span.from + bytes;
    if (far < 0) span.from -= (uint64_t)-far;
    if (far > 0) span.to += (uint64_t)far;
    if (blocks == 0 || bytes == 0) span.to = span.from;
    return span;
}

static bool overlap(const struct ofi_span *one, const struct ofi_span *other) {
    return one->window == other->window && one->from < other->to && other->from < one->to;
}

/* Keeps a span; where there are too many, widens the last one to include it. */
static void keep(struct ofi_peer *peer, struct ofi_span span) {
    struct ofi_span *last = &peer->spans[OFI_SPANS - 1];
    forget_taken(peer);
    if (peer->span_count < OFI_SPANS) {
        peer->spans[peer->span_count++] = span;
        return;
    }
    if (last->window != span.window) { /* a span of two windows: nothing may overtake it */
        last->window = span.window;
        peer->wall = span.number;
        peer->walled = true;
        span.from = 0;
        span.to = UINT64_MAX;
    }
    if (span.from < last->from) last->from = span.from;
    if (span.to > last->to) last->to = span.to;
    last->number = span.number;
}

void ofi_order_keep(struct ofi_peer *peer, const struct fly_packet *packet, uint32_t number) {
    if (packet->kind != FLY_K_PUT && packet->kind != FLY_K_GET && packet->kind != FLY_K_ATOMIC)
        return;
    if (packet->kind == FLY_K_ATOMIC && (packet->flags & FLY_F_CONTROL) != 0) return;
    struct ofi_span span = span_of(packet);
    span.number = number;
    if (span.from < span.to) keep(peer, span);
}

bool ofi_order_free(struct ofi_peer *peer, const struct fly_packet *packet) {
    struct ofi_span span = span_of(packet);
    forget_taken(peer);
    if (peer->walled && earlier(peer->wall, peer->acked)) peer->walled = false;
    if (peer->walled) return false;
    for (int i = 0; i < peer->span_count; i++)
        if (overlap(&peer->spans[i], &span)) return false;
    return true;
}

bool ofi_reading(const struct fly_carrier *c, int peer, const struct fly_packet *packet) {
    const struct ofi *ofi = (const struct ofi *)c;
    struct ofi_span span = span_of(packet);
    for (const struct ofi_op *op = ofi->moves; op != NULL; op = op->after) {
        if (op->kind != OFI_READ || op->peer != peer) continue;
        struct ofi_span read = {op->note.window, op->note.move.offset,
                                op->note.move.offset + op->bytes, 0};
        if (overlap(&read, &span)) return true;
    }
    return false;
}
