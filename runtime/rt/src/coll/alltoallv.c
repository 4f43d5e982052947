/* All to all with sizes and places for each rank: all at once, or one partner in each round. */
#include "call.h"
#include "error.h"
#include "trees.h"

enum { LINEAR, PAIRWISE };
enum { SEND_BYTES, SEND_AT, RECEIVE_BYTES, RECEIVE_AT };

static void build(struct fly_sched *s, const struct fly_call *call) {
    const size_t *const *arrays = call->arrays;
    bool in_place = call->key.send == FLY_IN_PLACE;
    const size_t *send_bytes = arrays[in_place ? RECEIVE_BYTES : SEND_BYTES];
    const size_t *send_at = arrays[in_place ? RECEIVE_AT : SEND_AT];
    const unsigned char *send = call->key.send;
    unsigned char *receive = call->key.receive, *copy = NULL;
    fly_round(s);
    if (in_place) {
        copy = fly_temporary(s, call->key.bytes);
        for (int r = 0; r < call->size && copy != NULL; r++)
            fly_copy(s, copy + send_at[r], receive + send_at[r], send_bytes[r]);
        send = copy;
    } else if (send_bytes[call->rank] != 0) {
        fly_copy(s, receive + arrays[RECEIVE_AT][call->rank], send + send_at[call->rank],
                 send_bytes[call->rank]);
    }
    for (int k = 1; k < call->size && !s->failed; k++) {
        int to = fly_turned(call->rank, k, call->size);
        int from = fly_turned(call->rank, -k, call->size);
        if (call->key.algorithm == PAIRWISE) fly_round(s);
        if (send_bytes[to] != 0) fly_send_to(s, to, 0, send + send_at[to], send_bytes[to]);
        if (arrays[RECEIVE_BYTES][from] != 0)
            fly_receive_from(s, from, 0, receive + arrays[RECEIVE_AT][from],
                             arrays[RECEIVE_BYTES][from]);
    }
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               const size_t send_bytes[], const size_t send_at[], void *receive,
               const size_t receive_bytes[], const size_t receive_at[]) {
    size_t out = 0, in = 0, size = 0;
    bool in_place = send == FLY_IN_PLACE;
    int code = fly_call_open(call, name, team, FLY_C_ALLTOALLV, build);
    if (code == FLY_OK) size = (size_t)call->size;
    if (code == FLY_OK)
        code = fly_call_extent(call, "receive", size, receive_bytes, receive_at, &in);
    if (code == FLY_OK && !in_place)
        code = fly_call_extent(call, "send", size, send_bytes, send_at, &out);
    if (code == FLY_OK) code = fly_call_disjoint(call, "rank", size, receive_bytes, receive_at);
    if (code == FLY_OK) code = fly_call_apart(call, send, out, receive, in);
    if (code == FLY_OK && !in_place && send_bytes[call->rank] != receive_bytes[call->rank])
        code = fly_fail(FLY_ERR_ARG, "%s: send_bytes[%d]: %zu to itself, receive_bytes[%d]: %zu",
                        name, call->rank, send_bytes[call->rank], call->rank,
                        receive_bytes[call->rank]);
    if (code != FLY_OK) return code;
    call->key.send = send;
    call->key.receive = receive;
    call->key.bytes = in;
    const size_t *arrays[] = {send_bytes, send_at, receive_bytes, receive_at};
    for (int i = in_place ? 2 : 0; i < 4; i++) {
        call->arrays[i] = arrays[i];
        call->lengths[i] = (size_t)call->size;
    }
    fly_call_choose(call, 0); /* all ranks must choose alike, so no sizes */
    return FLY_OK;
}

FLY_FORMS(alltoallv, (send, send_bytes, send_at, receive, receive_bytes, receive_at),
          const void *send, const size_t send_bytes[], const size_t send_at[], void *receive,
          const size_t receive_bytes[], const size_t receive_at[])
