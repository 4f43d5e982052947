/* What a program does with the library, kept to be written as GOAL. record.c keeps, record_goal.c
 * writes. A runtime that does not record pays one comparison behind its lock.
 */
#ifndef FLY_RECORD_H
#define FLY_RECORD_H

#include "state.h"

enum fly_event_kind {
    FLY_E_CALC,   /* `value` ns outside the library */
    FLY_E_SEND,   /* a packet that the peer's program waits for: FLY_E_RECV */
    FLY_E_RECV,   /* beside: it was waited for together with what is before it */
    FLY_E_PUT,    /* `value` bytes; the peer's program does nothing */
    FLY_E_ASK,    /* `value` bytes that are answered with `answer` bytes */
    FLY_E_ANSWER, /* wait for the answer of ask number `value`, counted from 1 */
    FLY_E_ANSWERS, /* wait for the answers of a peer, or of all (-1), in a window */
    FLY_E_TOOK,   /* request `value` took a notification */
    FLY_E_DONE,   /* the request is complete */
    /* A collective: FLY_E_COLL, its whole schedule, FLY_E_COLL_END. What it does the program does
       beside what comes behind, until it waits. */
    FLY_E_COLL,
    FLY_E_LOCAL,    /* copies, or folds */
    FLY_E_OUT,      /* a message by its tag in the schedule; beside: with the one before it, in */
    FLY_E_IN,       /* the same round. The collective is `answer` of its team, `object` */
    FLY_E_COLL_END, /* the end of collective `value` of this rank, counted from 1 */
    FLY_E_JOIN      /* wait for that one */
};

/* Tags of GOAL above those of users. The answer to ask n has the tag FLY_TAG_ANSWER + n. */
#define FLY_TAG_PUT UINT32_C(0x80000001)
#define FLY_TAG_GET UINT32_C(0x80000002)
#define FLY_TAG_ATOMIC UINT32_C(0x80000003)
#define FLY_TAG_FLUSH UINT32_C(0x80000004)
#define FLY_TAG_BARRIER UINT32_C(0x80000005)
#define FLY_TAG_POST UINT32_C(0x80000006)
#define FLY_TAG_COMPLETE UINT32_C(0x80000007)
/* The first tag of messages of collectives: record_tags.c. */
#define FLY_TAG_COLL UINT32_C(0x80000008)
#define FLY_TAG_COLLS UINT32_C(0x3FFFFFF8)
#define FLY_TAG_ANSWER UINT32_C(0xC0000000)
#define FLY_TAG_ANSWERS UINT32_C(0x3FFFFFF0)

/* Peers are ranks of the world. */
struct fly_event {
    uint8_t kind, beside;
    uint16_t spare;
    int32_t peer;
    uint32_t tag, object;
    uint64_t value, answer;
};

struct fly_record;
struct fly_sched;

/* Whether the environment asks for it. */
bool fly_record_wanted(void);
/* Collective, where one process wants it. */
int fly_record_begin(struct fly_rt *rt);
/* Collective; rank 0 writes the file. */
int fly_record_end(struct fly_rt *rt);
void fly_record_free(struct fly_rt *rt);

/* The program enters the library, and leaves it. */
void fly_record_enter(struct fly_rt *rt);
void fly_record_leave(struct fly_rt *rt);
/* What the program does next is the bootstrap's: no computation. */
void fly_record_skip(struct fly_rt *rt);

void fly_record_put(struct fly_win *win, int peer, int tag, uint64_t bytes);
/* The number of the ask, or 0: to oneself. */
uint64_t fly_record_ask(struct fly_win *win, int peer, int tag, bool atomic, uint64_t bytes,
                        uint64_t answer);
void fly_record_flush(struct fly_win *win, int peer);
void fly_record_answers(struct fly_win *win, int peer);
void fly_record_packet(struct fly_rt *rt, enum fly_event_kind kind, uint32_t object, int peer,
                       uint32_t tag, bool beside);
uint64_t fly_record_request(struct fly_rt *rt);
void fly_record_took(struct fly_win *win, const struct fly_req *req, int source, int tag);
/* A request is complete, which may be that of a collective. */
void fly_record_done(const struct fly_req *req);
/* A collective that starts, of a runtime that records; its number, or 0: nothing to do. */
uint64_t fly_record_schedule(const struct fly_sched *s);

/* record_goal.c: the events of all ranks as one file; 0, or errno. */
int fly_record_write(const char *path, int size, struct fly_event *const events[],
                     const uint64_t counts[]);

/* record_tags.c */
struct fly_tags {
    struct fly_mark {
        uint64_t number;
        uint32_t object, tag;
    } *marks;
    size_t count;
};
/* false: no memory. */
bool fly_tags_open(struct fly_tags *tags, int size, struct fly_event *const events[],
                   const uint64_t counts[]);
void fly_tags_close(struct fly_tags *tags);
/* The tag in GOAL of a FLY_E_OUT or FLY_E_IN. */
uint32_t fly_tags_find(const struct fly_tags *tags, const struct fly_event *event);

#endif
