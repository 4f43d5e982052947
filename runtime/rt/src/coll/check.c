/* With FLYLOOM_CHECK=1 each call first compares its arguments among the team.
 *
 * First it gathers what must be the same at all ranks. Then, where each rank has sizes of its own,
 * both ends of each message compare theirs by a message along the same edge, and a second gathering
 * collects what they found. All ranks see the same data, so all report the same error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "error.h"
#include "graph.h"
#include "shapes.h"
#include "trees.h"

/* What must be the same at all ranks; and whether the rank itself refused its arguments. */
struct claim {
    int32_t operation, root, type, op, ordered, algorithm, user, refused;
    uint64_t bytes, element, parameter, vector;
};

enum { SEND_BYTES, RECEIVE_BYTES = 2 };

static bool has_shapes(int operation) {
    return operation == FLY_C_ALLTOALLW || operation == FLY_C_NEIGHBOUR_ALLTOALLW;
}

/* Whether an operation has sizes for each rank, which must be equal at both ends of a message. */
static bool has_sizes(int operation) {
    return operation == FLY_C_ALLTOALLV || operation == FLY_C_NEIGHBOUR_ALLTOALLV ||
           operation == FLY_C_NEIGHBOUR_ALLGATHERV || has_shapes(operation);
}

static struct claim claim_of(const struct fly_call *call) {
    const struct fly_key *key = &call->key;
    struct claim claim;
    memset(&claim, 0, sizeof claim);
    claim.operation = key->operation;
    claim.root = key->root;
    claim.type = key->fold.type;
    claim.op = key->fold.op;
    claim.ordered = key->fold.ordered;
    claim.user = key->fold.apply != NULL;
    claim.algorithm = key->algorithm;
    claim.element = key->fold.bytes;
    claim.parameter = key->parameter;
    claim.bytes = has_sizes(key->operation) ? 0 : key->bytes;
    claim.vector = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; key->operation == FLY_C_REDUCE_SCATTER && i < call->lengths[0]; i++)
        claim.vector = (claim.vector ^ call->arrays[0][i]) * UINT64_C(1099511628211);
    return claim;
}

/* The first argument in which two claims differ, and its two values; NULL: none. */
static const char *difference(const struct claim *a, const struct claim *b, int64_t *left,
                              int64_t *right) {
    const struct {
        const char *name;
        int64_t left, right;
    } fields[] = {
        {fly_on_graph((int)a->operation) ? "graph" : "root", a->root, b->root},
        {"fold type", a->type, b->type},
        {"fold op", a->op, b->op},
        {"fold ordered", a->ordered, b->ordered},
        {"fold apply", a->user, b->user},
        {"bytes of an element", (int64_t)a->element, (int64_t)b->element},
        {"bytes", (int64_t)a->bytes, (int64_t)b->bytes},
        {"counts (as a hash)", (int64_t)a->vector, (int64_t)b->vector},
        {"FLYLOOM_COLL or FLYLOOM_LOGGP (algorithm)", a->algorithm, b->algorithm},
        {"FLYLOOM_COLL or FLYLOOM_LOGGP (parameter)", (int64_t)a->parameter,
         (int64_t)b->parameter},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *left = fields[i].left;
        *right = fields[i].right;
        if (*left != *right) return fields[i].name;
    }
    return NULL;
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    fly_bruck_gather(s, call, call->key.receive, call->key.bytes);
}

static int judge(const struct fly_call *call, const struct claim *claims, int code) {
    int size = call->size;
    /* claims[i] is of rank + i; all start to compare at rank 0, so all report the same. */
    const struct claim *first = &claims[(size - call->rank) % size];
    if (code != FLY_OK) return code; /* this rank has reported the details */
    for (int r = 0; r < size; r++) {
        int refused = claims[(r - call->rank + size) % size].refused;
        if (refused != FLY_OK)
            return fly_fail(refused, "%s: the arguments of rank %d are refused there: %s",
                            call->name, r, fly_strerror(refused));
    }
    for (int r = 1; r < size; r++) {
        const struct claim *other = &claims[(r - call->rank + size) % size];
        int64_t left, right;
        if (other->operation != first->operation)
            return fly_fail(FLY_ERR_ARG, "%s: rank %d calls fly_%s, rank 0 fly_%s", call->name, r,
                            fly_operations[other->operation].name,
                            fly_operations[first->operation].name);
        const char *name = difference(other, first, &left, &right);
        if (name != NULL)
            return fly_fail(FLY_ERR_ARG, "%s: %s: %lld at rank %d, %lld at rank 0", call->name,
                            name, (long long)left, r, (long long)right);
    }
    return FLY_OK;
}

/* Gathers one block of `bytes` from each rank; `all` begins with this rank's, filled in before. */
static int gather(const struct fly_call *call, void *all, size_t bytes) {
    struct fly_call inner;
    int code = fly_call_open(&inner, call->name, call->team, FLY_C_INNER, build);
    if (code != FLY_OK) return code;
    inner.key.receive = all;
    inner.key.bytes = bytes;
    return fly_call_run(&inner);
}

/* The size of the message along an edge, as its sender has it. */
struct size {
    uint64_t bytes, place;
};

/* A message whose two ends have different sizes, at receiver `to`; or none. */
struct mismatch {
    int64_t from, to;
    uint64_t sent, sent_place, wanted, wanted_place;
};

/* The rank at the other end of one of this rank's edges, or of all ranks. */
static int peer_of(const struct fly_call *call, size_t place, bool in) {
    if (call->graph == NULL) return (int)place;
    return in ? call->graph->sources[place] : call->graph->targets[place];
}

static size_t count_of(const struct fly_call *call, bool in) {
    if (call->graph == NULL) return (size_t)call->size;
    return in ? call->graph->in_count : call->graph->out_count;
}

static uint64_t bytes_of(const struct fly_call *call, size_t place, bool in) {
    const size_t *sizes = call->arrays[in ? RECEIVE_BYTES : SEND_BYTES];
    if (sizes == NULL && call->key.send == FLY_IN_PLACE) sizes = call->arrays[RECEIVE_BYTES];
    if (has_shapes(call->key.operation)) return fly_shape_bytes(&fly_shapes_of(sizes)[place]);
    return sizes == NULL ? call->key.bytes : sizes[place];
}

/* Sends a size along every edge. A rank's edges to itself were compared when the call was
   checked. */
static void build_sizes(struct fly_sched *s, const struct fly_call *call) {
    struct size *to = call->key.receive;
    const struct size *from = call->key.send;
    const struct fly_graph *graph = call->graph;
    fly_round(s);
    for (size_t i = 0; i < count_of(call, false); i++) {
        int peer = graph == NULL ? (int)i : graph->outs[i].peer;
        if (peer == call->rank) continue;
        fly_send_to(s, peer, graph == NULL ? 0 : graph->outs[i].tag,
                    &from[graph == NULL ? i : (size_t)graph->outs[i].slot], sizeof *from);
    }
    for (size_t i = 0; i < count_of(call, true); i++) {
        int peer = graph == NULL ? (int)i : graph->ins[i].peer;
        if (peer == call->rank) continue;
        fly_receive_from(s, peer, graph == NULL ? 0 : graph->ins[i].tag,
                         &to[graph == NULL ? i : (size_t)graph->ins[i].slot], sizeof *to);
    }
}

/* Finds the first message to this rank whose ends differ. */
static int find_mismatch(const struct fly_call *call, struct size *sizes, struct mismatch *found) {
    size_t outs = count_of(call, false), ins = count_of(call, true);
    struct fly_call inner;
    int code = fly_call_open(&inner, call->name, call->team, FLY_C_INNER, build_sizes);
    if (code != FLY_OK) return code;
    for (size_t i = 0; i < outs; i++) sizes[i] = (struct size){bytes_of(call, i, false), i};
    inner.key.send = sizes;
    inner.key.receive = sizes + outs;
    inner.key.root = call->graph == NULL ? -1 : call->graph->number;
    inner.graph = call->graph;
    code = fly_call_run(&inner);
    *found = (struct mismatch){.to = -1};
    for (size_t i = 0; i < ins && code == FLY_OK && found->to < 0; i++) {
        const struct size *sent = &sizes[outs + i];
        int peer = peer_of(call, i, true);
        if (peer == call->rank || sent->bytes == bytes_of(call, i, true)) continue;
        *found = (struct mismatch){peer, call->rank, sent->bytes, sent->place,
                                 bytes_of(call, i, true), i};
    }
    return code;
}

static int say(const struct fly_call *call, const struct mismatch *found) {
    char sent[40] = "bytes";
    const char *of = has_shapes(call->key.operation) ? "shapes" : "bytes";
    const char *unit = has_shapes(call->key.operation) ? " bytes" : "";
    if (call->key.operation != FLY_C_NEIGHBOUR_ALLGATHERV)
        snprintf(sent, sizeof sent, "%s_%s[%llu]",
                 call->key.send == FLY_IN_PLACE ? "receive" : "send", of,
                 (unsigned long long)found->sent_place);
    return fly_fail(FLY_ERR_ARG, "%s: %s: %llu%s at rank %lld, receive_%s[%llu]: %llu%s at rank "
                    "%lld, which it is sent to", call->name, sent, (unsigned long long)found->sent,
                    unit, (long long)found->from, of, (unsigned long long)found->wanted_place,
                    (unsigned long long)found->wanted, unit, (long long)found->to);
}

/* Compares the sizes at both ends of each message, once all ranks are known to make the same
   call. */
static int compare_ends(const struct fly_call *call) {
    size_t size = (size_t)call->size, all = count_of(call, false) + count_of(call, true);
    struct mismatch *mismatches = calloc(size, sizeof *mismatches);
    struct size *sizes = calloc(all + 1, sizeof *sizes);
    bool there = mismatches != NULL && sizes != NULL;
    int code = there ? find_mismatch(call, sizes, &mismatches[0])
                     : fly_fail(FLY_ERR_NOMEM, "%s: no memory to compare", call->name);
    if (code == FLY_OK) code = gather(call, mismatches, sizeof *mismatches);
    for (size_t r = 0; r < size && code == FLY_OK; r++) {
        const struct mismatch *found = &mismatches[(r + size - (size_t)call->rank) % size];
        if (found->to >= 0) code = say(call, found);
    }
    free(mismatches);
    free(sizes);
    return code;
}

static int compare(struct fly_call *call, int refused) {
    struct fly_coll *coll = call->coll;
    if (coll->claims == NULL) {
        coll->claims = calloc((size_t)call->size, sizeof(struct claim));
        if (coll->claims == NULL) return fly_fail(FLY_ERR_NOMEM, "%s: no memory", call->name);
    }
    struct claim *claims = coll->claims;
    claims[0] = claim_of(call);
    claims[0].refused = refused;
    int code = gather(call, claims, sizeof *claims);
    if (code == FLY_OK) code = judge(call, claims, refused);
    return code == FLY_OK && has_sizes(call->key.operation) ? compare_ends(call) : code;
}

static bool is_compared(const struct fly_call *call) {
    return call->coll != NULL && call->coll->settings.checks && call->size > 1 &&
           call->key.operation != FLY_C_INNER;
}

int fly_call_compare(struct fly_call *call) {
    return is_compared(call) ? compare(call, FLY_OK) : FLY_OK;
}

int fly_call_refused(struct fly_call *call, int code) {
    return is_compared(call) ? compare(call, code) : code;
}
