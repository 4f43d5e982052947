/* Scan: by doubling the distance, or along the chain of ranks.
 *
 * Hillis, Steele: Data parallel algorithms, CACM 29, 1986.
 */
#include "call.h"
#include "trees.h"

enum { DOUBLING, CHAIN };

/* Before the step of distance d, a rank has the fold of the d ranks up to itself. */
static void doubling(struct fly_sched *s, const struct fly_call *call, void *total) {
    size_t bytes = call->key.bytes;
    void *theirs = NULL;
    int tag = 0;
    for (int64_t d = 1; d < call->size; d *= 2, tag++) {
        fly_round(s);
        if (theirs != NULL) fly_fold_local(s, total, theirs, bytes, FLY_TAKE_LEFT);
        theirs = call->rank >= d ? fly_temporary(s, bytes) : NULL;
        if (call->rank + d < call->size)
            fly_send_to(s, (int)(call->rank + d), tag, total, bytes);
        if (theirs != NULL) fly_receive_from(s, (int)(call->rank - d), tag, theirs, bytes);
    }
    fly_round(s);
    if (theirs != NULL) fly_fold_local(s, total, theirs, bytes, FLY_TAKE_LEFT);
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    if (key->bytes == 0) return;
    fly_round(s);
    if (key->send != FLY_IN_PLACE) fly_copy(s, key->receive, key->send, key->bytes);
    if (key->algorithm == DOUBLING) {
        doubling(s, call, key->receive);
        return;
    }
    if (call->rank > 0)
        fly_fold_from(s, call->rank - 1, 0, key->receive, key->bytes, FLY_TAKE_LEFT);
    fly_round(s);
    if (call->rank + 1 < call->size)
        fly_send_to(s, call->rank + 1, 0, key->receive, key->bytes);
}

static int ask(struct fly_call *call, const char *name, fly_team *team, const void *send,
               void *receive, size_t count, const fly_fold *fold) {
    int code = fly_call_open(call, name, team, FLY_C_SCAN, build);
    return code != FLY_OK ? code : fly_call_folded(call, send, receive, count, fold);
}

FLY_FORMS(scan, (send, receive, count, fold), const void *send, void *receive, size_t count,
          const fly_fold *fold)
