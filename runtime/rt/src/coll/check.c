/* With FLYLOOM_CHECK=1 each call first compares its arguments over the team. */
#include <stdlib.h>
#include <string.h>

#include "trees.h"

/* What must be the same at all. */
struct claim {
    int32_t operation, root, type, op, ordered, algorithm, user, spare;
    uint64_t bytes, element, parameter, vector;
};

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
    bool own = key->operation == FLY_C_ALLTOALLV || key->operation == FLY_C_NEIGHBOUR_ALLTOALLV ||
               key->operation == FLY_C_NEIGHBOUR_ALLGATHERV; /* sizes of each rank's own */
    claim.bytes = own ? 0 : key->bytes;
    claim.vector = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; key->operation == FLY_C_REDUCE_SCATTER && i < call->lengths[0]; i++)
        claim.vector = (claim.vector ^ call->arrays[0][i]) * UINT64_C(1099511628211);
    return claim;
}

/* The argument in which two differ, and its values; NULL: none. */
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

static int judge(const struct fly_call *call, const struct claim *claims) {
    int size = call->size;
    /* claims[i] is of rank + i: all look from rank 0 on, and say the same. */
    const struct claim *first = &claims[(size - call->rank) % size];
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

int fly_call_compare(struct fly_call *call) {
    struct fly_coll *coll = call->coll;
    if (!coll->settings.checks || call->size == 1 || call->key.operation == FLY_C_INNER)
        return FLY_OK;
    if (coll->claims == NULL) {
        coll->claims = calloc((size_t)call->size, sizeof(struct claim));
        if (coll->claims == NULL) return fly_fail(FLY_ERR_NOMEM, "%s: no memory", call->name);
    }
    struct claim *claims = coll->claims;
    struct fly_call inner;
    int code = fly_call_open(&inner, call->name, call->team, FLY_C_INNER, build);
    if (code != FLY_OK) return code;
    inner.key.receive = claims;
    inner.key.bytes = sizeof *claims;
    claims[0] = claim_of(call);
    code = fly_call_run(&inner);
    return code == FLY_OK ? judge(call, claims) : code;
}
