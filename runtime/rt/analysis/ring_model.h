/* Atomics of one thread, for EVA: whatever the order, a plain load or store. */
#ifndef FLY_EVA_ATOMICS_H
#define FLY_EVA_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t value;
} fly_word;

static inline uint64_t fly_load_relaxed(const fly_word *word) { return word->value; }
static inline uint64_t fly_load_acquire(const fly_word *word) { return word->value; }
static inline void fly_store_release(fly_word *word, uint64_t value) { word->value = value; }
static inline void fly_fence_all(void) {}
static inline uint64_t fly_add(fly_word *word, uint64_t add) {
    uint64_t was = word->value;
    word->value += add;
    return was;
}

#endif
