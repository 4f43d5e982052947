/* The seam between the core and what carries packets; one file a transport.
 *
 * A transport takes packets from one rank to another: whole, once, in order between the two. The
 * core has asked for the credit before it sends, so that a transport always has room: `send` fails
 * only where the peer or memory is gone. What arrives is handed to fly_packet_arrived.
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

/* What a member tells of memory that a transport lends the others: the transport's alone. */
enum { FLY_LOAN_WORDS = 3 };
/* How the bytes of a put or get travel: behind a packet, by a write or read of the target's memory
   that has copied the user's, or by one to or from the user's, which must stay until its end. */
enum fly_way { FLY_WAY_MESSAGE, FLY_WAY_COPIED, FLY_WAY_KEPT };

/* Memory that a window may have: private, or of a file that others map. */
struct fly_memory {
    void *base;
    size_t mapped; /* bytes, whole pages */
    int file;      /* -1: private */
};

/* What a rank tells all others before anything is connected; filled by each transport. */
struct fly_hello {
    uint64_t magic;
    uint32_t abi;
    uint32_t order, works; /* the transports asked for; bits of those that work here */
    int32_t error;         /* of fly_init before it could talk */
    uint32_t credits;
    unsigned char node[16], token[16]; /* shm: which kernel and network; name of the socket */
    unsigned char secret[16]; /* shm: who calls there must know it; told by the bootstrap alone */
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
    bool late; /* dear to prepare: only where the others do not reach all */
    /* Before anything is told: what others must know to connect. */
    int (*prepare)(struct fly_rt *rt, struct fly_hello *mine, struct fly_carrier **made);
    /* Which peers are reached, by the hellos alone: the same answer at both ends. */
    bool (*reaches)(const struct fly_carrier *c, const struct fly_hello *mine,
                    const struct fly_hello *theirs);
    /* Connects to the peers whose carrier this is. */
    int (*connect)(struct fly_carrier *c, const struct fly_hello *all);
    int (*send)(struct fly_carrier *c, int peer, const struct fly_packet *packet, const void *data,
                size_t bytes);
    /* What was sent to the peer and has not left: only calls go on with it. NULL: all has. */
    uint64_t (*unsent)(const struct fly_carrier *c, int peer);
    /* Takes what has arrived; how many packets. */
    int (*poll)(struct fly_carrier *c);
    /* Looks so often whether something has arrived, takes that, and no more once `until` is
       complete; how many packets. NULL: poll. */
    int (*spin)(struct fly_carrier *c, int looks, const struct fly_want *until);
    /* Credits of `peer` that were taken since: told by a word in memory; NULL: by packets. */
    void (*give)(struct fly_carrier *c, int peer);
    /* Sleeps until something may have come, at most so long; called unlocked. NULL: cannot. */
    void (*rest)(struct fly_carrier *c, uint32_t microseconds);
    /* The end of a peer shows only by what is sent to it: who waits for it asks now and then. */
    bool ends_unheard;
    /* Looks whether a peer that says nothing lives; if not, fly_peer_lost. NULL: cannot. */
    void (*doubt)(struct fly_carrier *c, int peer);
    /* Looks for peers that died: fly_peer_died for each. NULL: cannot know. */
    void (*watch)(struct fly_carrier *c);
    /* Leaves word for those who find this process ended which rank had died before; or NULL. */
    void (*say_dead)(struct fly_carrier *c, int dead);
    /* Memory of a window: made (or NULL: made anywhere), shown to the members, hidden again.
       `whole` false: it will not be; the others are told, so that they do not wait. */
    int (*allocate)(struct fly_carrier *c, size_t bytes, struct fly_memory *memory);
    int (*expose)(struct fly_carrier *c, struct fly_win *win, bool whole);
    void (*hide)(struct fly_carrier *c, struct fly_win *win);
    /* Reads or writes the memory of another process by the kernel; NULL: cannot. */
    int (*reach_in)(struct fly_carrier *c, int peer, void *here, uint64_t there, size_t bytes,
                    bool write);
    /* Lends the memory of a window: what others must know, before they do; all 0: nothing is.
       NULL: this transport's packets alone reach memory. */
    void (*lend)(struct fly_carrier *c, struct fly_win *win, uint64_t loan[FLY_LOAN_WORDS]);
    void (*reclaim)(struct fly_carrier *c, struct fly_win *win);
    /* The way of so many bytes to or from memory lent so, where the packet (PUT, GET) says. */
    enum fly_way (*way)(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                        const uint64_t *loan, size_t bytes);
    /* Whether bytes that the packet would change are being read: it waits. */
    bool (*reading)(const struct fly_carrier *c, int peer, const struct fly_packet *packet);
    /* Moves bytes to or from where the packet says (PUT, GET), and tells the target as that would.
       FLY_WAY_KEPT: fly_pending_done with `token` at its end. */
    int (*write)(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                 const uint64_t *loan, const void *src, size_t bytes, uint32_t token);
    int (*read)(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                const uint64_t *loan, void *dst, size_t bytes, uint32_t token);
    /* Bytes that travel inside a notification. NULL: FLY_INLINE. */
    size_t (*inside)(const struct fly_carrier *c, int peer);
    /* In words, how bytes travel to a peer, and why no better. NULL: there is one way. */
    void (*tell)(const struct fly_carrier *c, int peer, char *text, size_t room);
    void (*close)(struct fly_carrier *c);
};

/* Which node this is, into the hello: processes of one have the same. Its file is shm.c. */
int fly_node_tell(struct fly_hello *mine);

struct fly_carrier {
    const struct fly_carrier_ops *ops;
    struct fly_rt *rt;
};

/* All that were built, in order of preference; ends with NULL. */
extern const struct fly_carrier_ops *const fly_transports[];

#endif
