/* The notice in a write's completion data, 8 or 4 bytes, by which the target is notified. Pure, for
 * the transport and its tests.
 */
#ifndef FLY_OFI_NOTICE_H
#define FLY_OFI_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bits each field has: the tag, the sender's rank in the world, the target's slot for the
   window, and the last bits of the number among all operations of the sender to this target. */
struct ofi_layout {
    uint8_t tag, rank, slot, number;
};

struct ofi_notice {
    uint32_t tag, rank, slot, number;
};

/* The most slots; and the operations that may be in flight without a credit, such as answers. */
enum { OFI_SLOTS = 128, OFI_UNCREDITED = 128 };

static inline uint8_t ofi_bits(uint32_t values) {
    uint8_t bits = 0;
    while (bits < 31 && UINT32_C(1) << bits < values) bits++;
    return bits;
}

/* Lays out the fields in 8 or 4 bytes. In 4 bytes the rank gets the bits that the number of ranks
   needs, and the tag gets the rest. */
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

/* The value of the tag field that stands for "no tag". */
static inline uint32_t ofi_no_tag(const struct ofi_layout *layout) {
    return ofi_last(UINT32_MAX, layout->tag);
}

/* Whether a tag and a rank fit into the fields; no notification may have the value of "no tag". */
static inline bool ofi_fits(const struct ofi_layout *layout, uint32_t tag, uint32_t rank) {
    return tag < ofi_no_tag(layout) && rank == ofi_last(rank, layout->rank);
}

static inline uint64_t ofi_pack(const struct ofi_layout *layout, const struct ofi_notice *notice) {
    uint64_t data = notice->tag;
    data = data << layout->rank | notice->rank;
    data = data << layout->slot | notice->slot;
    return data << layout->number | ofi_last(notice->number, layout->number);
}

static inline struct ofi_notice ofi_unpack(const struct ofi_layout *layout, uint64_t data) {
    struct ofi_notice notice;
    notice.number = ofi_last(data, layout->number);
    data >>= layout->number;
    notice.slot = ofi_last(data, layout->slot);
    data >>= layout->slot;
    notice.rank = ofi_last(data, layout->rank);
    notice.tag = ofi_last(data >> layout->rank, layout->tag);
    return notice;
}

/* Restores the full number, which is not below `next`, the next one to be taken: credits limit what
   is in flight to fewer operations than the bits can count. */
static inline uint32_t ofi_number(const struct ofi_layout *layout, uint32_t bits, uint32_t next) {
    return next + ofi_last(bits - next, layout->number);
}

#endif
