/* Epochs of a window: fence, post and start, locks. */
#ifndef FLY_SYNC_H
#define FLY_SYNC_H

#include "remote.h"

/* The ranks of a post or a start; `open` until wait or complete. */
struct fly_group {
    bool open;
    int n, *ranks;
    struct fly_want *wants; /* of a post: a completion of each */
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
    uint64_t random; /* jitter of the back-off */
    struct {
        int target;
        uint64_t word; /* of a target's lock, when it was free last */
    } seen[8];
};

/* Whether another kind of epoch than locks is open, or any. */
bool fly_sync_groups(const struct fly_sync *sync);

#endif
