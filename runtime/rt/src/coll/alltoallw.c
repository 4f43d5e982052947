/* All to all with a shape for each rank: as alltoallv, but shapes with gaps are packed. */
#include "call.h"
#include "error.h"
#include "shapes.h"
#include "trees.h"

enum { LINEAR, PAIRWISE };
enum { SEND_SHAPES, SEND_AT, RECEIVE_SHAPES, RECEIVE_AT };

static void build(struct fly_sched *s, const struct fly_call *call) {
    bool in_place = call->key.send == FLY_IN_PLACE;
    const fly_shape *in = fly_shapes_of(call->arrays[RECEIVE_SHAPES]);
    const fly_shape *out = in_place ? in : fly_shapes_of(call->arrays[SEND_SHAPES]);
    const size_t *in_at = call->arrays[RECEIVE_AT];
    const size_t *out_at = in_place ? in_at : call->arrays[SEND_AT];
    unsigned char *receive = call->key.receive;
    unsigned char *send = in_place ? receive : (unsigned char *)(uintptr_t)call->key.send;
    size_t size = (size_t)call->size, me = (size_t)call->rank;
    struct fly_piece *outs = fly_temporary(s, size * sizeof *outs);
    struct fly_piece *ins = fly_temporary(s, size * sizeof *ins);
    if (outs == NULL || ins == NULL) return;
    fly_round(s);
    for (size_t r = 0; r < size && in_place; r++) /* packs before anything is received */
        if (r != me) outs[r] = fly_shape_out(s, &out[r], send + out_at[r], true);
    if (!in_place && fly_shape_bytes(&out[me]) != 0)
        fly_copy_shaped(s, receive + in_at[me], &in[me], send + out_at[me], &out[me]);
    for (int k = 1; k < call->size && !s->failed; k++) {
        int to = fly_turned(call->rank, k, call->size);
        int from = fly_turned(call->rank, -k, call->size);
        if (call->key.algorithm == PAIRWISE) fly_round(s);
        if (!in_place) outs[to] = fly_shape_out(s, &out[to], send + out_at[to], false);
        ins[from] = fly_shape_in(s, &in[from], receive + in_at[from]);
        fly_send_to(s, to, 0, outs[to].at, outs[to].bytes);
        fly_receive_from(s, from, 0, ins[from].at, ins[from].bytes);
    }
    fly_round(s);
    for (size_t r = 0; r < size; r++)
        if (r != me) fly_shape_back(s, &ins[r], &in[r], receive + in_at[r]);
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               const fly_shape send_shapes[], const size_t send_at[], void *receive,
               const fly_shape receive_shapes[], const size_t receive_at[]) {
    bool in_place = send == FLY_IN_PLACE;
    int code = fly_call_open(call, name, team, FLY_C_ALLTOALLW, build);
    if (code != FLY_OK) return code;
    size_t size = (size_t)call->size, me = (size_t)call->rank;
    call->key.send = send;
    call->key.receive = receive;
    code = fly_call_shapes(call, "receive", size, receive_shapes, receive_at);
    if (code == FLY_OK && !in_place)
        code = fly_call_shapes(call, "send", size, send_shapes, send_at);
    if (code == FLY_OK) code = fly_call_memory(call, size, receive_shapes, in_place ? 0 : size,
                                               send_shapes);
    if (code == FLY_OK)
        code = fly_call_shapes_apart(call, "rank", size, receive_shapes, receive_at, size,
                                     in_place ? NULL : send_shapes, send_at);
    if (code == FLY_OK && !in_place &&
        fly_shape_bytes(&send_shapes[me]) != fly_shape_bytes(&receive_shapes[me]))
        code = fly_fail(FLY_ERR_ARG, "%s: send_shapes[%zu]: %zu bytes to itself, "
                        "receive_shapes[%zu]: %zu", name, me, fly_shape_bytes(&send_shapes[me]),
                        me, fly_shape_bytes(&receive_shapes[me]));
    if (code != FLY_OK) return code;
    fly_call_keep_shapes(call, in_place ? 0 : size, send_shapes, send_at, size, receive_shapes,
                         receive_at);
    fly_call_choose(call, 0); /* all ranks must choose alike, so no sizes */
    return FLY_OK;
}

FLY_FORMS(alltoallw, (send, send_shapes, send_at, receive, receive_shapes, receive_at),
          const void *send, const fly_shape send_shapes[], const size_t send_at[], void *receive,
          const fly_shape receive_shapes[], const size_t receive_at[])
