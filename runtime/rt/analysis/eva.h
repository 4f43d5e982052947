/* What every analysis by EVA begins with: choices, memory that fails, and what it cannot read.
 *
 * EVA goes through the paths of a driver with intervals for values. `pick` is a state of its own
 * for each number, so that lists and tables stay exact; other inputs are intervals, and stand for
 * all of their values. Atomics are plain loads and stores: a driver is one thread.
 */
#ifndef FLY_EVA_H
#define FLY_EVA_H

#include <__fc_builtin.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FLY_ATOMICS_MODEL
#define _Alignas(bytes)

static int pick(int count) {
    int picked = Frama_C_interval(0, count - 1), at = 0;
    while (at != picked) at++;
    return at;
}

static size_t any_size(void) { return Frama_C_size_t_interval(0, SIZE_MAX); }

/* How many allocations succeed; then one fails, or all do if `short_of` is set. Below 0: none. */
static int until_failure = -1;
static bool short_of;

static bool fails(void) {
    if (until_failure < 0) return false;
    if (until_failure == 0) {
        if (!short_of) until_failure = -1;
        return true;
    }
    until_failure--;
    return false;
}

static void *some_malloc(size_t bytes) { return fails() ? NULL : malloc(bytes); }
static void *some_calloc(size_t count, size_t bytes) {
    return fails() ? NULL : calloc(count, bytes);
}
#define malloc some_malloc
#define calloc some_calloc

/* As the compiler's: stores the wrapped product, and returns whether it overflowed. */
static bool product(uint64_t a, uint64_t b, uint64_t *into) {
    *into = a * b;
    return a != 0 && b > UINT64_MAX / a;
}
static bool sum(uint64_t a, uint64_t b, uint64_t *into) {
    *into = a + b;
    return b > UINT64_MAX - a;
}
#define __builtin_mul_overflow(a, b, into) product(a, b, into)
#define __builtin_add_overflow(a, b, into) sum(a, b, into)
#define __builtin_expect(value, expected) (value)

#endif
