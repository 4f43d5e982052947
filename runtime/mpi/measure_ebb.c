/* Rounds of pairs: the two ranks of a pair send each other a number of bytes at once, and all pairs
 * of a round do it at the same time. The pairs file has a line for each round: ranks a:b, separated
 * by blanks. */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "prtt.h"

enum { TAG = 2 };

/* The partner of this rank in a round, -1 for none. */
static int partner(const struct measurement *m, char *line) {
    int found = -1;
    char *rest;
    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        char *other = strchr(word, ':');
        if (other == NULL) measure_fail("pairs: a word is no A:B");
        *other++ = 0;
        int a = (int)measure_number(word, 0, m->ranks - 1, "pairs");
        int b = (int)measure_number(other, 0, m->ranks - 1, "pairs");
        if (a == b) measure_fail("pairs: a rank with itself");
        if (a == m->rank || b == m->rank) {
            if (found >= 0) measure_fail("pairs: a rank comes twice in a round");
            found = a == m->rank ? b : a;
        }
    }
    return found;
}

static void exchange(unsigned char *out, unsigned char *in, int bytes, int other) {
    MPI_Request both[2];
    MPI_Status found[2];
    MPI_Irecv(in, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, found);
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of a rank's exchanges in a round; 0 where it has no partner. */
static double round_of(int other, unsigned char *memory, int bytes, int repetitions,
                       double *times) {
    for (int i = -1; i < repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (other < 0) continue;
        double began = measure_now();
        exchange(memory, memory + bytes, bytes, other);
        if (i >= 0) times[i] = measure_now() - began;
    }
    if (other < 0) return 0;
    qsort(times, (size_t)repetitions, sizeof *times, rising);
    return times[repetitions / 2];
}

void measure_ebb(struct measurement *m, int count, char **words) {
    if (count != 3) measure_fail("ebb: BYTES REPETITIONS PAIRS_FILE");
    int bytes = (int)measure_number(words[0], 1, 1L << 30, "bytes");
    int repetitions = (int)measure_number(words[1], 1, 100000, "repetitions");
    unsigned char *memory = measure_memory((size_t)bytes * 2);
    double *times = measure_memory((size_t)repetitions * sizeof *times);
    double *all = measure_memory((size_t)m->ranks * sizeof *all);
    FILE *pairs = fopen(words[2], "r");
    if (pairs == NULL) measure_fail("the file of pairs cannot be read by every rank");
    char *line = NULL;
    size_t room = 0;
    int rounds = 0;
    if (m->rank == 0) {
        fprintf(m->out, "\"bytes\": %d, \"repetitions\": %d,\n\"rounds\": [\n", bytes, repetitions);
    }
    while (getline(&line, &room, pairs) > 0) {
        double own = round_of(partner(m, line), memory, bytes, repetitions, times);
        MPI_Gather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (m->rank == 0) {
            fprintf(m->out, "%s{", rounds ? ",\n" : "");
            prtt_list(m->out, "rank_ns", all, m->ranks);
            fprintf(m->out, "}");
        }
        rounds++;
    }
    if (m->rank == 0) fprintf(m->out, "\n]");
    free(line);
    fclose(pairs);
    free(all);
    free(times);
    free(memory);
}
