/* Scatter: the root to all at once, or down a binomial tree. */
#include "call.h"
#include "error.h"
#include "trees.h"

enum { LINEAR, BINOMIAL };

static void linear(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    const unsigned char *send = key->send;
    fly_round(s);
    if (call->rank != key->root) {
        fly_receive_from(s, key->root, 0, key->receive, key->bytes);
        return;
    }
    for (int r = 0; r < call->size; r++)
        if (r != key->root) fly_send_to(s, r, 0, send + (size_t)r * key->bytes, key->bytes);
    if (key->receive != FLY_IN_PLACE)
        fly_copy(s, key->receive, send + (size_t)key->root * key->bytes, key->bytes);
}

/* Ranks are counted from the root, so that the blocks of a subtree are consecutive. */
static void binomial(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    int64_t size = call->size, mine = fly_turned(call->rank, -key->root, call->size), mask = 1;
    size_t bytes = key->bytes;
    const unsigned char *send = key->send;
    while (mask < size && (mine & mask) == 0) mask *= 2;
    int64_t blocks = mask < size - mine ? mask : size - mine;
    unsigned char *part = fly_temporary(s, bytes * (size_t)blocks);
    fly_round(s);
    if (mine == 0) {
        size_t first = (size_t)(size - key->root) * bytes;
        fly_copy(s, part, send + (size_t)key->root * bytes, first);
        fly_copy(s, part + first, send, (size_t)key->root * bytes);
    } else {
        fly_receive_from(s, fly_turned((int)(mine - mask), key->root, call->size), 0, part,
                         (size_t)blocks * bytes);
    }
    fly_round(s);
    if (key->receive != FLY_IN_PLACE) fly_copy(s, key->receive, part, bytes);
    for (int64_t step = mask / 2; step > 0; step /= 2) {
        if (mine + step >= size) continue;
        int64_t theirs = step < size - mine - step ? step : size - mine - step;
        fly_send_to(s, fly_turned((int)(mine + step), key->root, call->size), 0,
                    part + (size_t)step * bytes, (size_t)theirs * bytes);
    }
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    if (call->key.bytes == 0) return;
    if (call->key.algorithm == BINOMIAL)
        binomial(s, call);
    else
        linear(s, call);
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               void *receive, size_t bytes, int root) {
    size_t all = 0;
    int code = fly_call_open(call, name, team, FLY_C_SCATTER, build);
    if (code == FLY_OK) code = fly_call_root(call, root);
    if (code == FLY_OK) code = fly_call_times(call, "bytes", (size_t)call->size, bytes, &all);
    if (code == FLY_OK && receive == FLY_IN_PLACE && call->rank != root)
        code = fly_fail(FLY_ERR_ARG, "%s: receive: FLY_IN_PLACE is for the root", name);
    if (code == FLY_OK && send == FLY_IN_PLACE)
        code = fly_fail(FLY_ERR_ARG, "%s: send: FLY_IN_PLACE is for receive", name);
    if (code == FLY_OK)
        code = fly_call_apart(call, send, call->rank == root ? all : 0,
                              receive == FLY_IN_PLACE ? NULL : receive,
                              receive == FLY_IN_PLACE ? 0 : bytes);
    call->key.root = root;
    return code != FLY_OK ? code : fly_call_about(call, call->rank == root ? send : NULL,
                                                  receive, bytes);
}

FLY_FORMS(scatter, (send, receive, bytes, root), const void *send, void *receive, size_t bytes,
          int root)
