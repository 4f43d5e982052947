/* The measuring program: which ranks take part, where they are, and what they measure. */
#include "measure.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 256 };

double measure_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void measure_fail(const char *why) {
    fprintf(stderr, "flyloom: measure: %s\n", why);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

void *measure_memory(size_t bytes) {
    void *found = calloc(bytes ? bytes : 1, 1);
    if (found == NULL) measure_fail("no memory");
    memset(found, 1, bytes); /* touches all pages before anything is timed */
    return found;
}

long measure_number(const char *word, long least, long most, const char *what) {
    char *end;
    char why[128];
    errno = 0;
    long value = strtol(word, &end, 10);
    if (errno || *end || end == word || value < least || value > most) {
        snprintf(why, sizeof why, "%s: %.40s; %ld to %ld", what, word, least, most);
        measure_fail(why);
    }
    return value;
}

/* Writes a text as JSON, without characters that do not belong in names of hosts and libraries. */
static void text(FILE *out, const char *words) {
    fputc('"', out);
    for (; *words && *words != '\n'; words++) {
        unsigned char c = (unsigned char)*words;
        fputc(c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c, out);
    }
    fputc('"', out);
}

static int processors(void) {
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

/* Writes the library, the host of every rank, and how many processors each may use. */
static void begin(struct measurement *m, const char *file, const char *what) {
    char name[NAME] = "", library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, own = processors();
    gethostname(name, sizeof name - 1);
    MPI_Get_library_version(library, &length);
    char *names = measure_memory((size_t)m->ranks * NAME);
    int *counts = measure_memory((size_t)m->ranks * sizeof *counts);
    MPI_Gather(name, NAME, MPI_CHAR, names, NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Gather(&own, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (m->rank == 0) {
        m->out = fopen(file, "w");
        if (m->out == NULL) measure_fail("the file of the result cannot be written");
        fprintf(m->out, "{\"flyloom_samples\": 1, \"what\": \"%s\", \"library\": ", what);
        text(m->out, library);
        fprintf(m->out, ",\n\"hosts\": [");
        for (int r = 0; r < m->ranks; r++) {
            if (r) fprintf(m->out, ", ");
            text(m->out, names + (size_t)r * NAME);
        }
        fprintf(m->out, "],\n\"processors\": [");
        for (int r = 0; r < m->ranks; r++) fprintf(m->out, "%s%d", r ? ", " : "", counts[r]);
        fprintf(m->out, "],\n");
    }
    free(names);
    free(counts);
}

int main(int count, char **words) {
    struct measurement m = {0, 0, NULL};
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &m.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m.ranks);
    if (count < 4) measure_fail("FILE, what, and its words");
    if (m.ranks < 2) measure_fail("one rank alone measures nothing; start 2 or more");
    begin(&m, words[1], words[2]);
    if (strcmp(words[2], "loggp") == 0) {
        measure_loggp(&m, count - 3, words + 3);
    } else if (strcmp(words[2], "ebb") == 0) {
        measure_ebb(&m, count - 3, words + 3);
    } else {
        measure_fail("what: loggp or ebb");
    }
    if (m.rank == 0) {
        fprintf(m.out, "}\n");
        if (fclose(m.out) != 0) measure_fail("the file of the result cannot be written whole");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
