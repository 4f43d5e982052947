/* Reduce-scatter: around the ring; each block directly to its owner; or up and down a tree. */
#include <string.h>

#include "call.h"
#include "error.h"
#include "trees.h"

enum { RING, LINEAR, TREE };

/* Computes the sizes and places of the blocks; they live as long as the schedule. */
static bool blocks_of(struct fly_sched *s, const struct fly_call *call,
                      struct fly_blocks *blocks) {
    size_t parts = (size_t)call->size, *numbers = fly_temporary(s, 2 * parts * sizeof *numbers);
    if (numbers == NULL) return false;
    size_t at = 0, element = fly_fold_bytes(&call->key.fold);
    for (size_t r = 0; r < parts; r++) {
        numbers[r] = call->arrays[0][r] * element;
        numbers[parts + r] = at;
        at += numbers[r];
    }
    *blocks = (struct fly_blocks){numbers, numbers + parts};
    return true;
}

/* Receives each rank's part of this rank's block separately, then folds in the order of ranks. */
static void linear(struct fly_sched *s, const struct fly_call *call,
                   const struct fly_blocks *blocks, const unsigned char *send) {
    size_t bytes = blocks->bytes[call->rank];
    unsigned char *all = fly_temporary(s, bytes * (size_t)call->size);
    fly_round(s);
    for (int k = 1; k < call->size; k++) {
        int to = fly_turned(call->rank, k, call->size);
        int from = fly_turned(call->rank, -k, call->size);
        fly_send_to(s, to, 0, send + blocks->at[to], blocks->bytes[to]);
        if (bytes != 0) fly_receive_from(s, from, 0, all + (size_t)from * bytes, bytes);
    }
    if (bytes == 0 || s->failed) return;
    fly_copy(s, all + (size_t)call->rank * bytes, send + blocks->at[call->rank], bytes);
    fly_round(s);
    fly_copy(s, call->key.receive, all, bytes);
    for (int r = 1; r < call->size; r++)
        fly_fold_local(s, call->key.receive, all + (size_t)r * bytes, bytes, FLY_TAKE_RIGHT);
}

static void tree(struct fly_sched *s, const struct fly_call *call,
                 const struct fly_blocks *blocks, unsigned char *total,
                 const unsigned char *own) {
    fly_tree_reduce(s, call, total, own, call->key.bytes, 0, 0);
    fly_round(s);
    if (call->rank != 0) {
        fly_receive_from(s, 0, 1, call->key.receive, blocks->bytes[call->rank]);
        return;
    }
    fly_copy(s, call->key.receive, total, blocks->bytes[0]);
    for (int r = 1; r < call->size; r++)
        fly_send_to(s, r, 1, total + blocks->at[r], blocks->bytes[r]);
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    struct fly_blocks blocks;
    const void *send = key->send == FLY_IN_PLACE ? key->receive : key->send;
    if (key->bytes == 0 || !blocks_of(s, call, &blocks)) return;
    if (key->algorithm == LINEAR) {
        linear(s, call, &blocks, send);
        return;
    }
    unsigned char *total = fly_temporary(s, key->bytes);
    if (total == NULL) return;
    fly_round(s);
    if (call->size == 1) fly_copy(s, total, send, key->bytes);
    if (key->algorithm == TREE) {
        tree(s, call, &blocks, total, call->size == 1 ? NULL : send);
        return;
    }
    fly_ring_reduce(s, call, total, send, &blocks, 0);
    fly_round(s);
    fly_copy(s, key->receive, total + blocks.at[call->rank], blocks.bytes[call->rank]);
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               void *receive, const size_t counts[], const fly_fold *fold) {
    size_t element, all = 0;
    int code = fly_call_open(call, name, team, FLY_C_REDUCE_SCATTER, build);
    if (code == FLY_OK) code = fly_fold_check(name, fold, &element);
    if (code == FLY_OK && counts == NULL)
        code = fly_fail(FLY_ERR_ARG, "%s: counts is NULL", name);
    for (int r = 0; code == FLY_OK && r < call->size; r++) {
        size_t one;
        code = fly_call_times(call, "counts", counts[r], element, &one);
        if (code == FLY_OK && __builtin_add_overflow(all, one, &all))
            code = fly_call_times(call, "counts", SIZE_MAX, element, &one);
    }
    if (code == FLY_OK)
        code = fly_call_apart(call, send, all, receive,
                              send == FLY_IN_PLACE ? all : counts[call->rank] * element);
    if (code != FLY_OK) return code;
    call->key.send = send;
    call->key.receive = receive;
    call->key.bytes = all;
    call->arrays[0] = counts;
    call->lengths[0] = (size_t)call->size;
    fly_call_fold(call, fold);
    fly_call_choose(call, all);
    return FLY_OK;
}

FLY_FORMS(reduce_scatter, (send, receive, counts, fold), const void *send, void *receive,
          const size_t counts[], const fly_fold *fold)
