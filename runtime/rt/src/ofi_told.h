/* What a write tells its target in its data of completion, 8 bytes or 4: pure, for the transport
 * and for its tests.
 */
#ifndef FLY_OFI_TOLD_H
#define FLY_OFI_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of the tag, of the sender in the world, of the target's name for the window, and the last
   ones of the number that the operation has among all of the sender's to this target. */
struct ofi_layout {
    uint8_t tag, rank, slot, number;
};

struct ofi_told {
    uint32_t tag, rank, slot, number;
};

/* Names for windows, at most. More than credits is under way that needs none: answers, for one. */
enum { OFI_SLOTS = 128, OFI_UNCREDITED = 128 };

static inline uint8_t ofi_bits(uint32_t values) {
    uint8_t bits = 0;
    while (bits < 31 && UINT32_C(1) << bits < values) bits++;
    return bits;
}

/* The fields in 8 or 4 bytes of data. In 4 the rank gets the bits that the number of ranks needs,
   and the tag those that the others leave. */
static inline struct ofi_layout ofi_layout(size_t bytes, uint32_t ranks, uint32_t credits) {
    struct ofi_layout layout = {.tag = 24, .rank = 20, .slot = 7, .number = 13};
    if (bytes >= 8) return layout;
    layout.slot = 4;
    layout.number = ofi_bits(credits + OFI_UNCREDITED);
    uint8_t left = (uint8_t)(32 - layout.slot - layout.number);
    layout.rank = ofi_bits(ranks) < left ? ofi_bits(ranks) : left;
    layout.tag = (uint8_t)(left - layout.rank);
    return layout;
}

static inline uint32_t ofi_last(uint64_t value, uint8_t bits) {
    return (uint32_t)(value & ((UINT64_C(1) << bits) - 1));
}

/* What stands for no tag. */
static inline uint32_t ofi_no_tag(const struct ofi_layout *layout) {
    return ofi_last(UINT32_MAX, layout->tag);
}

/* Whether a tag (of a notification, which "no tag" is not) and a rank can be told. */
static inline bool ofi_fits(const struct ofi_layout *layout, uint32_t tag, uint32_t rank) {
    return tag < ofi_no_tag(layout) && rank == ofi_last(rank, layout->rank);
}

static inline uint64_t ofi_pack(const struct ofi_layout *layout, const struct ofi_told *told) {
    uint64_t data = told->tag;
    data = data << layout->rank | told->rank;
    data = data << layout->slot | told->slot;
    return data << layout->number | ofi_last(told->number, layout->number);
}

static inline struct ofi_told ofi_unpack(const struct ofi_layout *layout, uint64_t data) {
    struct ofi_told told;
    told.number = ofi_last(data, layout->number);
    data >>= layout->number;
    told.slot = ofi_last(data, layout->slot);
    data >>= layout->slot;
    told.rank = ofi_last(data, layout->rank);
    told.tag = ofi_last(data >> layout->rank, layout->tag);
    return told;
}

/* The number in full, not before the next one that is to be taken: credits keep all that is under
   way closer together than the bits go. */
static inline uint32_t ofi_number(const struct ofi_layout *layout, uint32_t bits, uint32_t next) {
    return next + ofi_last(bits - next, layout->number);
}

#endif
