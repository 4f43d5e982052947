/* All to all with sizes and places for each rank: everything at once, or a partner a round. */
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

/* Where the last of the blocks ends. */
static int extent(const struct fly_call *call, const char *what, const size_t *bytes,
                  const size_t *at, size_t *end) {
    *end = 0;
    if (bytes == NULL || at == NULL)
        return fly_fail(FLY_ERR_ARG, "%s: %s_bytes or %s_at is NULL", call->name, what, what);
    for (int r = 0; r < call->size; r++) {
        size_t one;
        if (bytes[r] == 0) continue;
        if (__builtin_add_overflow(bytes[r], at[r], &one) || one > SIZE_MAX / 2)
            return fly_fail(FLY_ERR_ARG, "%s: %s_at[%d]: %zu bytes at %zu are more than memory can "
                            "have", call->name, what, r, bytes[r], at[r]);
        if (one > *end) *end = one;
    }
    return FLY_OK;
}

/* Blocks that are written may not share bytes. */
static int apart(const struct fly_call *call, const size_t *bytes, const size_t *at) {
    for (int r = 0; r < call->size; r++)
        for (int q = 0; q < r && call->size <= 64; q++)
            if (bytes[r] != 0 && bytes[q] != 0 && at[r] < at[q] + bytes[q] &&
                at[q] < at[r] + bytes[r])
                return fly_fail(FLY_ERR_ARG, "%s: receive_at: the blocks of rank %d and %d "
                                "overlap", call->name, q, r);
    return FLY_OK;
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               const size_t send_bytes[], const size_t send_at[], void *receive,
               const size_t receive_bytes[], const size_t receive_at[]) {
    size_t out = 0, in = 0;
    bool in_place = send == FLY_IN_PLACE;
    int code = fly_call_open(call, name, team, FLY_C_ALLTOALLV, build);
    if (code == FLY_OK) code = extent(call, "receive", receive_bytes, receive_at, &in);
    if (code == FLY_OK && !in_place) code = extent(call, "send", send_bytes, send_at, &out);
    if (code == FLY_OK) code = apart(call, receive_bytes, receive_at);
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
    fly_call_choose(call, 0); /* by what all know */
    return FLY_OK;
}

FLY_FORMS(alltoallv, (send, send_bytes, send_at, receive, receive_bytes, receive_at),
          const void *send, const size_t send_bytes[], const size_t send_at[], void *receive,
          const size_t receive_bytes[], const size_t receive_at[])
