/* The atomics that the ring and the shared words use, by name of their order.
 *
 * A test build defines FLY_ATOMICS_MODEL and gives functions of the same names, which hand control
 * to an explorer of schedules and may return old values where the order allows it.
 */
#ifndef FLY_ATOMICS_H
#define FLY_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef FLY_ATOMICS_MODEL
#include "ring_model.h"
#else

typedef struct {
    uint64_t value;
} fly_word;

static inline uint64_t fly_load_relaxed(const fly_word *word) {
    return __atomic_load_n(&word->value, __ATOMIC_RELAXED);
}
static inline uint64_t fly_load_acquire(const fly_word *word) {
    return __atomic_load_n(&word->value, __ATOMIC_ACQUIRE);
}
static inline void fly_store_release(fly_word *word, uint64_t value) {
    __atomic_store_n(&word->value, value, __ATOMIC_RELEASE);
}
/* Stores before it are seen before loads after it are done. ThreadSanitizer knows no fences; what
   it checks does not rest on this one. */
static inline void fly_fence_all(void) {
#ifndef __SANITIZE_THREAD__
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/* Between two looks at a line that another processor will write: the second begins when the first
   has ended. Many at once would all be thrown away when the line comes, before anything is done
   with it. */
static inline void fly_look_alone(void) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __builtin_ia32_lfence();
#endif
}
static inline uint64_t fly_add(fly_word *word, uint64_t add) {
    return __atomic_fetch_add(&word->value, add, __ATOMIC_SEQ_CST);
}

#endif
#endif
