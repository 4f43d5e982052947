/* Times of messages between the first rank, the client, and the last, the server. */
#include "measure.h"

#include <stdlib.h>

#include "prtt.h"

enum { TAG = 1, MOST_REPETITIONS = 100000, MOST_MESSAGES = 1024 };

/* The other process of a measurement, and the memory that messages are sent from. */
struct peer_buffer {
    int other;
    unsigned char *memory;
};

static void send(void *context, size_t bytes) {
    const struct peer_buffer *p = context;
    MPI_Send(p->memory, (int)bytes, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD);
}

static void receive(void *context, size_t bytes) {
    const struct peer_buffer *p = context;
    MPI_Recv(p->memory, (int)bytes, MPI_BYTE, p->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void answer(void *context) { send(context, 1); }

static void answered(void *context) { receive(context, 1); }

static void agree(void *context, double *number) {
    const struct peer_buffer *p = context;
    if (p->other != 0)
        MPI_Send(number, 1, MPI_DOUBLE, p->other, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(number, 1, MPI_DOUBLE, p->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void size(struct measurement *m, const struct prtt *p, size_t bytes, bool first) {
    const struct peer_buffer *pair = p->context;
    double *all = measure_memory((size_t)p->repetitions * 4 * sizeof *all);
    int n = p->repetitions;
    struct prtt_times times = {0, all, all + n, all + 2 * n, all + 3 * n};
    prtt_take(p, bytes, &times);
    if (!p->client) {
        MPI_Send(times.served, n, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(times.served, n, MPI_DOUBLE, pair->other, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        prtt_write(m->out, p, bytes, first, &times);
    }
    free(all);
}

void measure_loggp(struct measurement *m, int count, char **words) {
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
        struct peer_buffer pair = {m->rank == 0 ? m->ranks - 1 : 0, measure_memory((size_t)most)};
        struct prtt p = {.context = &pair, .client = m->rank == 0, .messages = messages,
                         .repetitions = repetitions, .now_ns = measure_now, .send = send,
                         .receive = receive, .answer = answer, .answered = answered,
                         .agree = agree};
        for (int i = 2; i < count; i++) size(m, &p, (size_t)atol(words[i]), i == 2);
        free(pair.memory);
    }
    if (m->rank == 0) fprintf(m->out, "\n]");
}
