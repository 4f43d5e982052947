/* Transport "ofi": what its files share. How the bytes of a put go to another node is its path:
 *
 * data: a write, with source, tag, window and number in the provider's completion data.
 * message: the bytes travel behind their packet; the target copies them.
 * behind, delivered: a write, and a message without bytes, sent right behind it where the provider
 * keeps messages behind writes, or else when the write has been delivered.
 *
 * On every path, what a rank sends to another is numbered, and taken in the order of the numbers.
 * So the provider need not keep writes, reads and messages in order among each other.
 */
#ifndef FLY_OFI_H
#define FLY_OFI_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <netinet/in.h>

#include "ofi_notice.h"
#include "state.h"

/* A piece and its head stay below the 16 KiB that ofi_rxm sends eagerly: its rendezvous for longer
   messages was seen to stall when both directions are busy (libfabric 1.17). */
enum { OFI_PIECE = 16000, OFI_RECEIVES = 64 };

struct ofi_head {
    int32_t rank;           /* the sender's, in the world */
    uint32_t number;        /* the packet's */
    uint32_t taken, unused; /* how many of the receiver's packets the sender has taken */
    uint64_t total, offset; /* bytes of the packet with its data; where this piece begins */
};

enum ofi_kind { OFI_RECEIVE, OFI_SEND, OFI_WRITE, OFI_READ };

/* An operation that the provider has in hand; some providers write to its context. */
struct ofi_op {
    struct fi_context2 context;
    struct ofi_op *next;
    enum ofi_kind kind;
    int peer;
    size_t bytes;
    /* For writes and reads: memory at both ends, the completion data, how the target is
       notified. */
    void *here;
    uint64_t there, key, data;
    bool with_data, behind, notes; /* notified by data, by a message behind, when done */
    struct fly_packet note;
    uint32_t number, token; /* token: its entry in pending.c; UINT32_MAX: none */
    struct ofi_op *before, *after; /* list of the operations with a token */
    struct ofi_head head;
    unsigned char room[OFI_PIECE]; /* a message's piece, or the copied bytes of a write */
};

/* A packet that is incomplete, or whose turn has not come. */
struct ofi_item {
    struct ofi_item *next;
    uint32_t number;
    size_t total, got;
    unsigned char data[];
};

/* The bytes of a window that a packet in flight touches, kept for up to OFI_SPANS packets. */
enum { OFI_SPANS = 8 };
struct ofi_span {
    uint32_t window;
    uint64_t from, to;
    uint32_t number;
};

struct ofi_peer {
    fi_addr_t address;
    struct sockaddr_in life;      /* where it listens as long as it lives; no port: unknown */
    uint32_t sent, taken;         /* numbers of the next packet to send, and to take */
    struct ofi_item *items;       /* waiting packets, by number */
    uint64_t pass, busy;          /* the last pass of push that it stopped; unfinished operations */
    uint64_t queued;              /* how many of the unfinished operations wait in our list */
    uint64_t unsent;              /* how many of the unfinished operations are messages */
    uint64_t silent_ns, look_ns;  /* when to check whether it lives, or 0; time to the next check */
    uint64_t dead_ns;             /* when operations were first found to wait after its death */
    bool stuck;                   /* memory was short for its next packet */
    bool writes, delivers;        /* what its own provider can do, as it reported */
    uint32_t acked;               /* up to which number it has taken ours, as it last reported */
    bool walled;                  /* nothing may overtake until it has taken number `wall` */
    uint32_t wall;
    int span_count;
    struct ofi_span spans[OFI_SPANS];
};

struct ofi_end {
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
};

/* A window as the completion data of writes names it. */
struct ofi_slot {
    struct fly_win *win;
    bool used;
};

/* What a provider was found to do; `why` names what it cannot do. */
struct ofi_facts {
    bool writes, data, behind, delivered, lands;
    size_t data_bytes; /* how many bytes of a write's completion data are used */
    bool in_order;   /* the provider promises to keep writes and reads in order */
    char why[200];
};

enum ofi_path { OFI_MESSAGE, OFI_DATA, OFI_BEHIND, OFI_DELIVERED };

struct ofi {
    struct fly_carrier base;
    struct fi_info *info;
    struct ofi_end end;
    struct ofi_facts facts;
    enum ofi_path path;
    /* The smallest put that takes the path; the smallest that goes as a write with a message behind
       it, where the completion data is too small for it. */
    size_t least, least_behind;
    struct ofi_layout layout;
    bool delivers;     /* every write is done when it is in the target's memory */
    int life;          /* the socket that shows others that this process lives */
    struct ofi_peer *peers; /* by rank of the world */
    uint64_t pass, queued, polls;
    struct ofi_op *receives, *waiting, **last, *spare;
    size_t in_flight;
    int stuck;         /* how many peers are stuck for lack of memory */
    struct ofi_op *moves; /* the list of operations with a token */
    uint64_t keys;        /* how many registration keys were given out */
    struct ofi_slot slots[OFI_SLOTS];
};

/* What a process reports of its provider in its hello. */
enum { OFI_WRITES = 1, OFI_DELIVERS = 2 };

/* ofi_open.c: chooses a provider, opens an endpoint of it, and decides which path puts take: the
   one that the user asked for, or the best. ofi_open and ofi_register return codes of libfabric. */
int ofi_failed(const char *call, long code);
int ofi_choose(struct ofi *ofi, const char *wanted);
int ofi_open(struct ofi_end *end, struct fi_info *info, size_t events);
void ofi_shut(struct ofi_end *end);
/* Whether an endpoint must not be closed while its provider has internal messages; ofi_calm waits
   for those, and takes all events. */
bool ofi_is_hasty(const struct fi_info *info);
void ofi_calm(struct ofi_end *end);
int ofi_register(struct ofi_end *end, const struct fi_info *info, void *base, size_t bytes,
                 uint64_t key, struct fid_mr **made);
int ofi_decide(struct ofi *ofi);
size_t ofi_inside(const struct fly_carrier *c, int peer);
void ofi_tell(const struct fly_carrier *c, int peer, char *text, size_t room);

/* Whether an event is another's write; some providers (sockets) flag the writer's event, too. */
static inline bool ofi_is_event(const struct fi_cq_data_entry *one) {
    return (one->flags & FI_REMOTE_CQ_DATA) != 0 && (one->flags & FI_WRITE) == 0;
}

/* ofi_probe.c */
void ofi_probe(struct fi_info *info, struct ofi_facts *facts);

/* ofi_life.c */
void ofi_live(struct ofi *ofi, struct fly_hello *mine);
void ofi_know(struct ofi *ofi, const struct fly_hello *all);
/* Checks a silent peer, and calls fly_peer_lost if it has ended. */
void ofi_doubt(struct fly_carrier *c, int peer);
/* Checks the peers that operations have waited for, for long. */
void ofi_look(struct ofi *ofi);

/* ofi_in.c: takes pieces of messages and data of writes, retries what lacked memory, and ends. */
void ofi_arrived(struct ofi *ofi, const struct ofi_op *op, size_t bytes);
void ofi_written(struct ofi *ofi, uint64_t data);
void ofi_take_stuck(struct ofi *ofi);
void ofi_forget(struct ofi *ofi, int peer);

/* ofi.c */
struct ofi_op *ofi_op_new(struct ofi *ofi, enum ofi_kind kind, int peer);
void ofi_queue(struct ofi *ofi, struct ofi_op *first, struct ofi_op *last);
int ofi_send_as(struct ofi *ofi, int peer, uint32_t number, const struct fly_packet *packet,
                const void *data, size_t bytes);
int ofi_poll(struct fly_carrier *c);
/* Ends the operation that waits for a write or read. */
void ofi_let_go(struct ofi *ofi, struct ofi_op *op, int error);
/* Whether nothing can be sent to a peer any more. */
static inline bool ofi_lost(const struct ofi *ofi, int peer) {
    const struct fly_peer *to = &ofi->base.rt->peers[peer];
    return to->dead || to->lost_ns != 0;
}

/* ofi_write.c: lends memory, writes and reads. */
void ofi_lend(struct fly_carrier *c, struct fly_win *win, uint64_t loan[FLY_LOAN_WORDS]);
void ofi_reclaim(struct fly_carrier *c, struct fly_win *win);
enum fly_transfer ofi_transfer(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                               const uint64_t *loan, size_t bytes);
int ofi_write(struct fly_carrier *c, int peer, const struct fly_packet *packet,
              const uint64_t *loan, const void *src, size_t bytes, uint32_t token);
int ofi_read(struct fly_carrier *c, int peer, const struct fly_packet *packet,
             const uint64_t *loan, void *dst, size_t bytes, uint32_t token);
/* Hands the operation to the provider. */
ssize_t ofi_start(struct ofi *ofi, struct ofi_op *op);
/* The operation ended: FLY_OK, FLY_ERR_PEER, or FLY_ERR_TRANSPORT where the target refused it. */
void ofi_done(struct ofi *ofi, struct ofi_op *op, int error);

/* ofi_order.c: keeps the span of a packet that is sent; says whether a write or read may overtake
   the packets in flight; and whether a read is in flight that the packet may not overtake. */
void ofi_order_keep(struct ofi_peer *peer, const struct fly_packet *packet, uint32_t number);
bool ofi_order_free(struct ofi_peer *peer, const struct fly_packet *packet);
bool ofi_reading(const struct fly_carrier *c, int peer, const struct fly_packet *packet);

#endif
