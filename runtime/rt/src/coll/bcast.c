/* Broadcast: down a binomial tree, in segments along a chain, or by multicast. */
#include "call.h"
#include "trees.h"

enum { BINOMIAL, PIPELINE, MULTICAST = FLY_BCAST_MULTICAST };

void fly_tree_bcast(struct fly_sched *s, const struct fly_call *call, void *buffer, size_t bytes,
                    int root, int tag) {
    int size = call->size, mine = fly_turned(call->rank, -root, size);
    int64_t mask = 1;
    while (mask < size && (mine & mask) == 0) mask *= 2;
    if (mine != 0) {
        fly_round(s);
        fly_receive_from(s, fly_turned((int)(mine - mask), root, size), tag, buffer, bytes);
    }
    fly_round(s);
    for (mask /= 2; mask > 0; mask /= 2)
        if (mine + mask < size)
            fly_send_to(s, fly_turned((int)(mine + mask), root, size), tag, buffer, bytes);
}

/* In round k, segment k comes from the rank before, and segment k - 1 goes to the next rank. */
static void pipeline(struct fly_sched *s, const struct fly_call *call) {
    int size = call->size, mine = fly_turned(call->rank, -call->key.root, size);
    int before = fly_turned(call->rank, -1, size), behind = fly_turned(call->rank, 1, size);
    unsigned char *buffer = call->key.receive;
    size_t all = call->key.bytes, piece = call->key.parameter, count = (all + piece - 1) / piece;
    for (size_t k = 0; k <= count; k++) {
        size_t last = k == 0 ? 0 : (k - 1) * piece, next = k * piece;
        fly_round(s);
        if (mine != size - 1 && k > 0)
            fly_send_to(s, behind, (int)k - 1, buffer + last,
                        all - last < piece ? all - last : piece);
        if (mine != 0 && k < count)
            fly_receive_from(s, before, (int)k, buffer + next,
                             all - next < piece ? all - next : piece);
    }
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    if (call->key.algorithm == PIPELINE)
        pipeline(s, call);
    else if (call->key.algorithm == MULTICAST)
        fly_cast_build(s, call);
    else
        fly_tree_bcast(s, call, call->key.receive, call->key.bytes, call->key.root, 0);
}

static int ask(struct fly_call *call, const char *name, fly_team *team, void *buffer, size_t bytes,
               int root) {
    int code = fly_call_open(call, name, team, FLY_C_BCAST, build);
    if (code == FLY_OK) code = fly_call_root(call, root);
    if (code == FLY_OK) code = fly_call_apart(call, NULL, 0, buffer, bytes);
    call->key.root = root;
    return code != FLY_OK ? code : fly_call_about(call, NULL, buffer, bytes);
}

FLY_FORMS(bcast, (buffer, bytes, root), void *buffer, size_t bytes, int root)
