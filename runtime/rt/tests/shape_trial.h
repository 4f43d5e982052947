/* Random shapes of given sizes, one after the other in memory, for tests of collectives. */
#ifndef FLY_TEST_SHAPE_TRIAL_H
#define FLY_TEST_SHAPE_TRIAL_H

#include <stddef.h>

#include "check.h"
#include "flyloom.h"

/* Draws a shape of `bytes` bytes that starts at *at, behind *end, which then moves behind it. */
static inline fly_shape draw_shape(uint64_t seed, size_t bytes, size_t *end, size_t *at) {
    uint64_t state = seed;
    size_t one = 1 + (size_t)below(&state, 4), gap = (size_t)below(&state, 4);
    if (bytes == 0 || bytes % one != 0) one = bytes;
    fly_shape shape = {one == 0 ? 0 : bytes / one, one, (ptrdiff_t)(one + gap)};
    size_t far = shape.blocks == 0 ? 0 : (shape.blocks - 1) * (one + gap);
    *at = *end;
    if (below(&state, 4) == 0) { /* the first block is the last in memory */
        shape.stride_bytes = -shape.stride_bytes;
        *at += far;
    }
    *end += far + one;
    return shape;
}

/* The place of byte i of a shape that starts at `at`. */
static inline size_t shape_place(const fly_shape *shape, size_t at, size_t i) {
    ptrdiff_t block = (ptrdiff_t)(i / shape->block_bytes);
    return (size_t)((ptrdiff_t)at + block * shape->stride_bytes) + i % shape->block_bytes;
}

#endif
