/* flyloom-perf's parts about collectives. */
#ifndef FLY_PERF_COLL_H
#define FLY_PERF_COLL_H

#include <stdbool.h>
#include <stdint.h>

/* Measures collectives between so many processes that it starts; the exit code. */
int perf_collectives(int ranks, uint64_t repetitions, bool json);
/* Prints the algorithms of an operation with predicted times; the exit code. */
int perf_explain(int count, char **words);

#endif
