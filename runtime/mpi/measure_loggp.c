/* Times of messages between the first rank, the client, and the last, the server. */
#include "measure.h"

#include <stdlib.h>

enum { WARM = 4, TAG = 1, MOST_REPETITIONS = 100000, MOST_MESSAGES = 1024 };

struct pair {
    int other, client;
    unsigned char *memory;
    int messages;
};

/* The client's time until the answer to so many messages, with a delay between them. */
static double ask(const struct pair *p, int messages, int bytes, double delay) {
    double began = measure_now();
    MPI_Send(p->memory, bytes, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD);
    for (int i = 1; i < messages; i++) {
        if (delay > 0) measure_delay(delay);
        MPI_Send(p->memory, bytes, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD);
    }
    MPI_Recv(p->memory, 1, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return measure_now() - began;
}

/* The server's time for all messages but the first, with a delay before each; then it answers. */
static double serve(const struct pair *p, int messages, int bytes, double delay) {
    MPI_Recv(p->memory, bytes, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double began = measure_now();
    for (int i = 1; i < messages; i++) {
        if (delay > 0) measure_delay(delay);
        MPI_Recv(p->memory, bytes, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double took = measure_now() - began;
    MPI_Send(p->memory, 1, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD);
    return took;
}

static double go(const struct pair *p, int messages, int bytes, double mine, double others) {
    return p->client ? ask(p, messages, bytes, mine) : serve(p, messages, bytes, others);
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The delay that both keep: a round trip, as the client saw it. */
static double delay_of(const struct pair *p, int bytes) {
    double times[2 * WARM + 1], found;
    for (int i = 0; i < WARM; i++) go(p, 1, bytes, 0, 0);
    for (int i = 0; i < 2 * WARM + 1; i++) times[i] = go(p, 1, bytes, 0, 0);
    qsort(times, 2 * WARM + 1, sizeof *times, rising);
    found = times[WARM] * 1.25;
    if (p->client) {
        MPI_Send(&found, 1, MPI_DOUBLE, p->other, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&found, 1, MPI_DOUBLE, p->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return found;
}

/* One size: each way of asking in turn, so that all share what the machine does meanwhile. */
static void size(struct measure *m, const struct pair *p, int bytes, int repetitions, int first) {
    double *times = measure_memory((size_t)repetitions * 4 * sizeof *times);
    double *one = times, *many = one + repetitions, *spaced = many + repetitions;
    double *served = spaced + repetitions, delay = delay_of(p, bytes);
    for (int i = 0; i < repetitions; i++) {
        one[i] = go(p, 1, bytes, 0, 0);
        many[i] = go(p, p->messages, bytes, 0, 0);
        spaced[i] = go(p, p->messages, bytes, delay, 0);
        served[i] = go(p, p->messages, bytes, 0, delay);
    }
    if (!p->client) {
        MPI_Send(served, repetitions, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(served, repetitions, MPI_DOUBLE, p->other, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        fprintf(m->out, "%s{\"bytes\": %d, \"delay_ns\": %.1f,\n", first ? "" : ",\n", bytes,
                delay);
        measure_list(m, "one_ns", one, repetitions);
        fprintf(m->out, ",\n");
        measure_list(m, "many_ns", many, repetitions);
        fprintf(m->out, ",\n");
        measure_list(m, "spaced_ns", spaced, repetitions);
        fprintf(m->out, ",\n");
        measure_list(m, "served_ns", served, repetitions);
        fprintf(m->out, "}");
    }
    free(times);
}

void measure_loggp(struct measure *m, int count, char **words) {
    if (count < 3) measure_fail("loggp: MESSAGES REPETITIONS SIZE...");
    int messages = (int)measure_number(words[0], 2, MOST_MESSAGES, "messages");
    int repetitions = (int)measure_number(words[1], 1, MOST_REPETITIONS, "repetitions");
    long most = 1;
    for (int i = 2; i < count; i++) {
        long bytes = measure_number(words[i], 1, 1L << 30, "size");
        if (bytes > most) most = bytes;
    }
    if (m->rank == 0) {
        fprintf(m->out, "\"messages\": %d, \"repetitions\": %d,\n\"sizes\": [\n", messages,
                repetitions);
    }
    if (m->rank == 0 || m->rank == m->ranks - 1) {
        struct pair p = {m->rank == 0 ? m->ranks - 1 : 0, m->rank == 0, NULL, messages};
        p.memory = measure_memory((size_t)most);
        for (int i = 2; i < count; i++) size(m, &p, atoi(words[i]), repetitions, i == 2);
        free(p.memory);
    }
    if (m->rank == 0) fprintf(m->out, "\n]");
}
