/* What the motifs share: start and end beside an MPI, time, errors. */
#ifndef FLY_MOTIF_H
#define FLY_MOTIF_H

#include "flyloom_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DO(call)                                                                        \
    do {                                                                                \
        int code_ = (call);                                                             \
        if (code_ != FLY_OK) {                                                          \
            fprintf(stderr, "%s: %s: %s\n", #call, fly_strerror(code_), fly_last_error(NULL)); \
            MPI_Abort(MPI_COMM_WORLD, 3);                                               \
        }                                                                               \
    } while (0)

struct motif {
    fly_boot boot;
    fly_rt *rt;
    int rank, size;
};

static inline void motif_open(struct motif *m, int *count, char ***words) {
    MPI_Init(count, words);
    DO(fly_mpi_boot(MPI_COMM_WORLD, &m->boot));
    DO(fly_init(&m->boot, NULL, &m->rt));
    m->rank = m->boot.rank;
    m->size = m->boot.size;
}

static inline void motif_close(struct motif *m) {
    DO(fly_finalize(&m->rt));
    fly_mpi_boot_free(&m->boot);
    MPI_Finalize();
}

/* Whether the run is recorded: then the parts that use only MPI are left out. */
static inline int motif_recorded(void) { return getenv("FLYLOOM_RECORD") != NULL; }

/* Memory for handing over by MPI's one-sided calls: put, flush, then a message without bytes. */
struct motif_exposed {
    MPI_Win window;
    unsigned char *base;
};

static inline void motif_expose(struct motif_exposed *e, size_t bytes) {
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &e->base, &e->window);
    memset(e->base, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, e->window);
}

static inline void motif_unexpose(struct motif_exposed *e) {
    MPI_Win_unlock_all(e->window);
    MPI_Win_free(&e->window);
}

static inline void motif_hand_over(const struct motif_exposed *e, const void *data, size_t bytes,
                                   int target, size_t at, int tag) {
    MPI_Put(data, (int)bytes, MPI_BYTE, target, (MPI_Aint)at, (int)bytes, MPI_BYTE, e->window);
    MPI_Win_flush(target, e->window);
    MPI_Send(NULL, 0, MPI_BYTE, target, tag, MPI_COMM_WORLD);
}

static inline void motif_take_over(const struct motif_exposed *e, int source, int tag) {
    MPI_Recv(NULL, 0, MPI_BYTE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_sync(e->window);
}

static inline int motif_order(const void *a, const void *b) {
    double one, two;
    memcpy(&one, a, sizeof one);
    memcpy(&two, b, sizeof two);
    return (one > two) - (one < two);
}

/* The median of the times of rounds, which it sorts, at the rank where it is largest: collective.
   A mean would be dominated by the time slices that other programs take from the machine. */
static inline double motif_median(double *seconds, int count) {
    double median;
    qsort(seconds, (size_t)count, sizeof *seconds, motif_order);
    median = (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
    MPI_Allreduce(MPI_IN_PLACE, &median, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return median;
}

static inline void *motif_memory(size_t count, size_t bytes) {
    void *memory = calloc(count + 1, bytes);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

/* Starts two requests that each count `count` notifications from any rank, for two halves of memory
   used in turn; the tag is the half's number. */
static inline void motif_listen(fly_win *win, uint64_t count, fly_req *halves[2]) {
    for (int half = 0; half < 2; half++) {
        DO(fly_notify_init(win, FLY_ANY_SOURCE, half, count, &halves[half]));
        DO(fly_start(halves[half]));
    }
}

static inline void motif_listen_no_more(fly_req *halves[2]) {
    for (int half = 0; half < 2; half++) {
        DO(fly_cancel(halves[half], NULL));
        DO(fly_req_free(&halves[half]));
    }
}

/* Whether word i asks for MPI's one-sided calls as well. */
static inline int motif_puts(int count, char **words, int i) {
    return count > i && strcmp(words[i], "mpi") == 0 && !motif_recorded();
}

/* The number that word i gives, which is at least `least`; `otherwise` where there is no word. */
static inline int motif_number(int count, char **words, int i, int otherwise, int least) {
    char *end;
    long value;
    if (count <= i) return otherwise;
    value = strtol(words[i], &end, 10);
    if (*end != 0 || end == words[i] || value < least || value > 1000000000) {
        fprintf(stderr, "%s: argument %d: \"%s\" must be a whole number of at least %d\n", words[0],
                i, words[i], least);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return (int)value;
}

#endif
