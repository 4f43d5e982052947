/* Atomics for the explorer of schedules: each step is a choice of who runs, and of which value that
 * is not forbidden a load sees.
 *
 * Memory is a list of stores for each word, with the view that a release carries. A load may see
 * any store that is not older than what its thread knows of the word; acquire takes over the view
 * of that store. This is the release-acquire fragment of C11.
 */
#ifndef FLY_TEST_RING_MODEL_H
#define FLY_TEST_RING_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int index; /* into the explorer's memory */
} fly_word;

uint64_t fly_load_relaxed(const fly_word *word);
uint64_t fly_load_acquire(const fly_word *word);
void fly_store_release(fly_word *word, uint64_t value);
static inline void fly_fence_all(void) {}

#endif
