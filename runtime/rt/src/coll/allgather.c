/* Allgather: around the ring, or by Bruck's doubling.
 *
 * Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications in
 * multiport message-passing systems, IEEE TPDS 8, 1997.
 */
#include "call.h"
#include "trees.h"

enum { RING, BRUCK };

void fly_bruck_gather(struct fly_sched *s, const struct fly_call *call, unsigned char *all,
                      size_t bytes) {
    int64_t size = call->size;
    int tag = 0;
    for (int64_t have = 1; have < size; have *= 2, tag++) {
        size_t part = (size_t)(have < size - have ? have : size - have) * bytes;
        fly_round(s);
        fly_send_to(s, (int)((call->rank - have + size) % size), tag, all, part);
        fly_receive_from(s, (int)((call->rank + have) % size), tag, all + (size_t)have * bytes,
                         part);
    }
}

static void bruck(struct fly_sched *s, const struct fly_call *call) {
    size_t bytes = call->key.bytes;
    int64_t size = call->size;
    unsigned char *receive = call->key.receive;
    unsigned char *all = fly_temporary(s, bytes * (size_t)size);
    fly_round(s);
    fly_copy(s, all, receive + (size_t)call->rank * bytes, bytes);
    fly_bruck_gather(s, call, all, bytes);
    size_t first = (size_t)(size - call->rank) * bytes;
    fly_round(s);
    fly_copy(s, receive + (size_t)call->rank * bytes, all, first);
    fly_copy(s, receive, all + first, (size_t)call->rank * bytes);
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    unsigned char *receive = key->receive;
    if (key->bytes == 0) return;
    fly_round(s);
    if (key->send != FLY_IN_PLACE)
        fly_copy(s, receive + (size_t)call->rank * key->bytes, key->send, key->bytes);
    if (key->algorithm == BRUCK) {
        bruck(s, call);
    } else {
        struct fly_blocks blocks = {&key->bytes, NULL};
        fly_ring_gather(s, call, receive, &blocks, call->rank, 0);
    }
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               void *receive, size_t bytes) {
    size_t all = 0;
    int code = fly_call_open(call, name, team, FLY_C_ALLGATHER, build);
    if (code == FLY_OK) code = fly_call_times(call, "bytes", (size_t)call->size, bytes, &all);
    if (code == FLY_OK) code = fly_call_apart(call, send, bytes, receive, all);
    return code != FLY_OK ? code : fly_call_about(call, send, receive, bytes);
}

FLY_FORMS(allgather, (send, receive, bytes), const void *send, void *receive, size_t bytes)
