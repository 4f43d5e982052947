/* Transport "ofi": packets as messages of libfabric, between nodes.
 *
 * A packet with its bytes goes as pieces of at most PIECE bytes, in order (FI_ORDER_SAS); the
 * receiver puts them together and the core copies. What the provider pushes back waits in a list.
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core.h"

/* With its head a piece stays below the 16 KiB that ofi_rxm sends at once: above it asks first, and
   such transfers were seen to stand still in both directions (libfabric 1.17). */
enum { PIECE = 16000, RECEIVES = 64, EVENTS = 16 };
/* How long the provider pushes back for a peer before we look whether it lives. */
static const uint64_t LOOK_FIRST_NS = 200000000, LOOK_NEXT_NS = 1000000000;

struct head {
    int32_t rank;    /* of the sender in the world */
    uint32_t unused;
    uint64_t total, offset; /* of packet and bytes behind it; of this piece */
};

/* A buffer of the provider's, with the context that some of them write to. */
struct piece {
    struct fi_context2 context;
    struct piece *next;
    int peer; /* of a send; -1: a receive */
    size_t bytes;
    struct head head;
    unsigned char data[PIECE];
};

/* What has come of the message that a peer is sending. */
struct partial {
    unsigned char *room;
    size_t room_bytes, total;
    bool whole; /* not taken yet, for lack of memory */
};

struct ofi {
    struct fly_carrier base;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t *addresses; /* by rank of the world */
    struct partial *partials;
    struct sockaddr_in *names; /* likewise */
    struct stalled {
        uint64_t pass, look_ns; /* of push, the last it stopped; when to look if it lives */
        uint64_t queued;        /* pieces to it that wait */
    } *stalled;
    uint64_t pass, queued;
    struct piece *receives, *waiting, **last, *spare;
    size_t under_way;
    int stuck; /* partials that are whole and not taken */
};

static int failed(const char *call, long code) {
    return fly_fail(FLY_ERR_TRANSPORT, "ofi: %s: %s", call, fi_strerror((int)-code));
}

/* Without registration of buffers, and with an address, if need be one of this machine alone. */
static bool usable(const struct fi_info *info, bool own_too) {
    if (info->domain_attr->mr_mode & FI_MR_LOCAL) return false;
    if (info->addr_format != FI_SOCKADDR_IN || info->src_addr == NULL) return false;
    return own_too || ((const unsigned char *)info->src_addr)[4] != 127;
}

static int ask(struct ofi *ofi, const char *provider) {
    struct fi_info *hints = fi_allocinfo(), *found = NULL;
    if (hints == NULL) return fly_fail(FLY_ERR_NOMEM, "ofi: no memory");
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->fabric_attr->prov_name = strdup(provider);
    int code = fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &found);
    fi_freeinfo(hints);
    if (code != 0) return failed(provider, code);
    for (int pass = 0; pass < 2; pass++)
        for (struct fi_info *one = found; one != NULL && ofi->info == NULL; one = one->next)
            if (usable(one, pass == 1)) ofi->info = fi_dupinfo(one);
    fi_freeinfo(found);
    return ofi->info != NULL ? FLY_OK
                             : fly_fail(FLY_ERR_TRANSPORT, "ofi: provider %s has no address that "
                                        "other nodes reach", provider);
}

static int choose(struct ofi *ofi, const char *wanted) {
    static const char *const KNOWN[] = {"net", "tcp", "tcp;ofi_rxm"};
    if (wanted != NULL) return ask(ofi, wanted);
    int code = FLY_ERR_TRANSPORT;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN && code != FLY_OK; i++)
        code = ask(ofi, KNOWN[i]);
    return code;
}

static int open_all(struct ofi *ofi) {
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 1024};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    int code = fi_fabric(ofi->info->fabric_attr, &ofi->fabric, NULL);
    if (code == 0) code = fi_domain(ofi->fabric, ofi->info, &ofi->domain, NULL);
    if (code == 0) code = fi_av_open(ofi->domain, &av, &ofi->av, NULL);
    if (code == 0) code = fi_cq_open(ofi->domain, &cq, &ofi->cq, NULL);
    if (code == 0) code = fi_endpoint(ofi->domain, ofi->info, &ofi->ep, NULL);
    if (code == 0) code = fi_ep_bind(ofi->ep, &ofi->av->fid, 0);
    if (code == 0) code = fi_ep_bind(ofi->ep, &ofi->cq->fid, FI_TRANSMIT | FI_RECV);
    if (code == 0) code = fi_enable(ofi->ep);
    return code == 0 ? FLY_OK : failed("opening", code);
}

static int post(struct ofi *ofi, struct piece *piece) {
    piece->peer = -1;
    ssize_t code = fi_recv(ofi->ep, &piece->head, sizeof piece->head + PIECE, NULL, FI_ADDR_UNSPEC,
                           &piece->context);
    return code == 0 ? FLY_OK : failed("fi_recv", code);
}

static void ofi_close(struct fly_carrier *c);

static int ofi_prepare(struct fly_rt *rt, struct fly_hello *mine, struct fly_carrier **made) {
    extern const struct fly_carrier_ops fly_ofi;
    struct ofi *ofi = calloc(1, sizeof *ofi);
    if (ofi == NULL) return fly_fail(FLY_ERR_NOMEM, "ofi: no memory");
    ofi->base = (struct fly_carrier){&fly_ofi, rt};
    ofi->last = &ofi->waiting;
    size_t bytes = sizeof mine->address;
    int code = choose(ofi, rt->settings.provider);
    if (code == FLY_OK) code = open_all(ofi);
    if (code == FLY_OK) {
        int got = fi_getname(&ofi->ep->fid, mine->address, &bytes);
        if (got != 0) code = failed("fi_getname", got);
    }
    ofi->receives = calloc(RECEIVES, sizeof *ofi->receives);
    if (ofi->receives == NULL) code = fly_fail(FLY_ERR_NOMEM, "ofi: no memory");
    for (int i = 0; i < RECEIVES && code == FLY_OK; i++) code = post(ofi, &ofi->receives[i]);
    if (code != FLY_OK) {
        ofi_close(&ofi->base);
        return code;
    }
    mine->address_bytes = (uint32_t)bytes;
    *made = &ofi->base;
    return FLY_OK;
}

static bool ofi_reaches(const struct fly_carrier *c, const struct fly_hello *mine,
                        const struct fly_hello *theirs) {
    (void)c;
    bool own = mine->address[4] == 127 || theirs->address[4] == 127; /* leads nowhere else */
    if (own && memcmp(mine->node, theirs->node, sizeof mine->node) != 0) return false;
    return mine->address_bytes != 0 && mine->address_bytes == theirs->address_bytes;
}

static int ofi_connect(struct fly_carrier *c, const struct fly_hello *all) {
    struct ofi *ofi = (struct ofi *)c;
    int size = c->rt->size;
    ofi->addresses = calloc((size_t)size, sizeof *ofi->addresses);
    ofi->partials = calloc((size_t)size, sizeof *ofi->partials);
    ofi->names = calloc((size_t)size, sizeof *ofi->names);
    ofi->stalled = calloc((size_t)size, sizeof *ofi->stalled);
    if (ofi->addresses == NULL || ofi->partials == NULL || ofi->names == NULL ||
        ofi->stalled == NULL)
        return fly_fail(FLY_ERR_NOMEM, "ofi: no memory for %d ranks", size);
    for (int r = 0; r < size; r++) {
        if (c->rt->peers[r].via != c) continue;
        memcpy(&ofi->names[r], all[r].address, sizeof *ofi->names);
        if (fi_av_insert(ofi->av, all[r].address, 1, &ofi->addresses[r], 0, NULL) != 1)
            return fly_fail(FLY_ERR_TRANSPORT, "ofi: the address of rank %d is not one", r);
    }
    return FLY_OK;
}

/* Whether nobody listens at a peer's address: the process has ended. The provider does not say so,
   it connects again and again; and a peer that computes pushes back as well. */
static bool nobody_listens(const struct ofi *ofi, int peer) {
    int end = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (end < 0) return false;
    struct pollfd ready = {.fd = end, .events = POLLOUT};
    int why = 0;
    socklen_t length = sizeof why;
    if (connect(end, (const struct sockaddr *)&ofi->names[peer], sizeof *ofi->names) != 0)
        why = errno;
    if (why == EINPROGRESS && poll(&ready, 1, 20) == 1)
        getsockopt(end, SOL_SOCKET, SO_ERROR, &why, &length);
    close(end);
    return why == ECONNREFUSED;
}

/* The provider takes nothing for a peer. */
static void stall(struct ofi *ofi, int peer) {
    struct stalled *stalled = &ofi->stalled[peer];
    uint64_t now = fly_now_ns();
    stalled->pass = ofi->pass;
    if (stalled->look_ns == 0) {
        stalled->look_ns = now + LOOK_FIRST_NS;
    } else if (now >= stalled->look_ns) {
        stalled->look_ns = now + LOOK_NEXT_NS;
        if (nobody_listens(ofi, peer)) fly_peer_lost(ofi->base.rt, peer);
    }
}

static bool is_lost(const struct ofi *ofi, int peer) {
    return ofi->base.rt->peers[peer].dead || ofi->base.rt->peers[peer].lost_ns != 0;
}

/* Hands to the provider what waits, in order for each peer, until it pushes back for all. */
static void push(struct ofi *ofi) {
    struct piece **at = &ofi->waiting;
    uint64_t passed = 0;
    ofi->pass++;
    while (*at != NULL && passed < ofi->queued) {
        struct piece *piece = *at;
        int peer = piece->peer;
        ssize_t code = -FI_EAGAIN;
        if (is_lost(ofi, peer))
            code = -FI_ENOTCONN;
        else if (ofi->stalled[peer].pass != ofi->pass)
            code = fi_send(ofi->ep, &piece->head, sizeof piece->head + piece->bytes, NULL,
                           ofi->addresses[peer], &piece->context);
        if (code == -FI_EAGAIN) {
            if (ofi->stalled[peer].pass != ofi->pass) {
                stall(ofi, peer);
                passed += ofi->stalled[peer].queued;
            }
            at = &piece->next;
            continue;
        }
        *at = piece->next;
        if (piece->next == NULL) ofi->last = at;
        ofi->queued--;
        ofi->stalled[peer].queued--;
        ofi->stalled[peer].look_ns = 0;
        if (code == 0) {
            ofi->under_way++;
        } else {
            fly_peer_lost(ofi->base.rt, peer);
            piece->next = ofi->spare;
            ofi->spare = piece;
        }
    }
}

static struct piece *new_piece(struct ofi *ofi) {
    struct piece *piece = ofi->spare;
    if (piece == NULL) return malloc(sizeof *piece);
    ofi->spare = piece->next;
    return piece;
}

/* The bytes from `offset` on of a packet and what is behind it. */
static void fill(struct piece *piece, const struct fly_packet *packet, const void *data) {
    size_t at = 0;
    if (piece->head.offset == 0) {
        memcpy(piece->data, packet, sizeof *packet);
        at = sizeof *packet;
    }
    size_t from = (size_t)piece->head.offset + at - sizeof *packet;
    if (piece->bytes > at)
        memcpy(piece->data + at, (const unsigned char *)data + from, piece->bytes - at);
}

static int ofi_send(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                    const void *data, size_t bytes) {
    struct ofi *ofi = (struct ofi *)c;
    size_t total = sizeof *packet + bytes;
    struct piece *first = NULL, **end = &first;
    for (size_t offset = 0; offset < total; offset += PIECE) {
        struct piece *piece = new_piece(ofi);
        if (piece == NULL) {
            while (first != NULL) {
                struct piece *next = first->next;
                free(first);
                first = next;
            }
            return fly_fail(FLY_ERR_NOMEM, "ofi: no memory for %zu bytes", bytes);
        }
        piece->head = (struct head){c->rt->rank, 0, total, offset};
        piece->bytes = total - offset < PIECE ? total - offset : PIECE;
        piece->peer = peer;
        piece->next = NULL;
        fill(piece, packet, data);
        *end = piece;
        end = &piece->next;
    }
    for (const struct piece *one = first; one != NULL; one = one->next) {
        ofi->queued++;
        ofi->stalled[peer].queued++;
    }
    *ofi->last = first;
    ofi->last = end;
    push(ofi);
    return FLY_OK;
}

static bool hand_over(struct ofi *ofi, int peer) {
    struct partial *partial = &ofi->partials[peer];
    struct fly_packet packet;
    ofi->stuck -= partial->whole;
    memcpy(&packet, partial->room, sizeof packet);
    partial->whole = !fly_packet_arrived(ofi->base.rt, peer, &packet,
                                         partial->room + sizeof packet,
                                         partial->total - sizeof packet);
    ofi->stuck += partial->whole;
    return !partial->whole;
}

/* Adds a piece to its message, and hands that over when it is whole. */
static void add(struct ofi *ofi, const struct piece *piece, size_t bytes) {
    const struct head *head = &piece->head;
    int peer = head->rank;
    if (bytes < sizeof *head || peer < 0 || peer >= ofi->base.rt->size ||
        head->total < sizeof(struct fly_packet))
        return;
    struct partial *partial = &ofi->partials[peer];
    while (partial->whole) hand_over(ofi, peer); /* with no memory there is no way on */
    while (partial->room_bytes < head->total) {
        unsigned char *room = realloc(partial->room, head->total);
        if (room == NULL) continue;
        partial->room = room;
        partial->room_bytes = head->total;
    }
    bytes -= sizeof *head;
    if (head->offset + bytes > head->total) return;
    memcpy(partial->room + head->offset, piece->data, bytes);
    partial->total = head->total;
    if (head->offset + bytes == head->total) hand_over(ofi, peer);
}

static void sent(struct ofi *ofi, struct piece *piece) {
    ofi->under_way--;
    piece->next = ofi->spare;
    ofi->spare = piece;
}

static int ofi_poll(struct fly_carrier *c) {
    struct ofi *ofi = (struct ofi *)c;
    struct fi_cq_msg_entry events[EVENTS];
    int taken = 0;
    push(ofi);
    for (int r = 0; ofi->stuck != 0 && r < c->rt->size; r++)
        if (ofi->partials[r].whole) hand_over(ofi, r);
    ssize_t count = fi_cq_read(ofi->cq, events, EVENTS);
    if (count == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        if (fi_cq_readerr(ofi->cq, &error, 0) <= 0 || error.op_context == NULL) return 0;
        struct piece *piece = error.op_context;
        if (piece->peer < 0) return 0;
        fly_peer_lost(c->rt, piece->peer);
        sent(ofi, piece);
        return 0;
    }
    for (ssize_t i = 0; i < count; i++) {
        struct piece *piece = events[i].op_context;
        if (piece->peer >= 0) {
            sent(ofi, piece);
            continue;
        }
        add(ofi, piece, events[i].len);
        while (post(ofi, piece) != FLY_OK) continue;
        taken++;
    }
    return taken;
}

static void ofi_close(struct fly_carrier *c) {
    struct ofi *ofi = (struct ofi *)c;
    uint64_t began = fly_now_ns();
    while (ofi->ep != NULL && ofi->addresses != NULL && (ofi->waiting || ofi->under_way != 0) &&
           fly_now_ns() - began < 1000000000)
        ofi_poll(c);
    struct fid *opened[] = {ofi->ep ? &ofi->ep->fid : NULL, ofi->cq ? &ofi->cq->fid : NULL,
                            ofi->av ? &ofi->av->fid : NULL, ofi->domain ? &ofi->domain->fid : NULL,
                            ofi->fabric ? &ofi->fabric->fid : NULL};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (opened[i] != NULL) fi_close(opened[i]);
    if (ofi->info != NULL) fi_freeinfo(ofi->info);
    while (ofi->spare != NULL) {
        struct piece *next = ofi->spare->next;
        free(ofi->spare);
        ofi->spare = next;
    }
    for (int r = 0; ofi->partials != NULL && r < c->rt->size; r++) free(ofi->partials[r].room);
    free(ofi->partials);
    free(ofi->addresses);
    free(ofi->names);
    free(ofi->stalled);
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
    .poll = ofi_poll,
    .close = ofi_close,
};
