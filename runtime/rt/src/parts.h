/* Parts of blocks in memory; offsets count the blocks' bytes, without the gaps between them. */
#ifndef FLY_PARTS_H
#define FLY_PARTS_H

#include "flyloom.h"

struct fly_part {
    ptrdiff_t offset; /* bytes from the first byte of the whole shape */
    fly_shape shape;
    size_t bytes;
};

/* The part of a shape that begins after `skip` of its bytes and has at most `most` bytes: as much
   as one shape can describe. There must be more than `skip` bytes. */
struct fly_part fly_part_of(const fly_shape *shape, size_t skip, size_t most);
/* Copies `bytes` bytes, from `skip` on, out of the blocks of a shape, or into them. */
void fly_gather_part(unsigned char *to, const unsigned char *from, const fly_shape *shape,
                     size_t skip, size_t bytes);
void fly_scatter_part(unsigned char *to, const fly_shape *shape, size_t skip,
                      const unsigned char *from, size_t bytes);

#endif
