/* Building blocks that several operations use: trees, rings, doubling. */
#ifndef FLY_COLL_TREES_H
#define FLY_COLL_TREES_H

#include "coll.h"

/* Sends down a binomial tree from `root`; each message has the tag. */
void fly_tree_bcast(struct fly_sched *s, const struct fly_call *call, void *buffer, size_t bytes,
                    int root, int tag);
/* Folds up a binomial tree to `root` into `total`, with this rank's part in `own`; NULL: it is in
   `total`. Every fold has the lower ranks, counted from the root, on the left. */
void fly_tree_reduce(struct fly_sched *s, const struct fly_call *call, void *total,
                     const void *own, size_t bytes, int root, int tag);
/* Where the blocks of all ranks are in a buffer; `at` NULL: bytes[0] each, consecutively. */
struct fly_blocks {
    const size_t *bytes, *at;
};
size_t fly_block_at(const struct fly_blocks *blocks, int r);
size_t fly_block_bytes(const struct fly_blocks *blocks, int r);
/* Gathers all P blocks around the ring; `owned` is the block that this rank has at the start. */
void fly_ring_gather(struct fly_sched *s, const struct fly_call *call, unsigned char *buffer,
                     const struct fly_blocks *blocks, int owned, int tag);
/* Folds around the ring, after which rank r has the whole of block r; `buffer` is overwritten. This
   rank's part is in `own`; NULL: in `buffer`. */
void fly_ring_reduce(struct fly_sched *s, const struct fly_call *call, unsigned char *buffer,
                     const unsigned char *own, const struct fly_blocks *blocks, int tag);
/* Gathers by doubling: `all` begins with this rank's block, followed in the end by the next
   ranks'. */
void fly_bruck_gather(struct fly_sched *s, const struct fly_call *call, unsigned char *all,
                      size_t bytes);
static inline int fly_turned(int rank, int by, int size) {
    return (int)(((int64_t)rank + by + size) % size);
}

#endif
