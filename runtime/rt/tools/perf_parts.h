/* The parts of flyloom-perf, and how they read their options. */
#ifndef FLY_PERF_PARTS_H
#define FLY_PERF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Measures collectives between `ranks` processes that it starts; exit code, here and below. */
int perf_collectives(int ranks, uint64_t repetitions, bool json);
/* Prints the algorithms of an operation with predicted times. */
int perf_explain(int count, char **words);
/* Measures how much of an operation's time is hidden by computation. */
int perf_overlap(int count, char **words);
/* Fits the cost of calls to size, processes and neighbours, and says whether fence or PSCW. */
int perf_model(int count, char **words);
/* Measures broadcasts by multicast, with loss and without, beside other algorithms. */
int perf_multicast(int count, char **words);

/* Prints on standard error what is valid; returns 2. */
int perf_refuse(const char *program, const char *option, const char *value, const char *valid);
/* 0, or 2 where it is refused. */
int perf_read_number(const char *program, const char *option, const char *text, uint64_t least,
                     uint64_t most, uint64_t *number);
int perf_read_list(const char *program, const char *option, const char *text, uint64_t least,
                   uint64_t most, size_t *numbers, int room, int *count);

#endif
