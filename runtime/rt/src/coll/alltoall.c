/* All to all: all messages at once, one partner in each round, or Bruck's (see allgather.c). */
#include "call.h"
#include "trees.h"

enum { LINEAR, PAIRWISE, BRUCK };

static void direct(struct fly_sched *s, const struct fly_call *call, const unsigned char *send,
                   bool rounds) {
    size_t bytes = call->key.bytes;
    unsigned char *receive = call->key.receive;
    fly_round(s);
    fly_copy(s, receive + (size_t)call->rank * bytes, send + (size_t)call->rank * bytes, bytes);
    for (int k = 1; k < call->size; k++) {
        int to = fly_turned(call->rank, k, call->size);
        int from = fly_turned(call->rank, -k, call->size);
        if (rounds) fly_round(s);
        fly_send_to(s, to, 0, send + (size_t)to * bytes, bytes);
        fly_receive_from(s, from, 0, receive + (size_t)from * bytes, bytes);
    }
}

/* Block i must go i ranks further. For each bit, the blocks whose i has it set go as one
   message. */
static void bruck(struct fly_sched *s, const struct fly_call *call, const unsigned char *send) {
    size_t bytes = call->key.bytes, size = (size_t)call->size, rank = (size_t)call->rank;
    unsigned char *blocks = fly_temporary(s, bytes * size);
    unsigned char *out = fly_temporary(s, bytes * size), *in = fly_temporary(s, bytes * size);
    if (s->failed) return;
    fly_round(s);
    for (size_t i = 0; i < size; i++)
        fly_copy(s, blocks + i * bytes, send + (rank + i) % size * bytes, bytes);
    int tag = 0;
    for (size_t bit = 1; bit < size; bit *= 2, tag++) {
        size_t count = 0;
        fly_round(s);
        for (size_t i = 0; i < size; i++)
            if ((i & bit) != 0) fly_copy(s, out + count++ * bytes, blocks + i * bytes, bytes);
        fly_send_to(s, (int)((rank + bit) % size), tag, out, count * bytes);
        fly_receive_from(s, (int)((rank + size - bit) % size), tag, in, count * bytes);
        fly_round(s);
        count = 0;
        for (size_t i = 0; i < size; i++)
            if ((i & bit) != 0) fly_copy(s, blocks + i * bytes, in + count++ * bytes, bytes);
    }
    fly_round(s);
    unsigned char *receive = call->key.receive;
    for (size_t i = 0; i < size; i++)
        fly_copy(s, receive + (rank + size - i) % size * bytes, blocks + i * bytes, bytes);
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    const unsigned char *send = key->send;
    if (key->bytes == 0) return;
    if (key->send == FLY_IN_PLACE) {
        size_t all = key->bytes * (size_t)call->size;
        unsigned char *copy = fly_temporary(s, all);
        fly_round(s);
        fly_copy(s, copy, key->receive, all);
        send = copy;
    }
    if (send == NULL) return;
    if (key->algorithm == BRUCK)
        bruck(s, call, send);
    else
        direct(s, call, send, key->algorithm == PAIRWISE);
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               void *receive, size_t bytes) {
    size_t all = 0;
    int code = fly_call_open(call, name, team, FLY_C_ALLTOALL, build);
    if (code == FLY_OK) code = fly_call_times(call, "bytes", (size_t)call->size, bytes, &all);
    if (code == FLY_OK) code = fly_call_apart(call, send, all, receive, all);
    return code != FLY_OK ? code : fly_call_about(call, send, receive, bytes);
}

FLY_FORMS(alltoall, (send, receive, bytes), const void *send, void *receive, size_t bytes)
