/* Arithmetic of shapes under EVA: any blocks, bytes, strides and places that users may give. */
#include "eva.h"

#include "../src/access.c"
#include "../src/coll/shapes.c"

int fly_fail(int code, const char *format, ...) {
    (void)format;
    return code;
}

static fly_shape any_shape(void) {
    return (fly_shape){any_size(), any_size(),
                       Frama_C_long_interval(PTRDIFF_MIN, PTRDIFF_MAX)};
}

/* How far any shape reaches, as computed for puts and gets, and for collectives. */
void any_reach(void) {
    fly_shape shape = any_shape();
    uint64_t before, behind;
    size_t ahead, last;
    extent(&shape, &before, &behind);
    reach(&shape, &ahead, &last);
}

/* The checks of collectives on the two shapes of a side. */
void any_shapes(void) {
    fly_shape in[2] = {any_shape(), any_shape()}, out[2] = {any_shape(), any_shape()};
    size_t in_at[2] = {any_size(), any_size()}, out_at[2] = {any_size(), any_size()};
    struct fly_call call = {.name = "fly_alltoallw"};
    call.key.receive = (void *)Frama_C_unsigned_long_interval(1 << 20, (1UL << 47) - 1);
    if (fly_call_shapes(&call, "receive", 2, in, in_at) != FLY_OK) return;
    if (fly_call_shapes(&call, "send", 2, out, out_at) != FLY_OK) return;
    fly_call_memory(&call, 2, in, 2, out);
    runs_of(1 << 20, in_at[0], &in[0]);
}

/* Any runs within what these checks let through, in memory that ends below 2^47 + 2^62. */
static struct runs any_runs(void) {
    size_t most = SIZE_MAX / 4;
    return (struct runs){Frama_C_size_t_interval(0, ((size_t)1 << 47) + most),
                         Frama_C_size_t_interval(0, most), Frama_C_size_t_interval(0, most),
                         Frama_C_size_t_interval(1, most)};
}

void any_meet(void) {
    struct runs a = any_runs(), b = any_runs();
    meet(&a, &b);
}
