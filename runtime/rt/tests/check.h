/* What the tests share: checks that say where they failed, and a seeded random stream. */
#ifndef FLY_TEST_CHECK_H
#define FLY_TEST_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition, ...)                                                        \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: %s is false: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                            \
            fputc('\n', stderr);                                                     \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

/* splitmix64: https://prng.di.unimi.it/splitmix64.c (public domain), rewritten. */
static inline uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* A number of 0..bound-1. */
static inline uint64_t below(uint64_t *state, uint64_t bound) { return draw(state) % bound; }

/* The number that an argument or else a default gives. */
static inline uint64_t argument(int count, char **words, int index, uint64_t otherwise) {
    return count > index ? strtoull(words[index], NULL, 10) : otherwise;
}

#endif
