/* Transport "ofi": what its files share. A put goes to another node by one of three paths.
 *
 * data: a write, with source, tag, window and number in the provider's data of completions.
 * message: the bytes behind their packet; the target copies.
 * behind, delivered: a write, and a message without bytes: right behind it where the provider keeps
 * messages behind writes, or when the write has been delivered.
 *
 * Whatever the path, what a rank sends to another has numbers, and is taken in their order: so the
 * provider need not keep writes, reads and messages in order among each other.
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

#include "ofi_told.h"
#include "state.h"

/* With its head a piece stays below the 16 KiB that ofi_rxm sends at once: above it asks first, and
   such transfers were seen to stand still in both directions (libfabric 1.17). */
enum { OFI_PIECE = 16000, OFI_RECEIVES = 64 };

struct ofi_head {
    int32_t rank;           /* of the sender in the world */
    uint32_t number;        /* of the packet */
    uint32_t taken, unused; /* how many of the receiver's it has taken */
    uint64_t total, offset; /* of packet and bytes behind it; of this piece */
};

enum ofi_kind { OFI_RECEIVE, OFI_SEND, OFI_WRITE, OFI_READ };

/* What the provider has in hand, with the context that some of them write to. */
struct ofi_op {
    struct fi_context2 context;
    struct ofi_op *next;
    enum ofi_kind kind;
    int peer;
    size_t bytes;
    /* Of a write and a read: both ends, what the target is told, what ends here. */
    void *here;
    uint64_t there, key, data;
    bool with_data, behind, notes; /* the target hears by data, at once, or when it is done */
    struct fly_packet note;
    uint32_t number, token; /* token: of what waits for it in pending.c; UINT32_MAX: nothing */
    struct ofi_op *before, *after; /* among those with a token */
    struct ofi_head head;
    unsigned char room[OFI_PIECE]; /* behind the head, of a message; a copy, of a write */
};

/* A packet that is not whole, or whose turn has not come. */
struct ofi_item {
    struct ofi_item *next;
    uint32_t number;
    size_t total, got;
    unsigned char data[];
};

/* Bytes of a window that a packet under way touches. */
enum { OFI_SPANS = 8 };
struct ofi_span {
    uint32_t window;
    uint64_t from, to;
    uint32_t number;
};

struct ofi_peer {
    fi_addr_t address;
    struct sockaddr_in life;      /* where it listens as long as it lives; no port: unknown */
    uint32_t sent, taken;         /* numbers */
    struct ofi_item *items;       /* by number */
    uint64_t pass, busy;          /* of push, the last it stopped; operations that are not done */
    uint64_t queued;              /* of these, those that wait here */
    uint64_t unsent;              /* of these, the messages */
    uint64_t silent_ns, look_ns;  /* when we look whether it lives, or 0; how long until again */
    uint64_t dead_ns;             /* when we first looked after its death */
    bool stuck;                   /* memory was short for its next packet */
    bool writes, delivers;        /* what it says of its own provider */
    uint32_t acked;               /* numbers of ours that it has taken, as far as it has said */
    bool walled;                  /* nothing may pass until it has taken `wall` */
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

/* What writes call a window. */
struct ofi_slot {
    struct fly_win *win;
    bool used;
};

/* What a provider was found to do; `why` says what it does not. */
struct ofi_facts {
    bool writes, data, behind, delivered, lands;
    size_t data_bytes; /* of a write's data, that are used */
    bool in_order;   /* writes and reads among each other, as it says */
    char why[200];
};

enum ofi_path { OFI_MESSAGE, OFI_DATA, OFI_BEHIND, OFI_DELIVERED };

struct ofi {
    struct fly_carrier base;
    struct fi_info *info;
    struct ofi_end end;
    struct ofi_facts facts;
    enum ofi_path path;
    /* Bytes of a put from which on it takes the path; from which on it is a write with a message
       behind it, where its data cannot say all. */
    size_t least, least_behind;
    struct ofi_layout layout;
    bool delivers;     /* every write is done when it is in the target's memory */
    int life;          /* the socket that shows others that this process lives */
    struct ofi_peer *peers; /* by rank of the world */
    uint64_t pass, queued, polls;
    struct ofi_op *receives, *waiting, **last, *spare;
    size_t under_way;
    int stuck;         /* peers with a packet that memory was short for */
    struct ofi_op *moves; /* with a token */
    uint64_t keys;        /* that were given out */
    struct ofi_slot slots[OFI_SLOTS];
};

/* What a process says of its provider, in a hello. */
enum { OFI_WRITES = 1, OFI_DELIVERS = 2 };

/* ofi_open.c: a provider, an end of it, and which path puts take: what is asked for, or the best
   there is. Those of ofi_open and ofi_register are codes of libfabric. */
int ofi_failed(const char *call, long code);
int ofi_choose(struct ofi *ofi, const char *wanted);
int ofi_open(struct ofi_end *end, struct fi_info *info, size_t events);
void ofi_shut(struct ofi_end *end);
/* Whether an end must not be shut while its provider has something to say among itself; waits for
   that, and takes all events. */
bool ofi_is_hasty(const struct fi_info *info);
void ofi_calm(struct ofi_end *end);
int ofi_register(struct ofi_end *end, const struct fi_info *info, void *base, size_t bytes,
                 uint64_t key, struct fid_mr **made);
int ofi_decide(struct ofi *ofi);
size_t ofi_inside(const struct fly_carrier *c, int peer);
void ofi_tell(const struct fly_carrier *c, int peer, char *text, size_t room);

/* The data of a write by others; some providers (sockets) give the writer the flag as well. */
static inline bool ofi_is_event(const struct fi_cq_data_entry *one) {
    return (one->flags & FI_REMOTE_CQ_DATA) != 0 && (one->flags & FI_WRITE) == 0;
}

/* ofi_probe.c */
void ofi_probe(struct fi_info *info, struct ofi_facts *facts);

/* ofi_life.c */
void ofi_live(struct ofi *ofi, struct fly_hello *mine);
void ofi_know(struct ofi *ofi, const struct fly_hello *all);
/* Looks at a peer that is silent; fly_peer_lost if it has ended. */
void ofi_doubt(struct fly_carrier *c, int peer);
/* Looks at those that operations have waited for, for long. */
void ofi_look(struct ofi *ofi);

/* ofi_in.c: pieces of messages, data of writes; what memory was short for; the end. */
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
/* Ends what waits for a write or read. */
void ofi_let_go(struct ofi *ofi, struct ofi_op *op, int error);
/* Whether nothing goes to it any more. */
static inline bool ofi_lost(const struct ofi *ofi, int peer) {
    const struct fly_peer *to = &ofi->base.rt->peers[peer];
    return to->dead || to->lost_ns != 0;
}

/* ofi_write.c: memory that is lent, writes and reads. */
void ofi_lend(struct fly_carrier *c, struct fly_win *win, uint64_t loan[FLY_LOAN_WORDS]);
void ofi_reclaim(struct fly_carrier *c, struct fly_win *win);
enum fly_way ofi_way(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                     const uint64_t *loan, size_t bytes);
int ofi_write(struct fly_carrier *c, int peer, const struct fly_packet *packet,
              const uint64_t *loan, const void *src, size_t bytes, uint32_t token);
int ofi_read(struct fly_carrier *c, int peer, const struct fly_packet *packet,
             const uint64_t *loan, void *dst, size_t bytes, uint32_t token);
/* Hands it to the provider. */
ssize_t ofi_start(struct ofi *ofi, struct ofi_op *op);
/* It has ended: FLY_OK, FLY_ERR_PEER, or FLY_ERR_TRANSPORT where the target took none. */
void ofi_done(struct ofi *ofi, struct ofi_op *op, int error);

/* ofi_order.c: a packet goes; whether a write or read may pass what is under way; whether a read
   is under way that the packet's operation may not pass. */
void ofi_order_keep(struct ofi_peer *peer, const struct fly_packet *packet, uint32_t number);
bool ofi_order_free(struct ofi_peer *peer, const struct fly_packet *packet);
bool ofi_reading(const struct fly_carrier *c, int peer, const struct fly_packet *packet);

#endif
