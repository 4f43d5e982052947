/* Folds: how two elements become one, by the library's operations and by the user's. */
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "error.h"

static const size_t BYTES[] = {
    [FLY_BYTES] = 0,  [FLY_INT8] = 1,   [FLY_INT16] = 2,  [FLY_INT32] = 4,
    [FLY_INT64] = 8,  [FLY_UINT8] = 1,  [FLY_UINT16] = 2, [FLY_UINT32] = 4,
    [FLY_UINT64] = 8, [FLY_FLOAT] = 4,  [FLY_DOUBLE] = 8,
};

/* Signed sums are computed in unsigned types, so that overflow wraps: `w` is the type that
   computes. `into` is `left` or `right`, or shares nothing with them, so elements do not depend on
   one another, which the compiler cannot know. */
#define EACH(t, w, expression)                     \
    _Pragma("GCC ivdep")                           \
    for (size_t i = 0; i < n; i++) {               \
        w a = (w)left[i], b = (w)right[i];         \
        into[i] = (t)(expression);                 \
    }                                              \
    return

#define ARITHMETIC(t, w, c)                                    \
    case FLY_SUM: EACH(t, w, a + b);                           \
    case FLY_PROD: EACH(t, w, a *b);                           \
    case FLY_MIN: EACH(t, c, b < a ? b : a);                   \
    case FLY_MAX: EACH(t, c, a < b ? b : a);                   \
    case FLY_LAND: EACH(t, c, a != 0 && b != 0);               \
    case FLY_LOR: EACH(t, c, a != 0 || b != 0)

#define BITS(t, w)                      \
    case FLY_BAND: EACH(t, w, a &b);    \
    case FLY_BOR: EACH(t, w, a | b);    \
    case FLY_BXOR: EACH(t, w, a ^ b)

/* Makes a second copy of each function for processors with AVX2, chosen when the library is loaded.
   Sanitizers are not ready that early. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#define WHOLE(name, t, w)                                                                     \
    WIDE static void fold_##name(int op, t *into, const t *left, const t *right, size_t n) {       \
        switch (op) {                                                                         \
            ARITHMETIC(t, w, t);                                                              \
            BITS(t, w);                                                                       \
        }                                                                                     \
    }

#define BROKEN(name, t)                                                                       \
    WIDE static void fold_##name(int op, t *into, const t *left, const t *right, size_t n) {       \
        switch (op) {                                                                         \
            ARITHMETIC(t, t, t);                                                              \
        }                                                                                     \
    }

WHOLE(int8, int8_t, uint32_t)
WHOLE(int16, int16_t, uint32_t)
WHOLE(int32, int32_t, uint32_t)
WHOLE(int64, int64_t, uint64_t)
WHOLE(uint8, uint8_t, uint32_t)
WHOLE(uint16, uint16_t, uint32_t)
WHOLE(uint32, uint32_t, uint32_t)
WHOLE(uint64, uint64_t, uint64_t)
BROKEN(float, float)
BROKEN(double, double)

static void built_in(const fly_fold *fold, void *into, const void *left, const void *right,
                     size_t n) {
    switch (fold->type) {
    case FLY_INT8: fold_int8(fold->op, into, left, right, n); return;
    case FLY_INT16: fold_int16(fold->op, into, left, right, n); return;
    case FLY_INT32: fold_int32(fold->op, into, left, right, n); return;
    case FLY_INT64: fold_int64(fold->op, into, left, right, n); return;
    case FLY_UINT8: fold_uint8(fold->op, into, left, right, n); return;
    case FLY_UINT16: fold_uint16(fold->op, into, left, right, n); return;
    case FLY_UINT32: fold_uint32(fold->op, into, left, right, n); return;
    case FLY_UINT64: fold_uint64(fold->op, into, left, right, n); return;
    case FLY_FLOAT: fold_float(fold->op, into, left, right, n); return;
    case FLY_DOUBLE: fold_double(fold->op, into, left, right, n); return;
    default: return; /* FLY_BYTES goes to the user's function */
    }
}

size_t fly_fold_bytes(const fly_fold *fold) {
    size_t bytes = fold->type == FLY_BYTES ? fold->bytes : BYTES[fold->type];
    return bytes == 0 ? 1 : bytes;
}

void fly_apply(const fly_fold *fold, void *to, const void *own, void *from, size_t bytes,
               enum fly_take take) {
    size_t n = bytes / fly_fold_bytes(fold);
    if (fold->apply != NULL && own != to) memcpy(to, own, bytes);
    if (fold->apply == NULL) {
        built_in(fold, to, take == FLY_TAKE_LEFT ? from : own, take == FLY_TAKE_LEFT ? own : from,
                 n);
    } else if (take == FLY_TAKE_LEFT) {
        fold->apply(fold->context, from, to, n);
    } else {
        fold->apply(fold->context, to, from, n);
        memcpy(to, from, bytes);
    }
}

int fly_fold_check(const char *call, const fly_fold *fold, size_t *bytes) {
    if (fold == NULL) return fly_fail(FLY_ERR_ARG, "%s: fold is NULL", call);
    if (fold->type < FLY_BYTES || fold->type > FLY_DOUBLE)
        return fly_fail(FLY_ERR_ARG, "%s: fold: type %d must be FLY_BYTES to FLY_DOUBLE", call,
                        fold->type);
    if (fold->type == FLY_BYTES && (fold->bytes == 0 || fold->bytes > 65536))
        return fly_fail(FLY_ERR_ARG, "%s: fold: %zu bytes of an element must be 1 to 65536", call,
                        fold->bytes);
    if (fold->apply == NULL && fold->type == FLY_BYTES)
        return fly_fail(FLY_ERR_ARG, "%s: fold: FLY_BYTES needs a function apply", call);
    int last = fold->type >= FLY_FLOAT ? FLY_LOR : FLY_BXOR;
    if (fold->apply == NULL && (fold->op < FLY_SUM || fold->op > last))
        return fly_fail(FLY_ERR_ARG, "%s: fold: op %d must be FLY_SUM to %s for this type", call,
                        fold->op, last == FLY_LOR ? "FLY_LOR" : "FLY_BXOR");
    *bytes = fly_fold_bytes(fold);
    return FLY_OK;
}
