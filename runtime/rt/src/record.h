/* What a program does with the library, kept to be written as GOAL, or to be reported to a recorder
 * of MPI programs. record.c keeps, record_goal.c writes, record_report.c reports. A runtime that
 * does not record pays one comparison behind its lock.
 */
#ifndef FLY_RECORD_H
#define FLY_RECORD_H

#include "../../mpi/record_hooks.h"
#include "state.h"

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

/* Whether a packet of this tag comes after what its sender put before. */
static inline bool fly_tag_brings(uint32_t tag) {
    return tag == FLY_TAG_COMPLETE || tag == FLY_TAG_BARRIER;
}

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

/* Who wants a record: the environment, as a file, or a recorder that is loaded. A sum of both. */
enum { FLY_RECORD_REPORTED = 1, FLY_RECORD_FILE = 2 };
unsigned fly_record_wanted(const struct fly_rt *rt);
/* Collective, where one process wants it. */
int fly_record_begin(struct fly_rt *rt, unsigned wanted);
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
