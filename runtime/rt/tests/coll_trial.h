/* One collective call with random arguments: its memory, its call, and what must come out. */
#ifndef FLY_TEST_COLL_TRIAL_H
#define FLY_TEST_COLL_TRIAL_H

#include <stdbool.h>

#include "check.h"
#include "flyloom_coll.h"
#include "shape_trial.h"

enum operation {
    BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, GATHER, SCATTER, REDUCE_SCATTER, ALLTOALL,
    ALLTOALLV, ALLTOALLW, SCAN, OPERATIONS
};
enum form { BLOCKING, NON_BLOCKING, PERSISTENT };
enum { SIZE_MOST = 64 };

struct trial {
    fly_team *team;
    int rank, size, root;
    enum operation operation;
    uint64_t seed;
    size_t count; /* elements, or bytes of a block */
    bool in_place;
    int kind; /* the kind of fold */
    fly_fold fold;
    size_t element;
    unsigned char *send, *receive; /* memory with guards around it */
    size_t send_bytes, receive_bytes;
    size_t counts[SIZE_MOST], at[SIZE_MOST], counts_in[SIZE_MOST], at_in[SIZE_MOST];
    fly_shape shapes[SIZE_MOST], shapes_in[SIZE_MOST];
};

/* Draws arguments, the same at all ranks; `most` bounds the elements. */
void trial_draw(struct trial *trial, fly_team *team, int rank, int size, uint64_t seed,
                size_t most);
/* New contents, the same at all by `epoch`. */
void trial_fill(struct trial *trial, uint64_t epoch);
int trial_call(struct trial *trial, enum form form, fly_req **req);
/* Ends the program where a byte is not what it must be. */
void trial_check(const struct trial *trial, uint64_t epoch);
void trial_end(struct trial *trial);
const char *trial_name(const struct trial *trial);

#endif
