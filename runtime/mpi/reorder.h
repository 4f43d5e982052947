/* What the files of the reordering of ranks share. */
#ifndef FLYLOOM_REORDER_H
#define FLYLOOM_REORDER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_BYTES = 256 }; /* bytes of a host's name, with the zero at its end */

/* An edge as it is sent: from rank to rank. */
struct edge {
    int from, to, weight;
};

/* The calls that may give ranks other processes, and what comes of one. */
enum reo_call { REO_CART, REO_GRAPH, REO_DIST_GRAPH, REO_ADJACENT, REO_CALLS };
enum reo_outcome { REO_FIXED, REO_WRONG, REO_UNMAPPED, REO_AS_GOOD, REO_MOVED, REO_OUTCOMES };

/* Counts a call: by one process of its communicator. */
void reo_count(enum reo_call which, enum reo_outcome outcome);
/* Counts a call whose order the program does not leave to the library. */
void reo_count_fixed(MPI_Comm comm, enum reo_call which);
/* All processes are at their end: one prints why no rank was moved, where none was and nobody
 * said so before. */
void reo_end(void);

/* Prints once in a process why ranks stay as they are. */
void reo_keep(const char *why, ...) __attribute__((format(printf, 1, 2)));

/* Whether this process has printed that. */
int reo_has_kept(void);

/* Whether there is a network to map to; prints why not. */
int reo_can_map(void);

/* Writes the new rank of each process into `ranks` and returns 1; returns 0 if they stay as they
 * are, and prints the reason if that is an error. `hosts` has HOST_BYTES for each of `size`
 * processes. */
int reo_map(const struct edge *edges, size_t count, const char *hosts, int size, int *ranks);

#endif
