/* Chooses the algorithm of a call: the one that was set, or the one that the model finds
   fastest. */
#include <math.h>
#include <string.h>

#include "coll.h"

/* The algorithm of an operation that brackets every fold by ranks alone. */
static int repeatable(int operation) {
    switch (operation) {
    case FLY_C_ALLREDUCE: return 3;      /* tree */
    case FLY_C_REDUCE_SCATTER: return 2; /* tree */
    case FLY_C_SCAN: return 1;           /* chain */
    default: return 0;                   /* reduce: binomial */
    }
}

static bool folds(int operation) {
    return operation == FLY_C_REDUCE || operation == FLY_C_ALLREDUCE ||
           operation == FLY_C_REDUCE_SCATTER || operation == FLY_C_SCAN;
}

static size_t parameter_of(const struct fly_coll *coll, const struct fly_algorithm *algorithm,
                           size_t bytes) {
    if (algorithm->best == NULL) return 0;
    return algorithm->best(&coll->settings.loggp, coll->team->size, bytes);
}

static void by_model(struct fly_call *call, size_t bytes) {
    const struct fly_coll *coll = call->coll;
    const struct fly_operation_table *table = &fly_operations[call->key.operation];
    double least = 0;
    bool found = false;
    for (int i = 0; i < table->count; i++) {
        const struct fly_algorithm *one = &table->algorithms[i];
        if (call->key.fold.ordered && !one->ordered) continue;
        size_t parameter = parameter_of(coll, one, bytes);
        double time = one->predict(&coll->settings.loggp, call->parts, bytes, parameter);
        if (found && time >= least) continue;
        found = true;
        least = time;
        call->key.algorithm = i;
        call->key.parameter = parameter;
    }
}

static void by_setting(struct fly_call *call, size_t bytes, const struct fly_choice *choice) {
    const struct fly_algorithm *one =
        &fly_operations[call->key.operation].algorithms[choice->algorithm];
    call->key.algorithm = choice->algorithm;
    call->key.parameter = choice->parameter;
    if (choice->parameter == 0) call->key.parameter = parameter_of(call->coll, one, bytes);
    if (one->parameter == NULL || strcmp(one->parameter, "segment") != 0) return;
    while (call->key.parameter * 4096 < bytes) call->key.parameter *= 2; /* fewer rounds */
}

/* Whether the algorithm that was set can be used: it keeps the order of folds; multicast is
   open. */
static bool can_be(const struct fly_call *call, const struct fly_choice *choice, size_t bytes) {
    if (choice->algorithm < 0) return false;
    const struct fly_algorithm *one =
        &fly_operations[call->key.operation].algorithms[choice->algorithm];
    if (call->key.fold.ordered && !one->ordered) return false;
    return isfinite(one->predict(&call->coll->settings.loggp, call->parts, bytes, 1));
}

void fly_call_choose(struct fly_call *call, size_t bytes) {
    struct fly_coll *coll = call->coll;
    int operation = call->key.operation;
    const struct fly_choice *choice = &coll->settings.choices[operation];
    struct fly_memo *memo = &coll->memos[operation];
    bool ordered = call->key.fold.ordered != 0;
    if (memo->there && memo->bytes == bytes && memo->ordered == ordered &&
        memo->parts == call->parts) {
        call->key.algorithm = memo->algorithm;
        call->key.parameter = memo->parameter;
        return;
    }
    if (coll->settings.repeats && folds(operation)) {
        call->key.algorithm = repeatable(operation);
    } else if (can_be(call, choice, bytes)) {
        by_setting(call, bytes, choice);
    } else {
        by_model(call, bytes);
    }
    *memo = (struct fly_memo){.there = true,
                              .ordered = ordered,
                              .algorithm = call->key.algorithm,
                              .parts = call->parts,
                              .parameter = call->key.parameter,
                              .bytes = bytes};
}
