/* Reduce: up a binomial tree, or in segments along a chain.
 *
 * A fold that is not commutative goes to rank 0 in the order of ranks, and from there to the root.
 */
#include "call.h"
#include "error.h"
#include "trees.h"

enum { BINOMIAL, PIPELINE };
enum { TAG_LAST = 1 << 20 };

void fly_tree_reduce(struct fly_sched *s, const struct fly_call *call, void *total,
                     const void *own, size_t bytes, int root, int tag) {
    int size = call->size, mine = fly_turned(call->rank, -root, size);
    int64_t mask = 1;
    for (; mask < size && (mine & mask) == 0; mask *= 2) {
        if (mine + mask >= size) continue;
        fly_round(s);
        fly_fold_onto(s, fly_turned((int)(mine + mask), root, size), tag, total, own, bytes,
                      FLY_TAKE_RIGHT);
        own = NULL;
    }
    fly_round(s);
    if (mine != 0)
        fly_send_to(s, fly_turned((int)(mine - mask), root, size), tag, own == NULL ? total : own,
                    bytes);
    else if (own != NULL)
        fly_copy(s, total, own, bytes); /* the only rank copies its part */
}

/* Goes from the last rank to the first, counted from the root; round k folds segment k into this
   rank's and sends segment k - 1. */
static void pipeline(struct fly_sched *s, const struct fly_call *call, unsigned char *total,
                     const unsigned char *own, int root) {
    int size = call->size, mine = fly_turned(call->rank, -root, size);
    int before = fly_turned(call->rank, -1, size), behind = fly_turned(call->rank, 1, size);
    size_t element = fly_fold_bytes(&call->key.fold), all = call->key.bytes;
    size_t wanted = call->key.parameter;
    size_t piece = wanted < element ? element : wanted / element * element;
    size_t count = (all + piece - 1) / piece;
    const unsigned char *from = mine == size - 1 && own != NULL ? own : total;
    if (size == 1 && own != NULL) fly_copy(s, total, own, all);
    for (size_t k = 0; k <= count; k++) {
        size_t last = k == 0 ? 0 : (k - 1) * piece, next = k * piece;
        fly_round(s);
        if (mine != 0 && k > 0)
            fly_send_to(s, before, (int)k - 1, from + last,
                        all - last < piece ? all - last : piece);
        if (mine != size - 1 && k < count)
            fly_fold_onto(s, behind, (int)k, total + next, own == NULL ? NULL : own + next,
                          all - next < piece ? all - next : piece, FLY_TAKE_RIGHT);
    }
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    bool ordered = key->fold.ordered != 0, is_root = call->rank == key->root;
    int top = ordered ? 0 : key->root;
    int mine = fly_turned(call->rank, -top, call->size);
    bool leaf = mine == call->size - 1 || (key->algorithm == BINOMIAL && mine % 2 != 0);
    const void *own = key->send == FLY_IN_PLACE ? NULL : key->send;
    void *total = is_root ? key->receive : leaf ? NULL : fly_temporary(s, key->bytes);
    fly_round(s);
    if (key->algorithm == PIPELINE)
        pipeline(s, call, total, own, top);
    else
        fly_tree_reduce(s, call, total, own, key->bytes, top, 0);
    if (top == key->root) return;
    fly_round(s);
    if (call->rank == top) fly_send_to(s, key->root, TAG_LAST, total, key->bytes);
    if (is_root) fly_receive_from(s, top, TAG_LAST, key->receive, key->bytes);
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               void *receive, size_t count, const fly_fold *fold, int root) {
    size_t element, bytes;
    int code = fly_call_open(call, name, team, FLY_C_REDUCE, build);
    if (code == FLY_OK) code = fly_call_root(call, root);
    if (code == FLY_OK) code = fly_fold_check(name, fold, &element);
    if (code == FLY_OK) code = fly_call_times(call, "count", count, element, &bytes);
    if (code == FLY_OK && send == FLY_IN_PLACE && call->rank != root)
        code = fly_fail(FLY_ERR_ARG, "%s: send: FLY_IN_PLACE is for the root", name);
    if (code == FLY_OK)
        code = fly_call_apart(call, send, bytes, receive, call->rank == root ? bytes : 0);
    if (code != FLY_OK) return code;
    call->key.send = send;
    call->key.receive = call->rank == root ? receive : NULL;
    call->key.bytes = bytes;
    call->key.root = root;
    fly_call_fold(call, fold);
    fly_call_choose(call, bytes);
    return FLY_OK;
}

FLY_FORMS(reduce, (send, receive, count, fold, root), const void *send, void *receive,
          size_t count, const fly_fold *fold, int root)
