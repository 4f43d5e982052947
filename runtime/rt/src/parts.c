/* Splits blocks that are longer than a packet may be. Pure. */
#include <string.h>

#include "parts.h"

static size_t least(size_t one, size_t other) { return one < other ? one : other; }

static ptrdiff_t offset_of(const fly_shape *shape, size_t at) {
    return (ptrdiff_t)(at / shape->block_bytes) * shape->stride_bytes +
           (ptrdiff_t)(at % shape->block_bytes);
}

struct fly_part fly_part_of(const fly_shape *shape, size_t skip, size_t most) {
    size_t block = skip / shape->block_bytes, inside = skip % shape->block_bytes;
    struct fly_part part = {.offset = offset_of(shape, skip)};
    if (inside != 0 || shape->block_bytes > most) {
        part.shape = (fly_shape){1, least(shape->block_bytes - inside, most), 0};
    } else {
        size_t blocks = least(shape->blocks - block, most / shape->block_bytes);
        part.shape = (fly_shape){blocks, shape->block_bytes, shape->stride_bytes};
    }
    part.bytes = part.shape.blocks * part.shape.block_bytes;
    return part;
}

void fly_gather_part(unsigned char *to, const unsigned char *from, const fly_shape *shape,
                     size_t skip, size_t bytes) {
    for (size_t once; bytes != 0; bytes -= once, skip += once, to += once) {
        once = least(shape->block_bytes - skip % shape->block_bytes, bytes);
        memcpy(to, from + offset_of(shape, skip), once);
    }
}

void fly_scatter_part(unsigned char *to, const fly_shape *shape, size_t skip,
                      const unsigned char *from, size_t bytes) {
    for (size_t once; bytes != 0; bytes -= once, skip += once, from += once) {
        once = least(shape->block_bytes - skip % shape->block_bytes, bytes);
        memmove(to + offset_of(shape, skip), from, once);
    }
}
