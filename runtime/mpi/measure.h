/* Measures an MPI system: round trips, and pairs of ranks that send in both directions at once.
 *
 *   measure FILE loggp MESSAGES REPETITIONS SIZE...   between the first and the last rank
 *   measure FILE ebb BYTES REPETITIONS PAIRS_FILE     rounds of pairs, all of a round at once
 *
 * Rank 0 writes JSON into FILE: times in nanoseconds as measured, for the reader to interpret. All
 * ranks have the same arguments.
 */
#ifndef FLYLOOM_MEASURE_H
#define FLYLOOM_MEASURE_H

#include <mpi.h>
#include <stdio.h>

/* A run that measures: its ranks, and where results go. */
struct measurement {
    int rank, ranks;
    FILE *out; /* at rank 0 */
};

/* Nanoseconds of a clock that never goes back. */
double measure_now(void);
/* Allocated and touched memory of zeros; ends all ranks where there is none. */
void *measure_memory(size_t bytes);
/* Ends all ranks with a line on standard error. */
_Noreturn void measure_fail(const char *why);
/* Reads a whole number of at least `least` from a word; ends all ranks if it is none. */
long measure_number(const char *word, long least, long most, const char *what);

void measure_loggp(struct measurement *m, int count, char **words);
void measure_ebb(struct measurement *m, int count, char **words);

#endif
