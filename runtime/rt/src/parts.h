/* Parts of blocks, counted in bytes from the first block's first on. */
#ifndef FLY_PARTS_H
#define FLY_PARTS_H

#include "flyloom.h"

struct fly_part {
    ptrdiff_t offset; /* from the whole's first byte */
    fly_shape shape;
    size_t bytes;
};

/* What begins behind so many bytes of a shape that has more, is a shape by itself, and has at most
   `most` bytes. */
struct fly_part fly_part_of(const fly_shape *shape, size_t skip, size_t most);
/* So many bytes, from there on: out of the blocks, and into them. */
void fly_gather_part(unsigned char *to, const unsigned char *from, const fly_shape *shape,
                     size_t skip, size_t bytes);
void fly_scatter_part(unsigned char *to, const fly_shape *shape, size_t skip,
                      const unsigned char *from, size_t bytes);

#endif
