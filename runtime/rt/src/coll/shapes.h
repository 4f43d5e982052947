/* Blocks of shapes in collectives: they are checked, packed before sending, unpacked at the end. */
#ifndef FLY_COLL_SHAPES_H
#define FLY_COLL_SHAPES_H

#include "coll.h"

/* Contiguous memory that a message is sent from or received into. */
struct fly_piece {
    unsigned char *at;
    size_t bytes;
};

static inline size_t fly_shape_bytes(const fly_shape *shape) {
    return shape->blocks * shape->block_bytes;
}

static inline bool fly_shape_is_whole(const fly_shape *shape) {
    return shape->blocks <= 1 || shape->stride_bytes == (ptrdiff_t)shape->block_bytes;
}

/* The shapes of a call, which keeps them in one of its arrays. */
static inline const fly_shape *fly_shapes_of(const size_t *array) {
    return (const fly_shape *)(const void *)array;
}
enum { FLY_SHAPE_WORDS = sizeof(fly_shape) / sizeof(size_t) };

/* The bytes of a shape at `at`, in order; if they have gaps, or `apart`, in a copy that the round
   makes. */
struct fly_piece fly_shape_out(struct fly_sched *s, const fly_shape *shape, unsigned char *at,
                               bool apart);
/* Where bytes for a shape at `at` are received: in place, or in memory that fly_shape_back copies
   to it. */
struct fly_piece fly_shape_in(struct fly_sched *s, const fly_shape *shape, unsigned char *at);
void fly_shape_back(struct fly_sched *s, const struct fly_piece *piece, const fly_shape *shape,
                    unsigned char *at);

/* Stores shapes and places in the arrays of a call, in the order that check.c expects. */
void fly_call_keep_shapes(struct fly_call *call, size_t out_count, const fly_shape *out,
                          const size_t *out_at, size_t in_count, const fly_shape *in,
                          const size_t *in_at);
/* ARG where memory that has bytes is NULL, or receive is FLY_IN_PLACE. */
int fly_call_memory(const struct fly_call *call, size_t in_count, const fly_shape *in,
                    size_t out_count, const fly_shape *out);
/* ARG where shapes or places are missing, or one leaves memory, or one that is written contains a
   byte twice. `what`: send or receive. */
int fly_call_shapes(const struct fly_call *call, const char *what, size_t count,
                    const fly_shape *shapes, const size_t *at);
/* ARG where blocks that are written share bytes with one another, or with those that are read
   (send NULL: none are). Only up to 64 of each are compared. */
int fly_call_shapes_apart(const struct fly_call *call, const char *whose, size_t in_count,
                          const fly_shape *in, const size_t *in_at, size_t out_count,
                          const fly_shape *out, const size_t *out_at);

#endif
