/* Matching of notifications to requests by <source, tag>: pure, no I/O, constant time.
 *
 * One struct fly_match for each window and rank. Every notification is in four queues while no
 * request takes it: by (source, tag), by source, by tag, and all; so a request of any shape finds
 * the oldest that matches at the head of one queue. A posted request is in the one queue of its
 * shape; a notification compares the heads of four and takes the one that was started first. A
 * request that is posted alone, as most are, is in no queue.
 */
#ifndef FLY_MATCH_H
#define FLY_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For functions off the usual path: not inlined, so that the usual path saves no registers. */
#define FLY_APART __attribute__((noinline))

/* Matches every source, every tag. */
#define FLY_MATCH_ANY (-1)
/* Bytes that fit into a notification. */
#define FLY_MATCH_INLINE 40

enum { FLY_SHAPE_BOTH, FLY_SHAPE_SOURCE, FLY_SHAPE_TAG, FLY_SHAPE_ALL, FLY_SHAPES };

struct fly_chain {
    struct fly_chain *next, *prev;
};

/* What waits under one key: notifications that nobody took, and requests that wait. */
struct fly_bucket {
    struct fly_chain notes, wants;
    struct fly_bucket *next; /* next bucket in the hash chain */
    int source, tag;
    uint32_t pins; /* how many requests point to this bucket */
};

/* A request. The owner fills source, tag and expected; the rest belongs to the matcher. */
struct fly_want {
    struct fly_chain link;
    struct fly_bucket *home;
    uint64_t expected, number;
    uint64_t left;    /* notifications still to be found; 0: complete */
    uint64_t missing; /* notifications that were expected and will not be found */
    int source, tag;
    int last_source, last_tag; /* source and tag of the last notification found */
    unsigned char inline_data[FLY_MATCH_INLINE];
    uint8_t inline_bytes; /* how many bytes were inside the last notification */
    uint8_t shape;
    bool posted;
};

/* A notification that waits for a request. */
struct fly_note {
    struct fly_chain links[FLY_SHAPES];
    int source, tag;
    uint8_t inline_bytes;
    unsigned char inline_data[FLY_MATCH_INLINE];
};

struct fly_match {
    struct fly_bucket all;
    struct fly_bucket **table;
    size_t room, buckets; /* room is 0 or a power of two */
    struct fly_found {
        int source, tag;
        struct fly_bucket *bucket; /* NULL: the key has no bucket */
        bool known;
    } found[FLY_SHAPES]; /* by shape: the last look-up, until a bucket is made or freed */
    struct fly_chain free_notes;
    void *chunks;           /* memory of the notes, in a list */
    struct fly_want *alone;     /* the one request that is posted, or NULL: none, or several */
    size_t waiting[FLY_SHAPES]; /* by shape: how many of several posted requests wait */
    size_t posted;              /* how many requests are posted, when several are */
    uint64_t unmatched, started;
    /* Called for each notification that a request takes at its start; NULL: nobody is called. */
    void (*took)(void *context, struct fly_want *want, int source, int tag);
    void *took_context;
};

void fly_match_init(struct fly_match *m);
/* Frees what the matcher holds; requests are the owner's. */
void fly_match_end(struct fly_match *m);

/* Ties a request to its queue; false: no memory. Each bind has its unbind. */
bool fly_match_bind(struct fly_match *m, struct fly_want *want);
void fly_match_unbind(struct fly_match *m, struct fly_want *want);

/* Starts a bound request that is not posted: found from 0, takes what is here, then waits. */
void fly_match_post(struct fly_match *m, struct fly_want *want);
/* Withdraws a request; it keeps what it has found. */
void fly_match_withdraw(struct fly_match *m, struct fly_want *want);

static inline bool fly_match_complete(const struct fly_want *want) {
    return want->left == 0;
}
/* How many notifications the request took since its start. */
static inline uint64_t fly_match_found(const struct fly_want *want) {
    return want->expected - want->left - want->missing;
}
/* Withdraws a request for good: it counts as complete, with what it has. */
void fly_match_give_up(struct fly_match *m, struct fly_want *want);

/* A notification enters. *taker is the request that took it, or NULL: it waits.
   false: no memory, nothing has happened. */
bool fly_match_arrive(struct fly_match *m, int source, int tag, const void *data, size_t bytes,
                      struct fly_want **taker);

static inline bool fly_match_fits(const struct fly_want *want, int source, int tag) {
    return (want->source == source || want->source == FLY_MATCH_ANY) &&
           (want->tag == tag || want->tag == FLY_MATCH_ANY);
}

/* Resets a request to the state in which it has found nothing. */
static inline void fly_match_rewind(struct fly_want *want) {
    want->left = want->expected;
    want->missing = 0;
    want->inline_bytes = 0;
}

/* A request takes a notification, but for the bytes inside it. */
static inline void fly_match_take(struct fly_want *want, int source, int tag, size_t bytes) {
    want->left--;
    want->last_source = source;
    want->last_tag = tag;
    want->inline_bytes = (uint8_t)bytes;
}

/* Posts a bound request that wants something where no other is posted and nothing is here for it;
   false: nothing has happened. */
static inline bool fly_match_post_alone(struct fly_match *m, struct fly_want *want) {
    const struct fly_chain *notes = &want->home->notes;
    if (m->alone != NULL || m->posted != 0 || notes->next != notes) return false;
    fly_match_rewind(want);
    want->posted = true;
    m->alone = want;
    return true;
}

/* A notification enters, for a request that is posted alone; nobody records it. FLY_MATCH_INLINE
   bytes can be read at `data`, whatever `bytes` is. false: it is not for that request, and nothing
   has happened. */
static inline bool fly_match_hand(struct fly_match *m, struct fly_want *want, int source, int tag,
                                  const void *data, size_t bytes) {
    if (m->alone != want || !fly_match_fits(want, source, tag)) return false;
    fly_match_take(want, source, tag, bytes);
    memcpy(want->inline_data, data, FLY_MATCH_INLINE); /* all: no call, and no choice */
    if (fly_match_complete(want)) {
        want->posted = false;
        m->alone = NULL;
    }
    return true;
}

/* The oldest notification that matches and that nobody took, or NULL. */
const struct fly_note *fly_match_probe(const struct fly_match *m, int source, int tag);

/* Calls `visit` for every posted request of `source`; `visit` may withdraw the request. */
void fly_match_each(struct fly_match *m, int source, void (*visit)(void *, struct fly_want *),
                    void *context);

#endif
