/* Barrier: n-way dissemination, or a tree.
 *
 * In round k of the dissemination, p sends to p + j (n+1)^k and receives from p - j (n+1)^k (mod
 * P), for j = 1 to n with j (n+1)^k < P. After ceil(log(P) / log(n+1)) rounds it has heard of all.
 * Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand, CAC 2006.
 */
#include "call.h"
#include "coll.h"

enum { DISSEMINATION, TREE };

static void dissemination(struct fly_sched *s, const struct fly_call *call) {
    int64_t size = call->size, n = (int64_t)call->key.parameter;
    int tag = 0;
    for (int64_t step = 1; step < size; step *= n + 1, tag++) {
        fly_round(s);
        for (int64_t j = 1; j <= n && j * step < size; j++)
            fly_signal(s, (int)((call->rank + j * step) % size), tag);
        for (int64_t j = 1; j <= n && j * step < size; j++)
            fly_await(s, (int)((call->rank - j * step % size + size) % size), tag);
    }
}

/* Goes up a binomial tree to rank 0, and down again. */
static void tree(struct fly_sched *s, const struct fly_call *call) {
    int64_t rank = call->rank, mask = 1;
    fly_round(s);
    for (; mask < call->size && (rank & mask) == 0; mask *= 2)
        if (rank + mask < call->size) fly_await(s, (int)(rank + mask), 0);
    if (rank != 0) {
        fly_round(s);
        fly_signal(s, (int)(rank - mask), 0);
        fly_await(s, (int)(rank - mask), 1);
    }
    fly_round(s);
    for (mask /= 2; mask > 0; mask /= 2)
        if (rank + mask < call->size) fly_signal(s, (int)(rank + mask), 1);
}

void fly_barrier_build(struct fly_sched *s, const struct fly_call *call) {
    if (call->key.algorithm == TREE)
        tree(s, call);
    else
        dissemination(s, call);
}

static int ask(struct fly_call *call, const char *name, fly_team *team) {
    int code = fly_call_open(call, name, team, FLY_C_BARRIER, fly_barrier_build);
    if (code == FLY_OK) fly_call_choose(call, 0);
    return code;
}

int fly_barrier(fly_team *team) {
    struct fly_call call;
    int code = ask(&call, "fly_barrier", team);
    return code != FLY_OK ? code : fly_call_run(&call);
}

int fly_ibarrier(fly_team *team, fly_req **req) {
    struct fly_call call;
    if (req != NULL) *req = NULL;
    int code = ask(&call, "fly_ibarrier", team);
    return code != FLY_OK ? code : fly_call_begin(&call, req, false);
}

int fly_barrier_init(fly_team *team, fly_req **req) {
    struct fly_call call;
    if (req != NULL) *req = NULL;
    int code = ask(&call, "fly_barrier_init", team);
    return code != FLY_OK ? code : fly_call_begin(&call, req, true);
}
