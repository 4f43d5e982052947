/* Blocks of shapes in collectives: they are checked, packed before sending, unpacked at the end. */
#include "shapes.h"

#include "error.h"

enum { LOOKED_AT = 64, RUNS_MOST = 4096 };

struct fly_piece fly_shape_out(struct fly_sched *s, const fly_shape *shape, unsigned char *at,
                               bool apart) {
    struct fly_piece piece = {at, fly_shape_bytes(shape)};
    if (fly_shape_is_whole(shape) && !apart) return piece;
    fly_shape whole = {1, piece.bytes, 0};
    piece.at = fly_temporary(s, piece.bytes);
    if (piece.at != NULL) fly_copy_shaped(s, piece.at, &whole, at, shape);
    return piece;
}

struct fly_piece fly_shape_in(struct fly_sched *s, const fly_shape *shape, unsigned char *at) {
    struct fly_piece piece = {at, fly_shape_bytes(shape)};
    if (!fly_shape_is_whole(shape)) piece.at = fly_temporary(s, piece.bytes);
    return piece;
}

void fly_shape_back(struct fly_sched *s, const struct fly_piece *piece, const fly_shape *shape,
                    unsigned char *at) {
    fly_shape whole = {1, piece->bytes, 0};
    if (piece->at != NULL && piece->at != at) fly_copy_shaped(s, at, shape, piece->at, &whole);
}

/* The distance from a block to the next, upwards or downwards. */
static size_t step_of(const fly_shape *shape) {
    return shape->stride_bytes < 0 ? (size_t)0 - (size_t)shape->stride_bytes
                                   : (size_t)shape->stride_bytes;
}

/* How far a shape reaches before its start and behind it; false: further than memory can. */
static bool reach(const fly_shape *shape, size_t *before, size_t *behind) {
    size_t step = step_of(shape);
    size_t far = 0, total;
    *before = *behind = 0;
    if (shape->blocks == 0 || shape->block_bytes == 0) return true;
    if ((shape->blocks > 1 && __builtin_mul_overflow(step, shape->blocks - 1, &far)) ||
        __builtin_mul_overflow(shape->blocks, shape->block_bytes, &total) || far > SIZE_MAX / 4 ||
        total > SIZE_MAX / 4)
        return false;
    *before = shape->stride_bytes < 0 ? far : 0;
    *behind = (shape->stride_bytes < 0 ? 0 : far) + shape->block_bytes;
    return true;
}

int fly_call_shapes(const struct fly_call *call, const char *what, size_t count,
                    const fly_shape *shapes, const size_t *at) {
    if (count != 0 && (shapes == NULL || at == NULL))
        return fly_fail(FLY_ERR_ARG, "%s: %s_shapes or %s_at is NULL", call->name, what, what);
    for (size_t i = 0; i < count; i++) {
        const fly_shape *one = &shapes[i];
        size_t before, behind;
        if (!reach(one, &before, &behind) || before > at[i] || at[i] > SIZE_MAX / 4)
            return fly_fail(FLY_ERR_ARG, "%s: %s_shapes[%zu]: %zu blocks of %zu bytes, each %td "
                            "from the last, at %zu leave memory", call->name, what, i, one->blocks,
                            one->block_bytes, one->stride_bytes, at[i]);
        if (*what == 'r' && one->blocks > 1 && step_of(one) < one->block_bytes)
            return fly_fail(FLY_ERR_ARG, "%s: receive_shapes[%zu]: blocks of %zu bytes, each %td "
                            "from the last, overlap", call->name, i, one->block_bytes,
                            one->stride_bytes);
    }
    return FLY_OK;
}

void fly_call_keep_shapes(struct fly_call *call, size_t out_count, const fly_shape *out,
                          const size_t *out_at, size_t in_count, const fly_shape *in,
                          const size_t *in_at) {
    const void *arrays[] = {out, out_at, in, in_at};
    for (int i = 0; i < 4; i++) {
        size_t count = i < 2 ? out_count : in_count;
        if (count == 0) continue;
        call->arrays[i] = arrays[i];
        call->lengths[i] = i % 2 == 0 ? count * FLY_SHAPE_WORDS : count;
    }
}

static size_t all_bytes(size_t count, const fly_shape *shapes) {
    size_t all = 0;
    for (size_t i = 0; i < count; i++) all |= fly_shape_bytes(&shapes[i]);
    return all;
}

int fly_call_memory(const struct fly_call *call, size_t in_count, const fly_shape *in,
                    size_t out_count, const fly_shape *out) {
    bool sends = all_bytes(out_count, out) != 0, receives = all_bytes(in_count, in) != 0;
    if ((sends && call->key.send == NULL) || (receives && call->key.receive == NULL))
        return fly_fail(FLY_ERR_ARG, "%s: %s is NULL", call->name,
                        sends && call->key.send == NULL ? "send" : "receive");
    if (call->key.receive == FLY_IN_PLACE)
        return fly_fail(FLY_ERR_ARG, "%s: receive: FLY_IN_PLACE is not for it here", call->name);
    return FLY_OK;
}

/* Runs of equal length at equal distances, in ascending order. */
struct runs {
    uintptr_t at;
    size_t count, bytes, step;
};

static struct runs runs_of(uintptr_t base, size_t at, const fly_shape *shape) {
    size_t before, behind;
    reach(shape, &before, &behind);
    struct runs runs = {base + at - before, shape->blocks, shape->block_bytes, step_of(shape)};
    if (fly_shape_is_whole(shape) || runs.step == 0)
        runs = (struct runs){runs.at, 1, runs.step == 0 ? runs.bytes : fly_shape_bytes(shape), 1};
    if (fly_shape_bytes(shape) == 0) runs.count = 0;
    return runs;
}

static uintptr_t end_of(const struct runs *runs) {
    return runs->at + (runs->count - 1) * runs->step + runs->bytes;
}

/* For runs with the same step: run i of a and run i + m of b start d + m step apart. */
static bool meet_in_step(const struct runs *a, const struct runs *b, size_t step) {
    int64_t d = (int64_t)b->at - (int64_t)a->at, s = (int64_t)step;
    for (int k = -1; k <= 1; k++) {
        int64_t m = k - d / s, apart = d % s + k * s;
        bool there = m > -(int64_t)a->count && m < (int64_t)b->count;
        if (there && apart < (int64_t)a->bytes && -apart < (int64_t)b->bytes) return true;
    }
    return false;
}

static bool meet(const struct runs *a, const struct runs *b) {
    if (a->count == 0 || b->count == 0 || a->at >= end_of(b) || b->at >= end_of(a)) return false;
    if (a->count == 1 && b->count == 1) return true;
    if (a->count == 1 || b->count == 1) {
        /* The single long run spans several of the others: it meets them where any lies in it. */
        const struct runs *one = a->count == 1 ? a : b, *many = a->count == 1 ? b : a;
        if (one->bytes >= many->step) return true;
    }
    if (a->count == 1 || b->count == 1 || a->step == b->step)
        return meet_in_step(a, b, a->count == 1 ? b->step : a->step);
    if (a->count + b->count > RUNS_MOST) return false;
    size_t i = 0, j = 0;
    while (i < a->count && j < b->count) {
        uintptr_t x = a->at + i * a->step, y = b->at + j * b->step;
        if (x < y + b->bytes && y < x + a->bytes) return true;
        if (x + a->bytes <= y + b->bytes)
            i++;
        else
            j++;
    }
    return false;
}

int fly_call_shapes_apart(const struct fly_call *call, const char *whose, size_t in_count,
                          const fly_shape *in, const size_t *in_at, size_t out_count,
                          const fly_shape *out, const size_t *out_at) {
    uintptr_t receive = (uintptr_t)call->key.receive, send = (uintptr_t)call->key.send;
    for (size_t i = 0; i < in_count && in_count <= LOOKED_AT; i++) {
        struct runs mine = runs_of(receive, in_at[i], &in[i]);
        for (size_t k = 0; k < i; k++) {
            struct runs other = runs_of(receive, in_at[k], &in[k]);
            if (meet(&mine, &other))
                return fly_fail(FLY_ERR_ARG, "%s: receive_at: the blocks of %s %zu and %zu overlap",
                                call->name, whose, k, i);
        }
        for (size_t k = 0; out != NULL && k < out_count && out_count <= LOOKED_AT; k++) {
            struct runs other = runs_of(send, out_at[k], &out[k]);
            if (meet(&mine, &other))
                return fly_fail(FLY_ERR_ARG, "%s: send and receive: the blocks to %s %zu and from "
                                "%s %zu overlap", call->name, whose, k, whose, i);
        }
    }
    return FLY_OK;
}
