/* The nouns of the runtime: runtime, peer, team, window, request. One lock guards all of a runtime.
 */
#ifndef FLY_CORE_H
#define FLY_CORE_H

#include <pthread.h>
#include <stdio.h>

#include "atomics.h"
#include "inlet.h"
#include "match.h"
#include "transport.h"

enum { FLY_CARRIERS = 5, FLY_LOOKS = 12, FLY_LOOKS_ALONE = 256, FLY_LOOKS_BESIDE = 16 };
/* Turns from one look for peers that died to the next; waits that see one transport alone. */
enum { FLY_WATCH_TURNS = 4096, FLY_WAITS_BESIDE = 8 };
/* Of credits: notifications have as many as the user says, other packets a few of their own. */
enum { FLY_CLASS_NOTE, FLY_CLASS_OTHER, FLY_CLASSES };
enum { FLY_OTHER_CREDITS = 32, FLY_REPLIES_MAX = 8 };

struct fly_quota {
    uint64_t sent, may; /* towards the peer: so many, of so many as was last seen */
    uint64_t limit;     /* under way: what was returned and this is `may` */
    const fly_word *returned; /* of `sent`: written by the peer, or from its packets into `back` */
    fly_word back;
    uint64_t taken, tell_at; /* from the peer: so many; it is told when they are so many */
};

struct fly_peer {
    struct fly_carrier *via;
    struct fly_inlet inlet; /* where packets are written in place; none: send */
    bool quick;             /* there is one, the peer lives, and the runtime has no lock */
    struct fly_quota quota[FLY_CLASSES];
    uint64_t puts, puts_done; /* packets FLY_K_PUT to the peer, and those it said it has done */
    uint64_t executed;        /* of the peer's, here */
    const fly_word *done_at; /* puts_done is here, and need not be asked for; or NULL */
    fly_word *tell_done;     /* where the peer sees `executed`; or NULL */
    uint32_t replies;         /* answers that are awaited from it */
    bool dead;
    bool wanted;    /* a call that looks again and again waits for it: alive.c */
    uint32_t sought; /* looks of fly_tend that found it awaited, one after the other */
    uint64_t lost_ns; /* in fly_finalize: when its connection ended, or 0 */
};

/* Which path puts over libfabric take: ofi.h. */
enum fly_path { FLY_PATH_BEST, FLY_PATH_MESSAGE, FLY_PATH_DATA, FLY_PATH_BEHIND,
                FLY_PATH_DELIVERED, FLY_PATH_NARROW };

struct fly_settings {
    const char *transports, *provider;
    int path;            /* enum fly_path */
    uint64_t path_least; /* bytes from which on puts take it; UINT64_MAX: as measured */
    int threads, progress;
    uint32_t credits, timeout_ms;
    uint32_t start_ms;   /* how long others are awaited until all have started; 0: for ever */
    uint64_t unexpected_max;
    uint64_t piece_bytes; /* behind a packet, at most; 0: as many as the transport takes */
    char names[64], provider_name[64];
};

/* A barrier that also tells everybody the largest of the members' values. */
struct fly_agree {
    uint64_t epoch;
    int rounds;
    struct fly_round {
        uint64_t value;
        bool here;
    } *got[2]; /* by the parity of the epoch: a member is at most one ahead */
};

enum fly_object_kind { FLY_IS_TEAM = 0x7465616D, FLY_IS_WINDOW = 0x77696E64 };

/* What packets name by a number: the same at all members. */
struct fly_object {
    enum fly_object_kind kind;
    uint32_t id;
    struct fly_team *team; /* of a window; a team's own */
    struct fly_agree agree;
};

struct fly_team {
    struct fly_object object;
    struct fly_rt *rt;
    int rank, size;
    int *world; /* ranks of the members; NULL: all, in order */
    fly_boot boot;
    size_t windows;
    struct fly_coll *coll; /* collectives: coll/coll.h */
};

/* One cache line a member, shared by the processes of a node where they share memory. */
struct fly_entry {
    fly_word lock, master; /* sync.c */
    uint64_t bytes, unit, address;
    uint64_t loan[FLY_LOAN_WORDS];
};

_Static_assert(sizeof(struct fly_entry) == 64, "the budget: 64 bytes a member and node");

enum fly_reach {
    FLY_REMOTE, /* the target executes packets */
    FLY_DIRECT, /* loads and stores */
    FLY_KERNEL  /* system calls that copy between processes; atomics by packets */
};

struct fly_member {
    unsigned char *base; /* FLY_DIRECT */
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
    struct fly_memory memory; /* what the library made for it */
    bool created;
    int tag_ub;
    struct fly_entry *table;
    struct fly_memory table_memory; /* none where another owns it */
    bool table_shared;
    struct fly_member *members;
    struct fly_match match;
    int *held; /* ring of peers whose credit waits for room in the unexpected list */
    size_t held_room, held_count, held_first;
    struct fly_req *requests; /* all, in a list */
    size_t operations;         /* that await an answer */
    size_t collectives; /* of a team's inner window: that run, or that nobody has waited for yet */
    void *shown, *lent;        /* the transports' that share memory, and that lend it */
    struct fly_sync *sync;     /* sync.c */
    int late;                  /* puts that wait for the end of an epoch */
    int refused; /* FLY_OK, or why a target could not answer: told by the next flush */
};

enum fly_req_kind { FLY_R_NOTIFY = 0x6E6F7465, FLY_R_OPERATION = 0x6F706572,
                    FLY_R_SCHEDULE = 0x73636865 };

struct fly_req {
    struct fly_want want;
    enum fly_req_kind kind;
    int error;
    struct fly_win *win; /* NULL: it is gone, and so is rt */
    struct fly_rt *rt;
    bool active, null_source;
    bool quick; /* a plain one, of a runtime without locks where nobody has died: request.c */
    uint64_t recorded; /* record.h: its number, or that of its ask */
    struct fly_req *next, *prev;
};

/* An operation that awaits an answer. */
struct fly_pending {
    struct fly_win *win;
    struct fly_req *req;
    void *into; /* of a get; `old` of an atomic */
    fly_shape shape;
    size_t skip; /* of its bytes: of a get in parts */
    bool atomic, used;
    bool moved; /* by a write or read, whose end the transport tells */
    int peer;
    uint32_t next_free;
    int *state; /* of who waits here: becomes 1, or an error below 0 */
};

struct fly_rt {
    int rank, size;
    fly_boot boot;
    bool own_boot, locked, stopping, threaded;
    bool finalizing; /* in fly_finalize: connections that end are no deaths */
    bool crowded; /* ranks of this node share a processor */
    int crowd;    /* ranks for each processor that they may use, rounded up */
    bool leaving; /* by a finalize that all have come to: not a death */
    struct fly_settings settings;
    struct fly_team world;
    struct fly_peer *peers;
    struct fly_carrier *carriers[FLY_CARRIERS];
    int carrier_count;
    struct fly_carrier *only; /* the one there is, where it can spin */
    struct fly_outlet *from; /* the ring of a peer on the node that is looked at next, or NULL */
    int near;                /* such peers, with this rank; 0: none */
    int rounds;              /* of looks at their rings, before a wait turns to all, or yields */
    uint32_t every;          /* so many waits one turns to all in any case; a power of two */
    struct fly_object **objects; /* by number, open addressing */
    size_t object_room, object_count;
    struct fly_object *last; /* found */
    uint32_t next_object;
    struct fly_pending *pending;
    uint32_t pending_room, pending_free;
    size_t windows, teams, deaths;
    int first_dead; /* of several that died: others may have ended because of it */
    uint32_t turns;
    bool unheard; /* ends of some peers show only to who asks */
    uint32_t tended; /* turns, of which fly_tend has every few */
    uint64_t heed_ns, seek_ns; /* when deaths are looked for next, and who is awaited */
    int seek_at;               /* the peer that is asked first, then */
    struct fly_coll *colls;
    size_t scheds; /* collectives that run, or deaths to be told of */
    size_t casts;  /* of them by multicast: its datagrams wake nobody */
    struct fly_record *record; /* NULL: not recorded */
    pthread_mutex_t lock;
    pthread_t thread;
};

/* error.c: puts the text of an error together, and returns its code. */
int fly_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* FLY_ERR_PEER, with the rank that died first; `peer`, -1 for none, is the one that is needed, and
   may have ended because of that. Ranks are those of the world. */
int fly_fail_dead(const struct fly_rt *rt, const char *call, int peer);

/* boot_files.c: gathers over a boot's ranks; an error says why it could not, as far as is known. */
int fly_boot_gather(const fly_boot *boot, const char *what, const void *mine, void *all,
                    size_t bytes);

/* runtime.c: collective; FLY_OK where `code` is that at every rank. */
int fly_all_could(struct fly_rt *rt, const char *what, int code);

/* settings.c */
int fly_settings_read(const fly_config *config, struct fly_settings *settings);
/* FLYLOOM_START_TIMEOUT_MS. */
int fly_settings_start(uint32_t *start_ms);
/* Bits of the transports in the order of settings; *count of them. */
int fly_settings_transports(const struct fly_settings *settings, int order[FLY_CARRIERS],
                            int *count);

/* names.c: reports each FLYLOOM_ name in the environment that nothing reads, a line each. */
void fly_names_unknown(FILE *out);

/* progress.c */
void fly_enter_locked(struct fly_rt *rt);
void fly_leave_locked(struct fly_rt *rt);
static inline void fly_enter(struct fly_rt *rt) {
    if (rt->locked) fly_enter_locked(rt);
}
static inline void fly_leave(struct fly_rt *rt) {
    if (rt->locked) fly_leave_locked(rt);
}
/* Polls all transports; how many packets came. */
int fly_turn(struct fly_rt *rt);
/* Looks for peers that died; fly_look_after does it now and then, and goes on with the
   collectives that are under way. */
void fly_watch(struct fly_rt *rt);
void fly_coll_turn(struct fly_rt *rt);
static inline void fly_look_after(struct fly_rt *rt) {
    if (++rt->turns % FLY_WATCH_TURNS == 0) fly_watch(rt);
    if (rt->scheds != 0) fly_coll_turn(rt);
}
/* Whether a wait has to look at more than what comes to it first. */
static inline bool fly_look_is_due(const struct fly_rt *rt) {
    return ((rt->turns + 1) & (rt->every - 1)) == 0 || rt->scheds != 0;
}
/* alive.c: looks for deaths, where that was not done of late: in calls that reach memory without
   waiting for anybody. Costs a look at a coarse clock. */
void fly_heed(struct fly_rt *rt);
/* The same, from turns; and where ends are unheard whoever is waited for is asked now and then:
   by an active request, an epoch, an operation, or a call (`wanted`). */
void fly_tend(struct fly_rt *rt);
/* The same from a call that may end without waiting, in which a peer, or all members of the window,
   must live. */
void fly_heed_peer(struct fly_rt *rt, int peer);
void fly_heed_members(struct fly_win *win);
/* Asks a peer whether it lives. */
void fly_ask_after(struct fly_rt *rt, int peer);
struct fly_pause {
    struct fly_rt *rt;
    uint32_t turns, checks; /* turns since something came; all */
    uint64_t began_ns;
    int awaited; /* 1 + the peer that must do something for the wait to end; 0: not one alone */
    uint64_t ask_ns, asked_after_ns; /* when it is asked next whether it lives */
    const struct fly_want *until; /* what is waited for, where that is one request */
};
/* One step of waiting for something: a turn, then patience that grows; the lock is let go. */
void fly_wait_more(struct fly_pause *pause);
uint64_t fly_now_ns(void);
/* A credit towards a peer: FLY_OK, FLY_ERR_PEER, or FLY_ERR_TIMEOUT unless patient. */
int fly_credit(struct fly_rt *rt, int peer, int class, bool patient);
/* Whether one is there now. */
bool fly_credit_there(struct fly_rt *rt, int peer, int class);
/* Tells a peer now what was taken of its packets. */
void fly_give_now(struct fly_rt *rt, int peer);
/* It is told next when half of its credits are used. */
void fly_give_next(const struct fly_rt *rt, struct fly_peer *peer);
/* A packet of the peer was taken off the transport; the credit goes back, soon. */
static inline void fly_give_back(struct fly_rt *rt, int peer, int class) {
    struct fly_quota *quota = &rt->peers[peer].quota[class];
    if (++quota->taken == quota->tell_at) fly_give_now(rt, peer);
}
/* Waits until what was sent to a peer has left: a call that the peer waits for may be the last one
   here for long. Not for ever: a peer that takes nothing may wait for this rank elsewhere. */
void fly_let_out(struct fly_rt *rt, int peer);
/* Room for one more answer from a peer. */
int fly_answer_room(struct fly_rt *rt, int peer);
int fly_send(struct fly_rt *rt, int peer, const struct fly_packet *packet, const void *data,
             size_t bytes);

/* remote.c. false: no memory; the packet stays with the transport, which tries again. */
bool fly_packet_arrived(struct fly_rt *rt, int peer, const struct fly_packet *packet,
                        const void *data, size_t bytes);
void fly_peer_died(struct fly_rt *rt, int peer);
/* As another says: 1 + the rank; 0, where the other does not know, and what is no rank are none. */
void fly_peer_died_said(struct fly_rt *rt, uint64_t said);
/* The rank that died first, as it is said to others: 1 + it, or 0. */
static inline uint32_t fly_dead_word(const struct fly_rt *rt) {
    return rt->deaths == 0 ? 0 : (uint32_t)rt->first_dead + 1;
}
/* Nothing can be sent to it any more: it has died, or in fly_finalize it may have left. */
void fly_peer_lost(struct fly_rt *rt, int peer);
bool fly_notification(struct fly_win *win, int peer, int source, int tag, const void *data,
                      size_t bytes);
/* Gives back credits that were held where the unexpected list has room again. */
void fly_held_release(struct fly_win *win);
int fly_ask(struct fly_rt *rt, int peer);
/* A slot for an answer, or UINT32_MAX: no memory. */
uint32_t fly_pending_new(struct fly_rt *rt);
/* Calls run for each piece that is whole on both sides, in order, until one returns another than
   FLY_OK; equal totals. */
typedef int fly_run(void *context, ptrdiff_t to, ptrdiff_t from, size_t bytes);
int fly_each_run(const fly_shape *to, const fly_shape *from, fly_run *run, void *context);
void fly_copy_shape(unsigned char *to, const fly_shape *to_shape, const unsigned char *from,
                    const fly_shape *from_shape);

/* agree.c */
int fly_agree_init(struct fly_agree *agree, int size);
void fly_agree_end(struct fly_agree *agree);
/* Collective: waits for all members; *value becomes the largest. FLY_ERR_PEER: one is dead. */
int fly_agree(struct fly_rt *rt, struct fly_object *object, uint64_t *value);
void fly_agree_arrived(struct fly_object *object, const struct fly_packet *packet);

/* objects.c */
int fly_object_add(struct fly_rt *rt, struct fly_object *object);
void fly_object_remove(struct fly_rt *rt, const struct fly_object *object);
struct fly_object *fly_object_find(struct fly_rt *rt, uint32_t id);

/* team.c */
static inline int fly_world_rank(const struct fly_team *team, int rank) {
    return team->world == NULL ? rank : team->world[rank];
}
int fly_team_rank(const struct fly_team *team, int world);
int fly_team_set(struct fly_team *team, struct fly_rt *rt, const fly_boot *boot, int *world);
void fly_team_clear(struct fly_team *team);

/* window.c: a window of the library's own, that no team or runtime counts; freed without the
   others. Whole pages, from the transport that wants to make them. */
int fly_win_inner(struct fly_team *team, size_t bytes, void **base, struct fly_win **win);
void fly_win_drop(struct fly_win *win);
int fly_memory_get(struct fly_rt *rt, size_t bytes, struct fly_memory *memory);
void fly_memory_free(struct fly_memory *memory);

/* access.c */
int fly_complete(struct fly_win *win, int rank);
int fly_complete_all(struct fly_win *win);
/* FLY_ERR_PEER where it is known that a member has died. */
int fly_member_died(const struct fly_win *win);
/* The same where a barrier of the window follows. Of two members each asks nothing: the other takes
   its packet of the barrier behind all that it has put. */
int fly_complete_before_barrier(struct fly_win *win);
/* An atomic on a word of a member's entry; waits for the answer. */
int fly_control(struct fly_win *win, int rank, int operation, size_t field, uint64_t first,
                uint64_t second, uint64_t *old);
/* FLY_OK, an error, or FLY_NOTHING for FLY_PROC_NULL. */
enum { FLY_NOTHING = -1 };
int fly_target(const struct fly_win *win, const char *call, int target);

/* coll/ */
bool fly_coll_arrived(struct fly_win *win, int peer, const struct fly_packet *packet,
                      const void *data, size_t bytes);
/* The request of a collective is started again; freed. */
int fly_coll_restart(struct fly_req *req);
void fly_coll_release(struct fly_req *req);
/* Waits for it, with the lock. */
void fly_coll_await(struct fly_req *req);
/* Collectives that users have not waited for, and the end of all; alone in a team. */
bool fly_coll_busy(const struct fly_team *team);
void fly_coll_end(struct fly_team *team);

/* request.c */
struct fly_req *fly_req_new(struct fly_win *win, enum fly_req_kind kind);
void fly_req_drop(struct fly_req *req);
/* Its window goes: it is inactive, and can only be freed. */
void fly_req_orphan(struct fly_req *req);

/* sync.c */
int fly_sync_init(struct fly_win *win);
void fly_sync_end(struct fly_win *win);
bool fly_sync_open(const struct fly_win *win);
bool fly_sync_arrived(struct fly_win *win, int source, int kind);

#endif
