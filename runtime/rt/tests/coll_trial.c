/* One collective call with random arguments: expected values come from formulas over the ranks. */
#include "coll_trial.h"

#include <stdbool.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xA5 };
enum { SUM_U64, MIN_I32, MAX_DOUBLE, XOR_U8, SUM_I16, LAND_U32, AFFINE, KINDS };

static const char *const NAMES[] = {"barrier", "bcast", "reduce", "allreduce", "allgather",
                                    "gather", "scatter", "reduce_scatter", "alltoall",
                                    "alltoallv", "alltoallw", "scan"};

const char *trial_name(const struct trial *trial) { return NAMES[trial->operation]; }

/* Maps x -> a x + b, composed: an associative operation that is not commutative. */
struct affine {
    uint32_t a, b;
};

static void affine(void *context, const void *left, void *inout, size_t count) {
    const struct affine *l = left;
    struct affine *r = inout;
    CHECK(*(int *)context == 77, "the context of a user's function");
    for (size_t i = 0; i < count; i++)
        r[i] = (struct affine){l[i].a * r[i].a, l[i].a * r[i].b + l[i].b};
}

static int mark = 77;

static void draw_fold(struct trial *t, uint64_t *random) {
    static const fly_fold FOLDS[KINDS] = {
        [SUM_U64] = {.type = FLY_UINT64, .op = FLY_SUM},
        [MIN_I32] = {.type = FLY_INT32, .op = FLY_MIN},
        [MAX_DOUBLE] = {.type = FLY_DOUBLE, .op = FLY_MAX},
        [XOR_U8] = {.type = FLY_UINT8, .op = FLY_BXOR},
        [SUM_I16] = {.type = FLY_INT16, .op = FLY_SUM},
        [LAND_U32] = {.type = FLY_UINT32, .op = FLY_LAND},
        [AFFINE] = {.type = FLY_BYTES, .bytes = 8, .ordered = 1, .apply = affine},
    };
    static const size_t ELEMENTS[KINDS] = {8, 4, 8, 1, 2, 4, 8};
    t->kind = (int)below(random, KINDS);
    t->fold = FOLDS[t->kind];
    if (t->kind == AFFINE) t->fold.context = &mark;
    t->element = ELEMENTS[t->kind];
}

/* Byte i of what `rank` sends, as drawn for the epoch. */
static unsigned char byte_of(const struct trial *t, int rank, uint64_t epoch, size_t i) {
    uint64_t word = t->seed * 31 + epoch * 1000003 + (uint64_t)rank * 7919 + i / 8;
    word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
    word ^= word >> 31;
    return (unsigned char)(word >> (i % 8) * 8);
}

static void bytes_of(const struct trial *t, int rank, uint64_t epoch, size_t at, void *to,
                     size_t bytes) {
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)to)[i] = byte_of(t, rank, epoch, at + i);
}

/* Element i of a rank; doubles are whole numbers, so that no rounding hides in them. */
static void element_of(const struct trial *t, int rank, uint64_t epoch, size_t i, void *to) {
    uint64_t word;
    bytes_of(t, rank, epoch, i * 8, &word, 8);
    double whole = (double)(int32_t)word;
    uint32_t truth = word % 8 != 0;
    if (t->kind == MAX_DOUBLE)
        memcpy(to, &whole, 8);
    else if (t->kind == LAND_U32)
        memcpy(to, &truth, 4);
    else
        memcpy(to, &word, t->element);
}

/* Folds total . next, as the kind of fold demands. */
static void join(int kind, void *total, const void *next) {
    uint64_t a = 0, b = 0;
    int32_t i, j;
    double x, y;
    switch (kind) {
    case SUM_U64:
        memcpy(&a, total, 8);
        memcpy(&b, next, 8);
        a += b;
        memcpy(total, &a, 8);
        return;
    case MIN_I32:
        memcpy(&i, total, 4);
        memcpy(&j, next, 4);
        memcpy(total, i < j ? &i : &j, 4);
        return;
    case MAX_DOUBLE:
        memcpy(&x, total, 8);
        memcpy(&y, next, 8);
        memcpy(total, x > y ? &x : &y, 8);
        return;
    case XOR_U8: *(unsigned char *)total ^= *(const unsigned char *)next; return;
    case SUM_I16:
        memcpy(&a, total, 2);
        memcpy(&b, next, 2);
        a += b;
        memcpy(total, &a, 2);
        return;
    case LAND_U32:
        memcpy(&i, total, 4);
        memcpy(&j, next, 4);
        i = i && j;
        memcpy(total, &i, 4);
        return;
    default: {
        struct affine l, r;
        memcpy(&l, total, 8);
        memcpy(&r, next, 8);
        r = (struct affine){l.a * r.a, l.a * r.b + l.b};
        memcpy(total, &r, 8);
    }
    }
}

/* The expected elements first to first + count - 1, folded over ranks 0 to last. */
static void folded(const struct trial *t, uint64_t epoch, int last, size_t first, size_t count,
                   unsigned char *to) {
    unsigned char next[8];
    for (size_t i = 0; i < count; i++) {
        element_of(t, 0, epoch, first + i, to + i * t->element);
        for (int r = 1; r <= last; r++) {
            element_of(t, r, epoch, first + i, next);
            join(t->kind, to + i * t->element, next);
        }
    }
}

/* Writes the blocks of a shape that one rank sends to another. */
static void shaped_of(const struct trial *t, int pair, uint64_t epoch, const fly_shape *shape,
                      size_t at, unsigned char *to) {
    size_t bytes = shape->blocks * shape->block_bytes;
    for (size_t i = 0; i < bytes; i++)
        to[shape_place(shape, at, i)] = byte_of(t, pair, epoch, i);
}

static bool folds(const struct trial *t) {
    return t->operation == REDUCE || t->operation == ALLREDUCE ||
           t->operation == REDUCE_SCATTER || t->operation == SCAN;
}

/* How many bytes rank r sends to rank s in alltoallv and alltoallw. */
static size_t part(const struct trial *t, int r, int s) {
    uint64_t state = t->seed + (uint64_t)(r * SIZE_MOST + s);
    if (t->in_place && r > s) return part(t, s, r);
    return below(&state, 3) == 0 ? 0 : (size_t)below(&state, t->count + 1);
}

static void draw_sizes(struct trial *t, uint64_t *random) {
    size_t size = (size_t)t->size, out = 0, in = 0;
    for (int r = 0; r < t->size; r++) {
        if (t->operation == REDUCE_SCATTER) {
            t->counts[r] = below(random, 3) == 0 ? 0 : (size_t)below(random, t->count + 1);
        } else {
            t->counts[r] = part(t, t->rank, r);
            t->counts_in[r] = part(t, r, t->rank);
        }
        if (t->operation == ALLTOALLW) {
            uint64_t state = t->seed * 7 + (uint64_t)(t->rank * SIZE_MOST + r);
            t->shapes[r] = draw_shape(draw(&state), t->counts[r], &out, &t->at[r]);
            t->shapes_in[r] = draw_shape(draw(&state), t->counts_in[r], &in, &t->at_in[r]);
            continue;
        }
        t->at[r] = out;
        t->at_in[r] = in + (t->operation == ALLTOALLV ? (size_t)r : 0); /* leaves gaps */
        out += t->counts[r];
        in += t->counts_in[r];
    }
    size_t whole = t->count * (folds(t) ? t->element : 1);
    bool root = t->rank == t->root;
    size_t sends[] = {0, 0, whole, whole, whole, whole, root ? whole * size : 0,
                      out * t->element, whole * size, out, out, whole};
    size_t receives[] = {0, whole, root ? whole : 0, whole, whole * size,
                         root ? whole * size : 0, whole,
                         t->in_place ? out * t->element : t->counts[t->rank] * t->element,
                         whole * size, in + size, in, whole};
    t->send_bytes = sends[t->operation];
    t->receive_bytes = receives[t->operation];
}

void trial_draw(struct trial *t, fly_team *team, int rank, int size, uint64_t seed, size_t most) {
    uint64_t random = seed;
    memset(t, 0, sizeof *t);
    t->team = team;
    t->rank = rank;
    t->size = size;
    t->seed = seed;
    t->operation = (enum operation)below(&random, OPERATIONS);
    t->root = (int)below(&random, (uint64_t)size);
    t->in_place = below(&random, 4) == 0;
    uint64_t how = below(&random, 8);
    t->count = how == 0 ? 0 : how < 5 ? 1 + below(&random, 12) : 1 + below(&random, most);
    draw_fold(t, &random);
    draw_sizes(t, &random);
    t->send = calloc(1, t->send_bytes + 2 * GUARD);
    t->receive = calloc(1, t->receive_bytes + 2 * GUARD);
    CHECK(t->send != NULL && t->receive != NULL, "memory");
}

void trial_end(struct trial *t) {
    free(t->send);
    free(t->receive);
}

/* Where a rank's own contribution is if the call is in place. */
static unsigned char *own(const struct trial *t) {
    unsigned char *receive = t->receive + GUARD;
    bool root = t->rank == t->root;
    if (t->operation == SCATTER || !t->in_place) return t->send + GUARD;
    switch (t->operation) {
    case REDUCE: return root ? receive : t->send + GUARD;
    case GATHER: return root ? receive + (size_t)t->rank * t->count : t->send + GUARD;
    case ALLGATHER: return receive + (size_t)t->rank * t->count;
    default: return receive;
    }
}

void trial_fill(struct trial *t, uint64_t epoch) {
    memset(t->send, GUARD_BYTE, t->send_bytes + 2 * GUARD);
    memset(t->receive, GUARD_BYTE, t->receive_bytes + 2 * GUARD);
    unsigned char *to = own(t);
    if (t->operation == BCAST) {
        if (t->rank == t->root) bytes_of(t, t->root, epoch, 0, t->receive + GUARD, t->count);
    } else if (t->operation == ALLTOALLV && t->in_place) {
        for (int r = 0; r < t->size; r++)
            bytes_of(t, t->rank * t->size + r, epoch, 0, to + t->at_in[r], t->counts_in[r]);
    } else if (t->operation == ALLTOALLV) {
        for (int r = 0; r < t->size; r++)
            bytes_of(t, t->rank * t->size + r, epoch, 0, to + t->at[r], t->counts[r]);
    } else if (t->operation == ALLTOALLW) {
        for (int r = 0; r < t->size; r++)
            shaped_of(t, t->rank * t->size + r, epoch, t->in_place ? &t->shapes_in[r]
                      : &t->shapes[r], t->in_place ? t->at_in[r] : t->at[r], to);
    } else if (folds(t)) {
        size_t count = t->count;
        if (t->operation == REDUCE_SCATTER) {
            count = 0;
            for (int r = 0; r < t->size; r++) count += t->counts[r];
        }
        for (size_t i = 0; i < count; i++)
            element_of(t, t->rank, epoch, i, to + i * t->element);
    } else if (t->operation != BARRIER) {
        bool all = t->operation == SCATTER || t->operation == ALLTOALL;
        if (t->operation != SCATTER || t->rank == t->root)
            bytes_of(t, t->rank, epoch, 0, to, t->count * (size_t)(all ? t->size : 1));
    }
}

#define CALL(name, ...)                                                          \
    (form == BLOCKING       ? fly_##name(__VA_ARGS__)                            \
     : form == NON_BLOCKING ? fly_i##name(__VA_ARGS__, req)                      \
                            : fly_##name##_init(__VA_ARGS__, req))

int trial_call(struct trial *t, enum form form, fly_req **req) {
    bool root = t->rank == t->root;
    unsigned char *send = t->send + GUARD, *receive = t->receive + GUARD;
    const void *in = t->in_place ? FLY_IN_PLACE : (void *)send;
    const void *in_at_root = t->in_place && root ? FLY_IN_PLACE : (void *)send;
    switch (t->operation) {
    case BARRIER: return CALL(barrier, t->team);
    case BCAST: return CALL(bcast, t->team, receive, t->count, t->root);
    case REDUCE:
        return CALL(reduce, t->team, in_at_root, root ? receive : NULL, t->count, &t->fold,
                    t->root);
    case ALLREDUCE: return CALL(allreduce, t->team, in, receive, t->count, &t->fold);
    case ALLGATHER: return CALL(allgather, t->team, in, receive, t->count);
    case GATHER:
        return CALL(gather, t->team, in_at_root, root ? receive : NULL, t->count, t->root);
    case SCATTER:
        return CALL(scatter, t->team, root ? send : NULL,
                    t->in_place && root ? FLY_IN_PLACE : (void *)receive, t->count, t->root);
    case REDUCE_SCATTER: return CALL(reduce_scatter, t->team, in, receive, t->counts, &t->fold);
    case ALLTOALL: return CALL(alltoall, t->team, in, receive, t->count);
    case ALLTOALLV:
        return CALL(alltoallv, t->team, in, t->in_place ? NULL : t->counts,
                    t->in_place ? NULL : t->at, receive, t->counts_in, t->at_in);
    case ALLTOALLW:
        return CALL(alltoallw, t->team, in, t->in_place ? NULL : t->shapes,
                    t->in_place ? NULL : t->at, receive, t->shapes_in, t->at_in);
    default: return CALL(scan, t->team, in, receive, t->count, &t->fold);
    }
}

/* The expected memory after the call; what a call does not write stays as it was filled. */
static void expect(const struct trial *t, uint64_t epoch, unsigned char *wanted) {
    bool root = t->rank == t->root;
    size_t count = t->count;
    switch (t->operation) {
    case BCAST: bytes_of(t, t->root, epoch, 0, wanted, count); return;
    case REDUCE:
        if (root) folded(t, epoch, t->size - 1, 0, count, wanted);
        return;
    case ALLREDUCE: folded(t, epoch, t->size - 1, 0, count, wanted); return;
    case SCAN: folded(t, epoch, t->rank, 0, count, wanted); return;
    case GATHER:
    case ALLGATHER:
        for (int r = 0; r < t->size && (root || t->operation == ALLGATHER); r++)
            bytes_of(t, r, epoch, 0, wanted + (size_t)r * count, count);
        return;
    case SCATTER:
        if (!(t->in_place && root)) bytes_of(t, t->root, epoch, (size_t)t->rank * count, wanted,
                                             count);
        return;
    case REDUCE_SCATTER:
        folded(t, epoch, t->size - 1, t->at[t->rank], t->counts[t->rank], wanted);
        return;
    case ALLTOALL:
        for (int r = 0; r < t->size; r++)
            bytes_of(t, r, epoch, (size_t)t->rank * count, wanted + (size_t)r * count, count);
        return;
    case ALLTOALLV:
        for (int r = 0; r < t->size; r++)
            bytes_of(t, r * t->size + t->rank, epoch, 0, wanted + t->at_in[r], t->counts_in[r]);
        return;
    case ALLTOALLW:
        for (int r = 0; r < t->size; r++)
            shaped_of(t, r * t->size + t->rank, epoch, &t->shapes_in[r], t->at_in[r], wanted);
        return;
    default: return;
    }
}

void trial_check(const struct trial *t, uint64_t epoch) {
    struct trial before = *t;
    size_t all = t->receive_bytes + 2 * GUARD, sent = t->send_bytes + 2 * GUARD;
    before.send = malloc(sent);
    before.receive = malloc(all);
    trial_fill(&before, epoch);
    expect(t, epoch, before.receive + GUARD);
    if (t->operation == REDUCE_SCATTER && t->in_place) { /* behind the result: what it likes */
        size_t result = t->counts[t->rank] * t->element;
        memcpy(before.receive + GUARD + result, t->receive + GUARD + result,
               t->receive_bytes - result);
    }
    for (size_t i = 0; i < all; i++)
        CHECK(before.receive[i] == t->receive[i],
              "%s, rank %d of %d, root %d, count %zu, kind %d, in place %d: byte %ld of %zu",
              trial_name(t), t->rank, t->size, t->root, t->count, t->kind, t->in_place,
              (long)i - GUARD, t->receive_bytes);
    CHECK(memcmp(before.send, t->send, sent) == 0, "%s has written into send", trial_name(t));
    free(before.send);
    free(before.receive);
}
