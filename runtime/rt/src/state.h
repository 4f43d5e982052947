/* The state of a runtime: its types that several files read and write. One lock guards all of it.
 *
 * A file that owns functions declares them in the header of its own name: progress.h, window.h.
 */
#ifndef FLY_STATE_H
#define FLY_STATE_H

#include <pthread.h>

#include "atomics.h"
#include "inlet.h"
#include "match.h"
#include "transport.h"

/* The most transports that a runtime can use at the same time. */
enum { FLY_CARRIERS = 5 };
/* Notifications have as many credits as the user sets. All other packets share a few of their own,
   so that a target that takes no notifications still answers. */
enum { FLY_CLASS_NOTE, FLY_CLASS_OTHER, FLY_CLASSES };
enum { FLY_OTHER_CREDITS = 32, FLY_REPLIES_MAX = 8 };

/* The credits of one class, in both directions between this rank and one peer. */
struct fly_quota {
    uint64_t sent, may; /* packets sent to the peer, and the count up to which that is allowed */
    uint64_t limit;     /* packets in flight at most: `may` is this plus what was returned */
    const fly_word *returned; /* the peer writes here; or it is `back`, filled from its packets */
    fly_word back;
    uint64_t taken, tell_at; /* the peer is sent the new count when `taken` reaches `tell_at` */
};

struct fly_peer {
    struct fly_carrier *via;
    struct fly_inlet inlet; /* packets are written here in place; without slots: use `send` */
    bool quick;             /* it has an inlet, it lives, and the runtime has no lock */
    struct fly_quota quota[FLY_CLASSES];
    uint64_t puts, puts_done; /* packets FLY_K_PUT to the peer, and those it has acknowledged */
    uint64_t executed;        /* packets FLY_K_PUT of the peer that this rank has executed */
    const fly_word *done_at; /* puts_done can be read here without asking; or NULL */
    fly_word *tell_done;     /* the peer reads `executed` here; or NULL */
    uint32_t replies;        /* answers that are awaited from it */
    bool dead;
    bool wanted;     /* a call that polls, and returns each time, waits for it: alive.c */
    uint32_t sought; /* consecutive looks of fly_tend that found it awaited */
    uint64_t lost_ns; /* in fly_finalize: when its connection ended, or 0 */
};

/* The path that puts over libfabric take: ofi.h. */
enum fly_path { FLY_PATH_BEST, FLY_PATH_MESSAGE, FLY_PATH_DATA, FLY_PATH_BEHIND,
                FLY_PATH_DELIVERED, FLY_PATH_NARROW };

struct fly_settings {
    const char *transports, *provider;
    int path;            /* enum fly_path */
    uint64_t path_least; /* puts of this many bytes or more take it; UINT64_MAX: as measured */
    int threads, progress;
    uint32_t credits, timeout_ms;
    uint32_t start_ms;   /* the start waits this long for the other ranks; 0: without a limit */
    uint64_t unexpected_max;
    uint64_t piece_bytes; /* behind a packet, at most; 0: as many as the transport takes */
    char names[64], provider_name[64];
};

/* A barrier that also gives every member the largest of their values: agree.c. */
struct fly_agree {
    uint64_t epoch;
    int rounds;
    struct fly_round {
        uint64_t value;
        bool here;
    } *got[2]; /* two, by the epoch's parity: a member is at most one ahead */
};

enum fly_object_kind { FLY_IS_TEAM = 0x7465616D, FLY_IS_WINDOW = 0x77696E64 };

/* What packets name by a number, which is the same at all members. */
struct fly_object {
    enum fly_object_kind kind;
    uint32_t id;
    struct fly_team *team; /* the window's team; of a team, itself */
    struct fly_agree agree;
};

struct fly_team {
    struct fly_object object;
    struct fly_rt *rt;
    int rank, size;
    int *world; /* the members' ranks in the world; NULL: all, in order */
    fly_boot boot;
    size_t windows;
    struct fly_coll *coll; /* the team's collectives: coll/coll.h */
};

/* One cache line for each member; processes of a node that share memory share it. */
struct fly_entry {
    fly_word lock, master; /* lock_words.h */
    uint64_t bytes, unit, address;
    uint64_t loan[FLY_LOAN_WORDS];
};

_Static_assert(sizeof(struct fly_entry) == 64, "the budget: 64 bytes a member and node");

/* How this rank accesses a member's memory. */
enum fly_reach {
    FLY_REMOTE, /* the target executes packets */
    FLY_DIRECT, /* loads and stores */
    FLY_KERNEL  /* system calls that copy between processes; atomics by packets */
};

struct fly_member {
    unsigned char *base; /* FLY_DIRECT alone has one */
    enum fly_reach reach;
    bool entry_shared; /* the member's entry is the one it uses itself */
};

struct fly_win {
    struct fly_object object;
    struct fly_rt *rt;
    struct fly_peer *peers; /* the runtime's */
    unsigned flags;
    void *base;
    size_t bytes, unit;
    struct fly_memory memory; /* what the library allocated for it */
    bool created;
    int tag_ub;
    struct fly_entry *table;
    struct fly_memory table_memory; /* empty where another process owns the table */
    bool table_shared;
    struct fly_member *members;
    struct fly_match match;
    int *held; /* ring buffer of peers whose credit waits for room in the unexpected list */
    size_t held_room, held_count, held_first;
    struct fly_req *requests; /* a list of all */
    size_t operations;        /* that await an answer */
    /* For a team's inner window: how many collectives run, or have not been waited for. */
    size_t collectives;
    void *shown, *lent;    /* belong to the transports that share memory, and that lend it */
    struct fly_sync *sync; /* sync.h */
    int late;              /* puts that wait for the end of an epoch */
    int refused; /* FLY_OK, or why a target could not answer: the next flush returns it */
};

enum fly_req_kind { FLY_R_NOTIFY = 0x6E6F7465, FLY_R_OPERATION = 0x6F706572,
                    FLY_R_SCHEDULE = 0x73636865 };

struct fly_req {
    struct fly_want want;
    enum fly_req_kind kind;
    int error;
    struct fly_win *win; /* NULL: the window is gone, and `rt` may not be used either */
    struct fly_rt *rt;
    bool active, null_source;
    bool quick; /* a plain one, of a runtime without locks where nobody has died: request.c */
    uint64_t recorded; /* the number of the request, or of its ask, in the record */
    struct fly_req *next, *prev;
};

/* An operation that awaits an answer. */
struct fly_pending {
    struct fly_win *win;
    struct fly_req *req;
    void *into; /* where the data of a get, or an atomic's old value, goes */
    fly_shape shape;
    size_t skip; /* for a get in parts, the bytes of the shape before this part */
    bool atomic, used;
    bool moved; /* a write or read, whose end the transport reports */
    int peer;
    uint32_t next_free;
    int *state; /* the waiting call's word: becomes 1, or an error below 0 */
};

struct fly_rt {
    int rank, size;
    fly_boot boot;
    bool own_boot, locked, stopping, threaded;
    bool finalizing; /* in fly_finalize: a connection that ends is no death */
    bool crowded; /* ranks of this node share a processor */
    int crowd;    /* ranks for each processor that they may use, rounded up */
    bool leaving; /* all ranks have come to fly_finalize: a process that ends is no death */
    struct fly_settings settings;
    struct fly_team world;
    struct fly_peer *peers;
    struct fly_carrier *carriers[FLY_CARRIERS];
    int carrier_count;
    struct fly_carrier *only; /* the single transport, where there is one and it can spin */
    struct fly_outlet *from; /* the ring of a peer on the node that is looked at next, or NULL */
    int near;       /* ranks of this node that have such rings, this one included; or 0 */
    int rounds;     /* looks at all their rings before a wait turns to all transports, or yields */
    uint32_t every; /* one wait in this many turns to all in any case; a power of two */
    struct fly_object **objects; /* hash table by number, open addressing */
    size_t object_room, object_count;
    struct fly_object *last; /* the one that was looked up last */
    uint32_t next_object;
    struct fly_pending *pending;
    uint32_t pending_room, pending_free;
    size_t windows, teams, deaths;
    int first_dead; /* the rank that died first: others may have ended because of it */
    uint32_t turns;
    bool unheard; /* the end of some peers shows only when something is sent to them */
    uint32_t tended; /* turns; fly_tend runs in one of a few */
    uint64_t heed_ns, seek_ns; /* when to look for deaths next, and for peers that are awaited */
    int seek_at;               /* the peer that is asked first then */
    struct fly_coll *colls;
    size_t scheds; /* collectives that run, or that have to report a death to other ranks */
    size_t casts;  /* how many of them use multicast, whose datagrams end no sleep */
    struct fly_record *record; /* NULL: nothing is recorded */
    pthread_mutex_t lock;
    pthread_t thread;
};

#endif
