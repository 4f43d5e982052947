/* Epochs of a window: fence, post and start, locks. */
#ifndef FLY_SYNC_H
#define FLY_SYNC_H

#include "state.h"

/* Bytes of a put that may wait until its epoch is completed. */
enum { FLY_LATE_BYTES = 64 };

/* The last small put to a rank of a start, while no other operation follows. */
struct fly_late {
    bool here;
    struct fly_packet packet;
    unsigned char data[FLY_LATE_BYTES];
};

/* The ranks of a post or a start; `open` until wait or complete. */
struct fly_group {
    bool open;
    int n, *ranks;
    struct fly_want *wants; /* of a post: a completion of each; tied from one epoch to the next */
    struct fly_late *late;  /* of a start: a put to each, or NULL */
};

struct fly_held {
    int target, kind;
    bool in_line; /* it stood in line, and moves it on */
};

struct fly_sync {
    struct fly_match inner; /* posts and completions that came, by <rank, kind>: memory O(k) */
    struct fly_group post, start;
    struct fly_held *held; /* locks */
    size_t held_count, held_room, exclusive;
    bool all;
    bool wanted; /* a call needs all members: alive.c asks after them */
    uint64_t random; /* jitter of the back-off */
    struct {
        int target;
        uint64_t word; /* of a target's lock, when it was free last */
    } seen[8];
};

int fly_sync_init(struct fly_win *win);
void fly_sync_end(struct fly_win *win);
/* Whether a lock is held, or an epoch of post or start is open. */
bool fly_sync_open(const struct fly_win *win);
/* A post or a completion of a rank came, by the `kind` of its packet. false: there is no memory. */
bool fly_sync_arrived(struct fly_win *win, int source, int kind);
/* Within a start: a put of few bytes, with its credit and no notification, waits for what follows:
   a completion goes with it. false: it cannot. */
bool fly_sync_late(struct fly_win *win, int target, const struct fly_packet *packet,
                   const void *data, size_t bytes);
/* Sends the put to a target, or all (FLY_ALL), that waits so: before another operation. */
int fly_sync_hurry(struct fly_win *win, int target);
/* Whether an epoch of post or start is open. */
bool fly_sync_groups(const struct fly_sync *sync);

#endif
