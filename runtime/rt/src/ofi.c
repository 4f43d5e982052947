/* Transport "ofi": sends packets as messages of libfabric, between nodes. Writes: ofi_write.c.
 *
 * A packet with its bytes goes as pieces of at most OFI_PIECE bytes, in order (FI_ORDER_SAS); the
 * receiver reassembles them and the core copies. Operations that the provider refuses for now
 * (FI_EAGAIN) wait in a list.
 */
#include "ofi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "pending.h"
#include "progress.h"
#include "remote.h"

enum { EVENTS = 16, EVENTS_LEAST = 1024, EVENTS_MOST = 1 << 17, INJECTED = 192 };
/* A write to a dead peer is given up after this time, in case the provider never ends it. */
static const uint64_t LET_GO_NS = 300000000;

static int post(struct ofi *ofi, struct ofi_op *op) {
    ssize_t code = fi_recv(ofi->end.ep, &op->head, sizeof op->head + OFI_PIECE, NULL,
                           FI_ADDR_UNSPEC, &op->context);
    return code == 0 ? FLY_OK : ofi_failed("fi_recv", code);
}

static void ofi_close(struct fly_carrier *c);

/* The most completions that can be pending: of what all peers have credits for, and of our own. */
static size_t events_of(const struct fly_rt *rt) {
    size_t each = (size_t)rt->settings.credits + 2 * FLY_OTHER_CREDITS;
    size_t all = OFI_RECEIVES + each * (size_t)rt->size;
    return all < EVENTS_LEAST ? EVENTS_LEAST : all > EVENTS_MOST ? EVENTS_MOST : all;
}

static int open_end(struct ofi *ofi, struct fly_hello *mine) {
    size_t bytes = sizeof mine->address;
    int code = ofi_open(&ofi->end, ofi->info, events_of(ofi->base.rt));
    if (code == -FI_EINVAL && strstr(ofi->info->fabric_attr->prov_name, "ofi_rxm") != NULL)
        return fly_fail(FLY_ERR_TRANSPORT, "ofi: opening %s: %s; where a device has short queues, "
                        "FI_UNIVERSE_SIZE=%d in the environment asks for no longer ones",
                        ofi->info->fabric_attr->prov_name, fi_strerror(FI_EINVAL),
                        ofi->base.rt->size);
    if (code != 0) return ofi_failed("opening", code);
    code = fi_getname(&ofi->end.ep->fid, mine->address, &bytes);
    if (code != 0) return ofi_failed("fi_getname", code);
    mine->address_bytes = (uint32_t)bytes;
    const char *name = ofi->info->fabric_attr->prov_name;
    size_t length = strlen(name);
    memcpy(mine->provider, name, length < sizeof mine->provider ? length : sizeof mine->provider);
    return FLY_OK;
}

static int ofi_prepare(struct fly_rt *rt, struct fly_hello *mine, struct fly_carrier **made) {
    extern const struct fly_carrier_ops fly_ofi;
    struct ofi *ofi = calloc(1, sizeof *ofi);
    if (ofi == NULL) return fly_fail(FLY_ERR_NOMEM, "ofi: no memory");
    ofi->base = (struct fly_carrier){&fly_ofi, rt};
    ofi->last = &ofi->waiting;
    ofi->life = -1;
    int code = ofi_choose(ofi, rt->settings.provider);
    if (code == FLY_OK) ofi_probe(ofi->info, &ofi->facts);
    if (code == FLY_OK) code = ofi_decide(ofi);
    if (code == FLY_OK) code = open_end(ofi, mine);
    ofi->receives = calloc(OFI_RECEIVES, sizeof *ofi->receives);
    if (ofi->receives == NULL) code = fly_fail(FLY_ERR_NOMEM, "ofi: no memory");
    for (int i = 0; i < OFI_RECEIVES && code == FLY_OK; i++) code = post(ofi, &ofi->receives[i]);
    if (code != FLY_OK) {
        mine->address_bytes = 0;
        ofi_close(&ofi->base);
        return code;
    }
    ofi_live(ofi, mine);
    mine->writes = (uint16_t)((ofi->facts.writes ? OFI_WRITES : 0) |
                              (ofi->delivers ? OFI_DELIVERS : 0));
    *made = &ofi->base;
    return FLY_OK;
}

static bool ofi_reaches(const struct fly_carrier *c, const struct fly_hello *mine,
                        const struct fly_hello *theirs) {
    const struct ofi *ofi = (const struct ofi *)c;
    bool near = memcmp(mine->node, theirs->node, sizeof mine->node) == 0;
    if (mine->address_bytes == 0 || mine->address_bytes != theirs->address_bytes) return false;
    if (memcmp(mine->provider, theirs->provider, sizeof mine->provider) != 0) return false;
    if (near) return true;
    if (ofi->info->addr_format == FI_ADDR_STR) return false; /* only within a node, as shm */
    return ofi->info->addr_format != FI_SOCKADDR_IN || /* 127.0.0.1 reaches only this node */
           (mine->address[4] != 127 && theirs->address[4] != 127);
}

static int ofi_connect(struct fly_carrier *c, const struct fly_hello *all) {
    struct ofi *ofi = (struct ofi *)c;
    int size = c->rt->size;
    ofi->peers = calloc((size_t)size, sizeof *ofi->peers);
    if (ofi->peers == NULL) return fly_fail(FLY_ERR_NOMEM, "ofi: no memory for %d ranks", size);
    for (int r = 0; r < size; r++) {
        if (c->rt->peers[r].via != c) continue;
        if (fi_av_insert(ofi->end.av, all[r].address, 1, &ofi->peers[r].address, 0, NULL) != 1)
            return fly_fail(FLY_ERR_TRANSPORT, "ofi: the address of rank %d is not one", r);
        ofi->peers[r].writes = (all[r].writes & OFI_WRITES) != 0;
        ofi->peers[r].delivers = (all[r].writes & OFI_DELIVERS) != 0;
    }
    uint32_t credits = 0;
    for (int r = 0; r < size; r++)
        if (all[r].credits > credits) credits = all[r].credits;
    ofi->layout = ofi_layout(ofi->facts.data_bytes, (uint32_t)size, credits);
    ofi_know(ofi, all);
    return FLY_OK;
}

struct ofi_op *ofi_op_new(struct ofi *ofi, enum ofi_kind kind, int peer) {
    struct ofi_op *op = ofi->spare;
    if (op != NULL)
        ofi->spare = op->next;
    else
        op = malloc(sizeof *op);
    if (op == NULL) return NULL;
    op->kind = kind;
    op->peer = peer;
    op->next = NULL;
    op->token = UINT32_MAX;
    return op;
}

void ofi_let_go(struct ofi *ofi, struct ofi_op *op, int error) {
    if (op->token == UINT32_MAX) return;
    *(op->before != NULL ? &op->before->after : &ofi->moves) = op->after;
    if (op->after != NULL) op->after->before = op->before;
    fly_pending_done(ofi->base.rt, op->token, error);
    op->token = UINT32_MAX;
}

/* The provider has completed an operation: it returns to the spare list. */
static void end(struct ofi *ofi, struct ofi_op *op, int error) {
    ofi->peers[op->peer].busy--;
    ofi->peers[op->peer].silent_ns = 0;
    if (op->kind == OFI_SEND)
        ofi->peers[op->peer].unsent--;
    else
        ofi_done(ofi, op, error);
    op->next = ofi->spare;
    ofi->spare = op;
}

static ssize_t hand(struct ofi *ofi, struct ofi_op *op) {
    if (op->kind != OFI_SEND) return ofi_start(ofi, op);
    return fi_send(ofi->end.ep, &op->head, sizeof op->head + op->bytes, NULL,
                   ofi->peers[op->peer].address, &op->context);
}

/* Hands waiting operations to the provider, in order for each peer, until it refuses for all. */
static void push(struct ofi *ofi) {
    struct ofi_op **at = &ofi->waiting;
    uint64_t passed = 0;
    ofi->pass++;
    while (*at != NULL && passed < ofi->queued) {
        struct ofi_op *op = *at;
        struct ofi_peer *peer = &ofi->peers[op->peer];
        ssize_t code = -FI_EAGAIN;
        if (ofi_lost(ofi, op->peer))
            code = -FI_ENOTCONN;
        else if (peer->pass != ofi->pass)
            code = hand(ofi, op);
        if (code == -FI_EAGAIN) {
            if (peer->pass != ofi->pass) {
                peer->pass = ofi->pass;
                passed += peer->queued;
            }
            at = &op->next;
            continue;
        }
        *at = op->next;
        if (op->next == NULL) ofi->last = at;
        ofi->queued--;
        peer->queued--;
        if (code == 0) {
            ofi->in_flight++;
        } else {
            fly_peer_lost(ofi->base.rt, op->peer);
            end(ofi, op, FLY_ERR_PEER);
        }
    }
}

void ofi_queue(struct ofi *ofi, struct ofi_op *first, struct ofi_op *last) {
    struct ofi_peer *peer = &ofi->peers[first->peer];
    for (struct ofi_op *op = first; op != NULL; op = op->next) {
        ofi->queued++;
        peer->queued++;
        peer->busy++;
        peer->unsent += op->kind == OFI_SEND;
        if (op->token == UINT32_MAX) continue;
        op->before = NULL;
        op->after = ofi->moves;
        if (ofi->moves != NULL) ofi->moves->before = op;
        ofi->moves = op;
    }
    *ofi->last = first;
    ofi->last = &last->next;
    push(ofi);
}

/* Copies a piece, which starts at `offset` of the packet followed by its data. */
static void fill(struct ofi_op *op, const struct fly_packet *packet, const void *data) {
    size_t at = 0;
    if (op->head.offset == 0) {
        memcpy(op->room, packet, sizeof *packet);
        at = sizeof *packet;
    }
    size_t from = (size_t)op->head.offset + at - sizeof *packet;
    if (op->bytes > at) memcpy(op->room + at, (const unsigned char *)data + from, op->bytes - at);
}

static struct ofi_head head_of(const struct ofi *ofi, int peer, uint32_t number, size_t total,
                               size_t offset) {
    return (struct ofi_head){.rank = ofi->base.rt->rank, .number = number, .total = total,
                             .taken = ofi->peers[peer].taken, .offset = offset};
}

/* Sends a packet that the provider copies at once and reports no completion for. It must not be one
   of the last packets before an endpoint is closed, nor overtake a packet that has not left. false:
   it must wait its turn. */
static bool inject(struct ofi *ofi, int peer, uint32_t number, const struct fly_packet *packet,
                   const void *data, size_t bytes) {
    struct {
        struct ofi_head head;
        struct fly_packet packet;
        unsigned char data[INJECTED];
    } all;
    size_t total = sizeof all.head + sizeof *packet + bytes;
    if (ofi->peers[peer].busy != 0 || total > ofi->info->tx_attr->inject_size ||
        bytes > INJECTED || packet->kind == FLY_K_VOID || ofi->base.rt->finalizing ||
        ofi_lost(ofi, peer))
        return false;
    all.head = head_of(ofi, peer, number, sizeof *packet + bytes, 0);
    all.packet = *packet;
    if (bytes != 0) memcpy(all.data, data, bytes);
    return fi_inject(ofi->end.ep, &all, total, ofi->peers[peer].address) == 0;
}

int ofi_send_as(struct ofi *ofi, int peer, uint32_t number, const struct fly_packet *packet,
                const void *data, size_t bytes) {
    size_t total = sizeof *packet + bytes;
    struct ofi_op *first = NULL, **at = &first, *last = NULL;
    if (inject(ofi, peer, number, packet, data, bytes)) return FLY_OK;
    for (size_t offset = 0; offset < total; offset += OFI_PIECE) {
        struct ofi_op *op = ofi_op_new(ofi, OFI_SEND, peer);
        if (op == NULL) {
            while (first != NULL) {
                struct ofi_op *next = first->next;
                free(first);
                first = next;
            }
            return fly_fail(FLY_ERR_NOMEM, "ofi: no memory for %zu bytes", bytes);
        }
        op->head = head_of(ofi, peer, number, total, offset);
        op->bytes = total - offset < OFI_PIECE ? total - offset : OFI_PIECE;
        fill(op, packet, data);
        *at = last = op;
        at = &op->next;
    }
    ofi_queue(ofi, first, last);
    return FLY_OK;
}

static uint64_t ofi_unsent(const struct fly_carrier *c, int peer) {
    const struct ofi *ofi = (const struct ofi *)c;
    return ofi_lost(ofi, peer) ? 0 : ofi->peers[peer].unsent;
}

static int ofi_send(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                    const void *data, size_t bytes) {
    struct ofi *ofi = (struct ofi *)c;
    struct ofi_peer *to = &ofi->peers[peer];
    int code = ofi_send_as(ofi, peer, to->sent, packet, data, bytes);
    if (code != FLY_OK) return code;
    if (packet->kind == FLY_K_VOID) return FLY_OK; /* probes have no number */
    if (ofi->least != SIZE_MAX) ofi_order_keep(to, packet, to->sent);
    to->sent++;
    return FLY_OK;
}

/* Whether the target refused a write or read; other errors mean that the network failed. */
static bool was_refused(int error) {
    return error == FI_EACCES || error == FI_EPERM || error == FI_EINVAL ||
           error == FI_EKEYREJECTED || error == FI_EREMOTEIO;
}

static void take_error(struct ofi *ofi) {
    struct fi_cq_err_entry error = {0};
    if (fi_cq_readerr(ofi->end.cq, &error, 0) <= 0 || error.op_context == NULL) return;
    struct ofi_op *op = error.op_context;
    if (op->kind == OFI_RECEIVE) return;
    bool refused = op->kind != OFI_SEND && was_refused(error.err);
    if (!refused) fly_peer_lost(ofi->base.rt, op->peer);
    ofi->in_flight--;
    end(ofi, op, refused ? FLY_ERR_TRANSPORT : FLY_ERR_PEER);
}

/* Ends operations on the memory of peers that died LET_GO_NS ago. */
static void give_up(struct ofi *ofi) {
    uint64_t now = fly_now_ns();
    for (struct ofi_op *op = ofi->moves, *next; op != NULL; op = next) {
        struct ofi_peer *peer = &ofi->peers[op->peer];
        next = op->after;
        if (!ofi_lost(ofi, op->peer)) continue;
        if (peer->dead_ns == 0) peer->dead_ns = now;
        if (now - peer->dead_ns > LET_GO_NS) ofi_let_go(ofi, op, FLY_ERR_PEER);
    }
}

int ofi_poll(struct fly_carrier *c) {
    struct ofi *ofi = (struct ofi *)c;
    struct fi_cq_data_entry events[EVENTS];
    int taken = 0;
    push(ofi);
    ofi_take_stuck(ofi);
    if (++ofi->polls % 1024 == 0) ofi_look(ofi);
    if (ofi->moves != NULL && ofi->polls % 1024 == 0) give_up(ofi);
    ssize_t count = fi_cq_read(ofi->end.cq, events, EVENTS);
    if (count == -FI_EAVAIL) take_error(ofi);
    for (ssize_t i = 0; i < count; i++) {
        struct ofi_op *op = events[i].op_context;
        if (ofi_is_event(&events[i])) {
            ofi_written(ofi, events[i].data);
            taken++;
        } else if (op->kind != OFI_RECEIVE) {
            ofi->in_flight--;
            end(ofi, op, FLY_OK);
        } else {
            ofi_arrived(ofi, op, events[i].len);
            while (post(ofi, op) != FLY_OK) continue;
            taken++;
        }
    }
    return taken;
}

static void ofi_close(struct fly_carrier *c) {
    struct ofi *ofi = (struct ofi *)c;
    uint64_t began = fly_now_ns();
    while (ofi->end.ep != NULL && ofi->peers != NULL && (ofi->waiting || ofi->in_flight != 0) &&
           fly_now_ns() - began < 1000000000)
        ofi_poll(c);
    if (ofi->peers != NULL && ofi_is_hasty(ofi->info)) ofi_calm(&ofi->end);
    ofi_shut(&ofi->end);
    if (ofi->life >= 0) close(ofi->life);
    if (ofi->info != NULL) fi_freeinfo(ofi->info);
    while (ofi->spare != NULL) {
        struct ofi_op *next = ofi->spare->next;
        free(ofi->spare);
        ofi->spare = next;
    }
    for (int r = 0; ofi->peers != NULL && r < c->rt->size; r++) ofi_forget(ofi, r);
    free(ofi->peers);
    free(ofi->receives);
    free(ofi);
}

const struct fly_carrier_ops fly_ofi = {
    .name = "ofi",
    .code = FLY_TRANSPORT_OFI,
    .tag_ub = INT32_MAX,
    .late = true,
    .ends_unheard = true,
    .prepare = ofi_prepare,
    .reaches = ofi_reaches,
    .connect = ofi_connect,
    .send = ofi_send,
    .unsent = ofi_unsent,
    .poll = ofi_poll,
    .doubt = ofi_doubt,
    .lend = ofi_lend,
    .reclaim = ofi_reclaim,
    .transfer = ofi_transfer,
    .reading = ofi_reading,
    .write = ofi_write,
    .read = ofi_read,
    .inside = ofi_inside,
    .tell = ofi_tell,
    .close = ofi_close,
};
