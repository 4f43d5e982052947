/* Checks blocks that have a size and a place for each rank or neighbour. */
#include "coll.h"
#include "error.h"

int fly_call_extent(const struct fly_call *call, const char *what, size_t count,
                    const size_t *bytes, const size_t *at, size_t *end) {
    *end = 0;
    if (count != 0 && (bytes == NULL || at == NULL))
        return fly_fail(FLY_ERR_ARG, "%s: %s_bytes or %s_at is NULL", call->name, what, what);
    for (size_t i = 0; i < count; i++) {
        size_t one;
        if (bytes[i] == 0) continue;
        if (__builtin_add_overflow(bytes[i], at[i], &one) || one > SIZE_MAX / 2)
            return fly_fail(FLY_ERR_ARG, "%s: %s_at[%zu]: %zu bytes at %zu are more than memory "
                            "can have", call->name, what, i, bytes[i], at[i]);
        if (one > *end) *end = one;
    }
    return FLY_OK;
}

int fly_call_disjoint(const struct fly_call *call, const char *whose, size_t count,
                      const size_t *bytes, const size_t *at) {
    for (size_t r = 0; r < count && count <= 64; r++)
        for (size_t q = 0; q < r; q++)
            if (bytes[r] != 0 && bytes[q] != 0 && at[r] < at[q] + bytes[q] &&
                at[q] < at[r] + bytes[r])
                return fly_fail(FLY_ERR_ARG, "%s: receive_at: the blocks of %s %zu and %zu "
                                "overlap", call->name, whose, q, r);
    return FLY_OK;
}
