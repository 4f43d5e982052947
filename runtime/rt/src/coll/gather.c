/* Gather: all to the root at once, or up a binomial tree. */
#include "call.h"
#include "error.h"
#include "trees.h"

enum { LINEAR, BINOMIAL };

static void linear(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    fly_round(s);
    if (call->rank != key->root) {
        fly_send_to(s, key->root, 0, key->send, key->bytes);
        return;
    }
    unsigned char *receive = key->receive;
    for (int r = 0; r < call->size; r++)
        if (r != key->root)
            fly_receive_from(s, r, 0, receive + (size_t)r * key->bytes, key->bytes);
    if (key->send != FLY_IN_PLACE)
        fly_copy(s, receive + (size_t)key->root * key->bytes, key->send, key->bytes);
}

/* Ranks are counted from the root, so that the blocks of a subtree are consecutive. */
static void binomial(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    int64_t size = call->size, mine = fly_turned(call->rank, -key->root, call->size), mask = 1;
    size_t bytes = key->bytes;
    unsigned char *receive = key->receive;
    while (mask < size && (mine & mask) == 0) mask *= 2;
    int64_t blocks = mask < size - mine ? mask : size - mine;
    unsigned char *part = fly_temporary(s, bytes * (size_t)blocks);
    const void *own = key->send != FLY_IN_PLACE ? key->send
                                                : receive + (size_t)key->root * bytes;
    fly_round(s);
    fly_copy(s, part, own, bytes);
    for (int64_t step = 1; step < mask && mine + step < size; step *= 2) {
        int64_t theirs = step < size - mine - step ? step : size - mine - step;
        fly_receive_from(s, fly_turned((int)(mine + step), key->root, call->size), 0,
                         part + (size_t)step * bytes, (size_t)theirs * bytes);
    }
    fly_round(s);
    if (mine != 0) {
        fly_send_to(s, fly_turned((int)(mine - mask), key->root, call->size), 0, part,
                    (size_t)blocks * bytes);
        return;
    }
    size_t first = (size_t)(size - key->root) * bytes;
    fly_copy(s, receive + (size_t)key->root * bytes, part, first);
    fly_copy(s, receive, part + first, (size_t)key->root * bytes);
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
    int code = fly_call_open(call, name, team, FLY_C_GATHER, build);
    if (code == FLY_OK) code = fly_call_root(call, root);
    if (code == FLY_OK) code = fly_call_times(call, "bytes", (size_t)call->size, bytes, &all);
    if (code == FLY_OK && send == FLY_IN_PLACE && call->rank != root)
        code = fly_fail(FLY_ERR_ARG, "%s: send: FLY_IN_PLACE is for the root", name);
    if (code == FLY_OK)
        code = fly_call_apart(call, send, bytes, receive, call->rank == root ? all : 0);
    call->key.root = root;
    return code != FLY_OK ? code : fly_call_about(call, send,
                                                  call->rank == root ? receive : NULL, bytes);
}

FLY_FORMS(gather, (send, receive, bytes, root), const void *send, void *receive, size_t bytes,
          int root)
