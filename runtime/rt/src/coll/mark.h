/* Marks that only the owner of a key can make: SipHash-2-4 of whole words.
 *
 * Source: Aumasson, Bernstein: SipHash: a fast short-input PRF, INDOCRYPT 2012.
 */
#ifndef FLY_COLL_MARK_H
#define FLY_COLL_MARK_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t fly_mark_turn(uint64_t word, int by) {
    return word << by | word >> (64 - by);
}

static inline void fly_mark_rounds(uint64_t v[4], int rounds) {
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[1] = fly_mark_turn(v[1], 13) ^ v[0];
        v[0] = fly_mark_turn(v[0], 32);
        v[2] += v[3];
        v[3] = fly_mark_turn(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = fly_mark_turn(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = fly_mark_turn(v[1], 17) ^ v[2];
        v[2] = fly_mark_turn(v[2], 32);
    }
}

static inline uint64_t fly_mark(const uint64_t key[2], const uint64_t *words, size_t count) {
    uint64_t v[] = {key[0] ^ UINT64_C(0x736F6D6570736575), key[1] ^ UINT64_C(0x646F72616E646F6D),
                    key[0] ^ UINT64_C(0x6C7967656E657261), key[1] ^ UINT64_C(0x7465646279746573)};
    for (size_t i = 0; i <= count; i++) {
        uint64_t word = i < count ? words[i] : (uint64_t)count * 8 << 56;
        v[3] ^= word;
        fly_mark_rounds(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    fly_mark_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
