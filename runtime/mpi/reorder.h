/* What the files of the reordering of ranks share. */
#ifndef FLYLOOM_REORDER_H
#define FLYLOOM_REORDER_H

#include <stddef.h>
#include <stdint.h>

enum { HOST_BYTES = 256 }; /* of a host's name, with the zero at its end */

/* An edge as it is sent: from rank to rank. */
struct edge {
    int from, to, weight;
};

/* Says once a process why ranks stay as they are. */
void reo_keep(const char *why, ...) __attribute__((format(printf, 1, 2)));

/* Whether there is something to map by; says why not. */
int reo_can_map(void);

/* The new rank of each process into `ranks`: 1; 0 where they stay as they are, with the reason said
 * where that is a fault. `hosts` has HOST_BYTES for each of `size` processes. */
int reo_map(const struct edge *edges, size_t count, const char *hosts, int size, int *ranks);

#endif
