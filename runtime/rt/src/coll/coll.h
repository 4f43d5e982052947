/* Collectives. A schedule is rounds of messages and local work, built once for each set of
 * arguments and run many times. One file for each operation; engine.c runs the schedules that they
 * build.
 *
 * A message of at most FLY_COLL_INLINE bytes travels in a packet and waits at the receiver until
 * its round. A longer one goes in pieces: the receiver announces where a piece may be put (READY),
 * the sender puts it there and announces that (PIECE). So no rank ever writes where another still
 * reads, however far it is ahead. Between processes of a node that may read each other's memory, a
 * message of at least FLY_COLL_LONG bytes is copied once: the receiver asks where it is (ASK), the
 * sender answers when it comes to that round (PLACE), the receiver reads it there and confirms it
 * (TAKEN). Sender, number of the collective in its team, and tag identify a packet.
 */
#ifndef FLY_COLL_H
#define FLY_COLL_H

#include "flyloom_coll.h"
#include "lane.h"
#include "settings.h"
#include "state.h"

enum { FLY_COLL_PIECE = 16384, FLY_COLL_DEPTH = 2 };
/* A message that is read to be folded is read one piece at a time; its pieces are this many times
   as long. */
enum { FLY_COLL_READ = 4 };
/* Up to this many bytes of pieces a schedule announces all places at its start; beyond, it does so
   round by round. */
enum { FLY_COLL_EARLY = 65536 };
enum { FLY_COLL_HEAP = 4 << 20, FLY_COLL_KEPT = 64, FLY_COLL_BUCKETS = 64 };

/* What is done with a received message: its bytes are copied, or folded into those that are there.
   LEFT: they come from lower ranks than those. */
enum fly_take { FLY_TAKE_COPY, FLY_TAKE_LEFT, FLY_TAKE_RIGHT, FLY_TAKE_SHAPED };
/* The `flags` of a packet say what it is: below this one of engine.c, from here on one of
   multicast.h. */
enum { FLY_WHAT_CAST = 16 };

struct fly_local_work { /* local work: a copy, or a fold, of `from` into `to` */
    void *to, *from;
    size_t bytes; /* for SHAPED, the index into the schedule's shapes */
    enum fly_take take;
};

struct fly_shape_copy { /* a copy from blocks of one shape to blocks of another */
    fly_shape to, from;
};

struct fly_sending {
    const unsigned char *from;
    size_t bytes, sent;
    int peer, tag;
    bool done;
    bool asked, place_sent, taken; /* ASK came, PLACE was sent, TAKEN came */
    uint8_t ready;
    struct {
        uint64_t offset, bytes;
    } at[FLY_COLL_DEPTH]; /* where the receiver lets the next pieces be put, oldest first */
};

struct fly_receiving {
    unsigned char *to;
    const unsigned char *own; /* this rank's part of a fold; NULL: it is in `to` */
    size_t bytes, taken, called; /* how many of `bytes` were taken, and announced room for */
    int peer, tag;
    enum fly_take take;
    bool done;
    bool reads;                    /* the message is read in the sender's memory, at `place` */
    uint32_t calls, arrived, used; /* counts of pieces; a message inline or read is one piece */
    uint64_t place;
    size_t piece;                  /* bytes of one piece */
    uint64_t offset;               /* where its FLY_COLL_DEPTH pieces are */
    _Alignas(16) unsigned char inside[FLY_COLL_INLINE];
};

struct fly_span { /* the start of a round in each list, up to the next round's */
    size_t local, sending, receiving;
};

struct fly_sched;
struct fly_call;
struct fly_graph;
struct fly_cast;
struct fly_broadcast;
typedef void fly_build(struct fly_sched *sched, const struct fly_call *call);

/* What a schedule is for: calls with an equal key can use the same one. */
struct fly_key {
    fly_build *build;
    const void *send;
    void *receive;
    size_t bytes;     /* bytes of a block or of everything, by operation */
    fly_fold fold;
    int root, operation, algorithm;
    size_t parameter; /* the algorithm's: n, or the bytes of a segment */
};

/* A collective call that has been checked, with the algorithm that was chosen for it. */
struct fly_call {
    const char *name;
    struct fly_team *team;
    struct fly_coll *coll;
    struct fly_key key;
    int rank, size;          /* in the team */
    int parts;               /* P for the model: ranks, or the most neighbours of one rank */
    const struct fly_graph *graph; /* for a neighbour collective */
    const size_t *arrays[4]; /* for a call with counts for each rank */
    size_t lengths[4];
};

struct fly_sched {
    struct fly_req req; /* must be the first member */
    struct fly_coll *coll;
    struct fly_key key;
    size_t *vector; /* copies of the arrays of the call, one behind the other */
    size_t vector_count;
    struct fly_local_work *locals;
    struct fly_shape_copy *shapeds;
    struct fly_sending *sendings;
    struct fly_receiving *receivings;
    struct fly_span *rounds;
    size_t local_count, shaped_count, sending_count, receiving_count, round_count;
    size_t local_room, shaped_room, sending_room, receiving_room, round_room;
    uint32_t *places; /* open addressing: 0, or 1 + index: receivings, then sendings */
    size_t place_room;
    void **temporaries;
    size_t temporary_count;
    uint64_t heap_offset, heap_bytes;
    struct fly_broadcast *casting; /* the state of a broadcast by multicast; NULL: it is none */
    char *described; /* a neighbour collective's edges, for dump.c; or NULL */
    bool early;  /* places are announced at the start, not when a round begins */
    bool reads;  /* some messages are read in their senders' memory */
    bool failed; /* building it failed */
    bool persistent;
    /* the state while it runs */
    uint64_t number;
    size_t round;
    bool begun;
    int error; /* a rank's memory cannot be read any more */
    struct fly_sched *next_running, *before_running, *next_numbered;
    struct fly_sched *older, *newer, *next_kept; /* lists of the kept ones, and of their bucket */
};

struct fly_early_packet { /* a packet of a collective that has not been started here */
    struct fly_early_packet *next;
    struct fly_packet packet;
};

/* The collectives of a team; made by the first one. */
struct fly_coll {
    struct fly_team *team;
    struct fly_rt *rt;
    struct fly_win *win; /* its memory: the heap, then a lane from each rank */
    unsigned char *heap;
    struct fly_lanes *lanes; /* by rank in the team */
    struct fly_block {
        uint64_t offset, bytes;
    } *blocks; /* the allocated blocks of the heap, in order */
    size_t block_count, block_room;
    uint64_t next; /* number of the next collective */
    struct fly_sched *running, *last_running, *numbered[FLY_COLL_BUCKETS];
    struct fly_early_packet *early[FLY_COLL_BUCKETS], *early_last[FLY_COLL_BUCKETS], *spare;
    struct fly_sched *kept[FLY_COLL_BUCKETS], *oldest, *newest;
    size_t kept_count;
    bool death_heard, broken; /* another rank reports a death; the collectives have ended */
    int to_tell;          /* how many members are not informed of it yet */
    uint64_t next_ask_ns; /* when a silent rank is asked whether it is there */
    struct fly_coll_settings settings;
    struct fly_memo { /* the last choice of an algorithm */
        bool there, ordered;
        int algorithm, parts;
        size_t parameter, bytes;
    } memos[FLY_C_OPERATIONS];
    void *claims; /* used by check.c */
    struct fly_cast *cast; /* multicast.h; NULL: not asked for */
    struct fly_graph *graphs;
    int graph_count; /* how many were ever made */
    struct fly_coll *next_coll; /* list of the runtime */
};

/* schedule.c: what operations build schedules with. A schedule remembers that building it
   failed. */
void fly_round(struct fly_sched *s);
/* These add messages to the round; nothing where `bytes` is 0. */
void fly_send_to(struct fly_sched *s, int peer, int tag, const void *from, size_t bytes);
void fly_receive_from(struct fly_sched *s, int peer, int tag, void *to, size_t bytes);
void fly_fold_from(struct fly_sched *s, int peer, int tag, void *to, size_t bytes,
                   enum fly_take take);
/* As fly_fold_from, with this rank's part in `own`, which is not written; NULL: it is in `to`. */
void fly_fold_onto(struct fly_sched *s, int peer, int tag, void *to, const void *own, size_t bytes,
                   enum fly_take take);
/* These add messages without bytes. */
void fly_signal(struct fly_sched *s, int peer, int tag);
void fly_await(struct fly_sched *s, int peer, int tag);
/* Local work is done at the beginning of the round, in order, before anything is sent. */
void fly_copy(struct fly_sched *s, void *to, const void *from, size_t bytes);
void fly_fold_local(struct fly_sched *s, void *to, void *from, size_t bytes, enum fly_take take);
/* Copies blocks between shapes that have the same number of bytes. */
void fly_copy_shaped(struct fly_sched *s, void *to, const fly_shape *to_shape, const void *from,
                     const fly_shape *from_shape);
/* Memory that lives as long as the schedule; NULL where bytes is 0 or the schedule has failed. */
void *fly_temporary(struct fly_sched *s, size_t bytes);
struct fly_sched *fly_sched_new(const struct fly_call *call, int *code);
void fly_sched_free(struct fly_sched *s);
/* Where a piece of a message is received, as an offset in the heap; pieces are counted from 0. */
uint64_t fly_piece_at(const struct fly_sched *s, const struct fly_receiving *r, uint32_t piece);
struct fly_receiving *fly_find_receiving(const struct fly_sched *s, int peer, int tag);
struct fly_sending *fly_find_sending(const struct fly_sched *s, int peer, int tag);

/* heap.c: the memory into which peers put pieces. */
bool fly_heap_get(struct fly_coll *coll, uint64_t bytes, uint64_t *offset);
void fly_heap_give(struct fly_coll *coll, uint64_t offset);

/* multicast.c, multicast_open.c: broadcasts by multicast. */
void fly_cast_open(struct fly_coll *coll); /* collective, where any rank wants it */
void fly_cast_close(struct fly_coll *coll);
void fly_cast_build(struct fly_sched *s, const struct fly_call *call);
/* The bytes of the heap that repairs need; a smaller `most` makes them fewer. */
uint64_t fly_cast_room(struct fly_sched *s, size_t most);
void fly_cast_reset(struct fly_sched *s);
/* Advances the broadcast; returns whether it is done. */
bool fly_cast_step(struct fly_sched *s);
void fly_cast_deliver(struct fly_sched *s, int rank, const struct fly_packet *packet);
/* The next rank after `rank` that is waited for; -1: none. */
int fly_cast_awaited(const struct fly_sched *s, int rank);
/* dump.c: writes what ran, a line for each step, for a checker that computes the result itself. */
void fly_dump(const struct fly_sched *s);

/* fold.c: makes `to` of from . own (LEFT), or own . from (RIGHT); `own` may be `to`, and `from` may
   be overwritten. */
void fly_apply(const fly_fold *fold, void *to, const void *own, void *from, size_t bytes,
               enum fly_take take);
/* Checks a fold, and gives the bytes of one element. */
int fly_fold_check(const char *call, const fly_fold *fold, size_t *bytes);
size_t fly_fold_bytes(const fly_fold *fold);

/* cache.c */
struct fly_sched *fly_kept_take(struct fly_coll *coll, const struct fly_call *call);
void fly_kept_put(struct fly_sched *s);
bool fly_kept_drop_oldest(struct fly_coll *coll);

/* barrier.c: exported, because a test checks its schedules for all P and n. */
fly_build fly_barrier_build;
/* check.c: with FLYLOOM_CHECK=1, returns ARG at all ranks where the arguments of two differ. */
int fly_call_compare(struct fly_call *call);
/* This rank's arguments are refused, which FLYLOOM_CHECK=1 reports to the other ranks. Returns the
   code. */
int fly_call_refused(struct fly_call *call, int code);
/* blocks.c: finds where the last of `count` blocks ends; ARG where one does not fit into memory, or
   the arrays are missing. */
int fly_call_extent(const struct fly_call *call, const char *what, size_t count,
                    const size_t *bytes, const size_t *at, size_t *end);
/* ARG where two blocks that are written share bytes; `whose` names them in the error. */
int fly_call_disjoint(const struct fly_call *call, const char *whose, size_t count,
                      const size_t *bytes, const size_t *at);

/* choose.c: chooses the algorithm and its parameter, for `bytes` of each rank. */
void fly_call_choose(struct fly_call *call, size_t bytes);

#endif
