/* The border between the recorder of MPI programs and libflyloom: what libflyloom reports to a
 * recorder that is loaded before it.
 *
 * libflyloom looks for flyloom_record_hooks_1 when it starts, and reports each call when the call
 * ends. The number is in the name because either may be of another version: one that changes
 * anything here takes the next number.
 */
#ifndef FLYLOOM_RECORD_HOOKS_H
#define FLYLOOM_RECORD_HOOKS_H

#include <stdint.h>

/* What a rank does by libflyloom. The numbers are those of files of calls: record_calls.h. */
enum fly_event_kind {
    FLY_E_CALC = 0,    /* `value` ns outside the library; is not reported to a recorder */
    FLY_E_SEND = 1,    /* a packet that the peer's program waits for: FLY_E_RECV */
    FLY_E_RECV = 2,    /* beside: it was waited for together with what is before it */
    FLY_E_PUT = 3,     /* `value` bytes; the peer's program does nothing */
    FLY_E_ASK = 4,     /* `value` bytes that are answered with `answer` bytes */
    FLY_E_ANSWER = 5,  /* wait for the answer of ask number `value`, counted from 1 */
    FLY_E_ANSWERS = 6, /* wait for the answers of a peer, or of all (-1), in a window */
    FLY_E_TOOK = 7,    /* request `value` took a notification */
    FLY_E_DONE = 8,    /* the request is complete */
    /* A collective: FLY_E_COLL, its whole schedule, FLY_E_COLL_END. What it does the program does
       beside what comes behind, until it waits. */
    FLY_E_COLL = 9,
    FLY_E_LOCAL = 10,    /* copies, or folds */
    FLY_E_OUT = 11,      /* a message by its tag in the schedule; beside: with the one before it, */
    FLY_E_IN = 12,       /* in the same round. The collective is `answer` of its team, `object` */
    FLY_E_COLL_END = 13, /* the end of collective `value` of this rank, counted from 1 */
    FLY_E_JOIN = 14      /* wait for that one */
};

/* Flags of an event. BESIDE: begins together with the one before it. BRINGS, of a FLY_E_RECV: what
   its origin put before is there. FLUSHES, of a FLY_E_ASK: the answer says that what this rank put
   to the peer before is there. */
enum { FLY_REPORTED_BESIDE = 1, FLY_REPORTED_BRINGS = 2, FLY_REPORTED_FLUSHES = 8 };

/* An event. `object` is a window or a team; of one origin, object and tag the n-th message that is
   received, or whose notification is taken, is the n-th that was sent. */
struct flyloom_reported {
    uint32_t kind, flags;
    int32_t peer; /* a rank of MPI_COMM_WORLD, or -1 */
    uint32_t tag, object;
    uint64_t value, answer;
};

/* Times are ns of CLOCK_MONOTONIC. */
struct flyloom_record_hooks {
    /* The rank in MPI_COMM_WORLD; -1: nothing is recorded at this time. */
    int (*rank)(void);
    /* A runtime begins, whose ranks are these of MPI_COMM_WORLD; its number. */
    uint64_t (*begin)(int size, const int ranks[]);
    /* 1: what this thread calls of MPI is libflyloom's own, until -1. */
    void (*inside)(int more);
    /* A call that began at `start_ns` and ends now has done this. */
    void (*event)(uint64_t runtime, uint64_t start_ns, const struct flyloom_reported *event);
    /* A call that began at `start_ns` and ends now has done nothing that is recorded. */
    void (*nothing)(uint64_t start_ns);
};

/* The recorder's, which is there as long as the process. */
const struct flyloom_record_hooks *flyloom_record_hooks_1(void);

#endif
