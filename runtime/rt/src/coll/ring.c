/* Gathers blocks, and folds blocks, around the ring of ranks. */
#include "trees.h"

size_t fly_block_at(const struct fly_blocks *blocks, int r) {
    return blocks->at == NULL ? (size_t)r * blocks->bytes[0] : blocks->at[r];
}

size_t fly_block_bytes(const struct fly_blocks *blocks, int r) {
    return blocks->at == NULL ? blocks->bytes[0] : blocks->bytes[r];
}

/* In step k block owned - k is sent and block owned - k - 1 received; rank + 1 owns the next
   one. */
void fly_ring_gather(struct fly_sched *s, const struct fly_call *call, unsigned char *buffer,
                     const struct fly_blocks *blocks, int owned, int tag) {
    int size = call->size, behind = fly_turned(call->rank, 1, size);
    int before = fly_turned(call->rank, -1, size);
    for (int k = 0; k < size - 1; k++) {
        int out = fly_turned(owned, -k, size), in = fly_turned(owned, -k - 1, size);
        fly_round(s);
        fly_send_to(s, behind, tag + k, buffer + fly_block_at(blocks, out),
                    fly_block_bytes(blocks, out));
        fly_receive_from(s, before, tag + k, buffer + fly_block_at(blocks, in),
                         fly_block_bytes(blocks, in));
    }
}

/* In step k block r - k - 1 is sent; block r - k - 2 is received and folded into this rank's. */
void fly_ring_reduce(struct fly_sched *s, const struct fly_call *call, unsigned char *buffer,
                     const unsigned char *own, const struct fly_blocks *blocks, int tag) {
    int size = call->size, behind = fly_turned(call->rank, 1, size);
    int before = fly_turned(call->rank, -1, size);
    for (int k = 0; k < size - 1; k++) {
        int out = fly_turned(call->rank, -1 - k % size, size);
        int in = fly_turned(out, -1, size);
        const unsigned char *from = k == 0 && own != NULL ? own : buffer; /* later: what came */
        fly_round(s);
        fly_send_to(s, behind, tag + k, from + fly_block_at(blocks, out),
                    fly_block_bytes(blocks, out));
        fly_fold_onto(s, before, tag + k, buffer + fly_block_at(blocks, in),
                      own == NULL ? NULL : own + fly_block_at(blocks, in),
                      fly_block_bytes(blocks, in), FLY_TAKE_LEFT);
    }
}
