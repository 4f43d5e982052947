/* The interface between the core and the transports; each transport implements it.
 *
 * A transport takes packets from one rank to another: whole, once, in order between the two. The
 * core has asked for the credit before it sends, so that a transport always has room: `send` fails
 * only where the peer has died or there is no memory. It hands what arrives to fly_packet_arrived.
 */
#ifndef FLY_TRANSPORT_H
#define FLY_TRANSPORT_H

#include <stdbool.h>

#include "flyloom.h"
#include "packet.h"
#include "processors.h"

struct fly_carrier;
struct fly_rt;
struct fly_want;
struct fly_win;

/* Words of a member's entry that describe memory a transport lends to the other members. Only that
   transport knows what they mean. */
enum { FLY_LOAN_WORDS = 3 };
/* How the bytes of a put or get travel: behind a packet (MESSAGE); by a write or read of the
   target's memory, from a copy of the user's (COPIED), or to or from the user's own memory, which
   the user must keep until the operation ends (KEPT). */
enum fly_transfer { FLY_TRANSFER_MESSAGE, FLY_TRANSFER_COPIED, FLY_TRANSFER_KEPT };

/* Memory of a window: private, or of a file that other processes map. */
struct fly_memory {
    void *base;
    size_t mapped; /* bytes, whole pages */
    int file;      /* -1: private */
};

/* What each rank sends to all others by the bootstrap, before transports connect. Each transport
   fills in its part. */
struct fly_hello {
    uint64_t magic;
    uint32_t abi;
    uint32_t order, works; /* the transports that are asked for; bits of those that work here */
    int32_t error;         /* an error of fly_init before this exchange, or FLY_OK */
    uint32_t credits;
    unsigned char node[16], token[16]; /* shm: which kernel and network; name of the socket */
    unsigned char secret[16]; /* shm: who connects must know it; only the bootstrap carries it */
    uint64_t pid, pid_space; /* the process, and in which namespace that number is one */
    uint64_t hub;            /* loop: where the hub is, from rank 0 */
    uint32_t expedited;      /* shm: the kernel can put a fence into it */
    uint32_t address_bytes;  /* ofi, here and below */
    uint16_t life_port, writes; /* where the process listens; bits of what its provider does */
    char provider[32];
    unsigned char address[64];
    struct fly_processors processors; /* that the process may use */
};

struct fly_carrier_ops {
    const char *name;
    int code; /* FLY_TRANSPORT_... */
    int tag_ub;
    size_t most; /* bytes behind a packet, at most; 0: as many as there are */
    bool late; /* costly to prepare: used only where the others do not reach all ranks */
    /* Fills in what others must know to connect, before the hellos are exchanged. */
    int (*prepare)(struct fly_rt *rt, struct fly_hello *mine, struct fly_carrier **made);
    /* Whether a peer is reached, by the hellos alone, so that both ends get the same answer. */
    bool (*reaches)(const struct fly_carrier *c, const struct fly_hello *mine,
                    const struct fly_hello *theirs);
    /* Connects to the peers whose carrier this is. */
    int (*connect)(struct fly_carrier *c, const struct fly_hello *all);
    int (*send)(struct fly_carrier *c, int peer, const struct fly_packet *packet, const void *data,
                size_t bytes);
    /* How much was sent to the peer and has not left; only calls send the rest. NULL: nothing is
       ever left. */
    uint64_t (*unsent)(const struct fly_carrier *c, int peer);
    /* Takes the packets that have arrived; returns their number. */
    int (*poll)(struct fly_carrier *c);
    /* Looks `looks` times for packets, and takes them until `until` is complete; returns their
       number. NULL: poll. */
    int (*spin)(struct fly_carrier *c, int looks, const struct fly_want *until);
    /* Returns the credits of the peer's packets by a word in memory. NULL: packets return them. */
    void (*give)(struct fly_carrier *c, int peer);
    /* Sleeps until a packet may have come, or for that time; called without the lock. NULL: it
       cannot. */
    void (*rest)(struct fly_carrier *c, uint32_t microseconds);
    /* The end of a peer shows only when something is sent to it, so a rank that waits for a peer
       sends to it from time to time. */
    bool ends_unheard;
    /* Checks whether a silent peer lives; if not, calls fly_peer_lost. NULL: it cannot. */
    void (*doubt)(struct fly_carrier *c, int peer);
    /* Looks for peers that died, and calls fly_peer_died for each. NULL: it cannot know. */
    void (*watch)(struct fly_carrier *c);
    /* Records which rank died first, for peers that find this process ended; or NULL. */
    void (*say_dead)(struct fly_carrier *c, int dead);
    /* Allocates the memory of a window (NULL: any memory serves), exposes it to the members, and
       hides it again. `whole` false: this rank cannot expose it, and the call lets the others know,
       so that they do not wait. */
    int (*allocate)(struct fly_carrier *c, size_t bytes, struct fly_memory *memory);
    int (*expose)(struct fly_carrier *c, struct fly_win *win, bool whole);
    void (*hide)(struct fly_carrier *c, struct fly_win *win);
    /* Reads or writes the memory of another process by the kernel. NULL: it cannot. */
    int (*reach_in)(struct fly_carrier *c, int peer, void *here, uint64_t there, size_t bytes,
                    bool write);
    /* Lends the memory of a window: `loan` is what the others must know to access it, or all 0:
       nothing is lent. NULL: only packets of this transport reach memory. */
    void (*lend)(struct fly_carrier *c, struct fly_win *win, uint64_t loan[FLY_LOAN_WORDS]);
    void (*reclaim)(struct fly_carrier *c, struct fly_win *win);
    /* How `bytes` travel to or from lent memory, at the place that the packet (PUT, GET) names. */
    enum fly_transfer (*transfer)(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                                  const uint64_t *loan, size_t bytes);
    /* Whether bytes that the packet would change are being read, so that it has to wait. */
    bool (*reading)(const struct fly_carrier *c, int peer, const struct fly_packet *packet);
    /* Moves bytes to or from the place that the packet (PUT, GET) names, and notifies the target as
       the packet would. FLY_TRANSFER_KEPT: calls fly_pending_done with `token` when it is done. */
    int (*write)(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                 const uint64_t *loan, const void *src, size_t bytes, uint32_t token);
    int (*read)(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                const uint64_t *loan, void *dst, size_t bytes, uint32_t token);
    /* Bytes that travel inside a notification. NULL: FLY_INLINE. */
    size_t (*inside)(const struct fly_carrier *c, int peer);
    /* Describes how bytes travel to a peer, and why not faster. NULL: they always go the same. */
    void (*tell)(const struct fly_carrier *c, int peer, char *text, size_t room);
    void (*close)(struct fly_carrier *c);
};

/* Fills in which node this is: processes of one node have the same. It is in shm.c. */
int fly_node_tell(struct fly_hello *mine);

struct fly_carrier {
    const struct fly_carrier_ops *ops;
    struct fly_rt *rt;
};

/* All transports of this build, in order of preference; NULL ends them. */
extern const struct fly_carrier_ops *const fly_transports[];

#endif
