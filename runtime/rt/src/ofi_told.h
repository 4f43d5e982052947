/* What a write tells its target in 8 bytes: pure, for the transport and for its tests.
 */
#ifndef FLY_OFI_TOLD_H
#define FLY_OFI_TOLD_H

#include <stdbool.h>
#include <stdint.h>

/* The target's name for the window, the sender in the world, and the last bits of the number that
   the operation has among all of the sender's to this target. */
enum { OFI_TAG_BITS = 24, OFI_RANK_BITS = 20, OFI_SLOT_BITS = 7, OFI_NUMBER_BITS = 13 };
enum { OFI_SLOTS = 1 << OFI_SLOT_BITS, OFI_NO_TAG = (1 << OFI_TAG_BITS) - 1 };
_Static_assert(OFI_TAG_BITS + OFI_RANK_BITS + OFI_SLOT_BITS + OFI_NUMBER_BITS == 64, "8 bytes");

struct ofi_told {
    uint32_t tag, rank, slot, number;
};

/* Whether a tag (of a notification, not OFI_NO_TAG) and a rank can be told. */
static inline bool ofi_fits(int tag, int rank) {
    return tag < OFI_NO_TAG && rank < 1 << OFI_RANK_BITS;
}

static inline uint64_t ofi_pack(const struct ofi_told *told) {
    uint64_t data = told->tag;
    data = data << OFI_RANK_BITS | told->rank;
    data = data << OFI_SLOT_BITS | told->slot;
    return data << OFI_NUMBER_BITS | (told->number & ((1U << OFI_NUMBER_BITS) - 1));
}

static inline struct ofi_told ofi_unpack(uint64_t data) {
    struct ofi_told told;
    told.number = (uint32_t)data & ((1U << OFI_NUMBER_BITS) - 1);
    data >>= OFI_NUMBER_BITS;
    told.slot = (uint32_t)data & ((1U << OFI_SLOT_BITS) - 1);
    data >>= OFI_SLOT_BITS;
    told.rank = (uint32_t)data & ((1U << OFI_RANK_BITS) - 1);
    told.tag = (uint32_t)(data >> OFI_RANK_BITS);
    return told;
}

/* The number in full, not before the next one that is to be taken: credits keep all that is under
   way far closer together than the bits go. */
static inline uint32_t ofi_number(uint32_t bits, uint32_t next) {
    return next + ((bits - next) & ((1U << OFI_NUMBER_BITS) - 1));
}

#endif
