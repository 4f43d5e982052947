/* Epochs of a window: fence, post and start, locks. */
#ifndef FLY_SYNC_H
#define FLY_SYNC_H

#include "state.h"

/* The largest put that may wait until its epoch is completed. */
enum { FLY_LATE_BYTES = 64 };

/* The last small put to a rank of a start, while no other operation follows. */
struct fly_late_put {
    bool here;
    struct fly_packet packet;
    unsigned char data[FLY_LATE_BYTES];
};

/* The ranks of a post or a start; `open` until wait or complete. */
struct fly_group {
    bool open;
    int n, *ranks;
    struct fly_want *wants; /* for a post, one completion of each rank; kept between epochs */
    struct fly_late_put *late;  /* for a start, a put to each rank; or NULL */
};

struct fly_held_lock {
    int target, kind;
    bool in_line; /* this rank waited in the queue, and lets the next one proceed */
};

struct fly_sync {
    struct fly_match inner; /* posts and completions that came, by <rank, kind>; O(k) memory */
    struct fly_group post, start;
    struct fly_held_lock *held; /* locks */
    size_t held_count, held_room, exclusive;
    bool all;
    bool wanted; /* a call needs all members: alive.c asks after them */
    uint64_t random; /* the state of the back-off's jitter */
    struct {
        int target;
        uint64_t word; /* the target's lock word when it was last free */
    } seen[8];
};

int fly_sync_init(struct fly_win *win);
void fly_sync_end(struct fly_win *win);
/* Whether a lock is held, or an epoch of post or start is open. */
bool fly_sync_open(const struct fly_win *win);
/* A post or a completion of a rank came, by the `kind` of its packet. false: there is no memory. */
bool fly_sync_arrived(struct fly_win *win, int source, int kind);
/* Within a start a small put, with its credit and no notification, waits for the next operation: if
   that is the completion, both go in one packet. false: it cannot wait. */
bool fly_sync_late(struct fly_win *win, int target, const struct fly_packet *packet,
                   const void *data, size_t bytes);
/* Sends the waiting put of a target, or of all (FLY_ALL), before another operation. */
int fly_sync_hurry(struct fly_win *win, int target);
/* Whether an epoch of post or start is open. */
bool fly_sync_groups(const struct fly_sync *sync);

#endif
