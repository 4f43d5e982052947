/* The memory into which peers put pieces: allocated first fit, so that few pages are touched. */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

bool fly_heap_get(struct fly_coll *coll, uint64_t bytes, uint64_t *offset) {
    uint64_t from = 0;
    size_t at = 0;
    for (; at < coll->block_count && coll->blocks[at].offset - from < bytes; at++)
        from = coll->blocks[at].offset + coll->blocks[at].bytes;
    if (at == coll->block_count && FLY_COLL_HEAP - from < bytes) return false;
    if (coll->block_count == coll->block_room) {
        size_t room = coll->block_room == 0 ? 16 : coll->block_room * 2;
        struct fly_block *grown = realloc(coll->blocks, room * sizeof *grown);
        if (grown == NULL) return false;
        coll->blocks = grown;
        coll->block_room = room;
    }
    memmove(&coll->blocks[at + 1], &coll->blocks[at],
            (coll->block_count - at) * sizeof *coll->blocks);
    coll->blocks[at] = (struct fly_block){from, bytes};
    coll->block_count++;
    *offset = from;
    return true;
}

void fly_heap_give(struct fly_coll *coll, uint64_t offset) {
    size_t at = 0;
    while (coll->blocks[at].offset != offset) at++;
    coll->block_count--;
    memmove(&coll->blocks[at], &coll->blocks[at + 1],
            (coll->block_count - at) * sizeof *coll->blocks);
}
