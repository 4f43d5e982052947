/* What measures an MPI system: times of back and forth, and of pairs that send both ways at once.
 *
 *   measure FILE loggp MESSAGES REPETITIONS SIZE...   between the first and the last rank
 *   measure FILE ebb BYTES REPETITIONS PAIRS_FILE     rounds of pairs, all of a round at once
 *
 * Rank 0 writes JSON into FILE: times in nanoseconds, as they were taken; what they mean is found
 * by the reader. All ranks have the same words.
 */
#ifndef FLYLOOM_MEASURE_H
#define FLYLOOM_MEASURE_H

#include <mpi.h>
#include <stdio.h>

struct measure {
    int rank, ranks;
    FILE *out; /* at rank 0 */
};

/* Nanoseconds of a clock that never goes back. */
double measure_now(void);
/* Memory that is there, of zeros; ends all ranks where there is none. */
void *measure_memory(size_t bytes);
/* Ends all ranks with a line on standard error. */
_Noreturn void measure_fail(const char *why);
/* A whole number of a word, from `least` on; ends all ranks where it is none. */
long measure_number(const char *word, long least, long most, const char *what);

void measure_loggp(struct measure *m, int count, char **words);
void measure_ebb(struct measure *m, int count, char **words);

#endif
