/* What the files of the reordering of ranks share. */
#ifndef FLYLOOM_REORDER_H
#define FLYLOOM_REORDER_H

#include <stddef.h>
#include <stdint.h>

enum { HOST_BYTES = 256 }; /* bytes of a host's name, with the zero at its end */

/* An edge as it is sent: from rank to rank. */
struct edge {
    int from, to, weight;
};

/* Prints once in a process why ranks stay as they are. */
void reo_keep(const char *why, ...) __attribute__((format(printf, 1, 2)));

/* Whether there is a network to map to; prints why not. */
int reo_can_map(void);

/* Writes the new rank of each process into `ranks` and returns 1; returns 0 if they stay as they
 * are, and prints the reason if that is an error. `hosts` has HOST_BYTES for each of `size`
 * processes. */
int reo_map(const struct edge *edges, size_t count, const char *hosts, int size, int *ranks);

#endif
