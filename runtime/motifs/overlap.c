/* Overlap: how much of the time that a transfer needs is hidden behind computation.
 *
 *   mpiexec -n P overlap [BYTES [ROUNDS [mpi]]]
 *
 * Rank 0 hands bytes to rank 1, computes for as long as that takes alone, and waits until rank 1
 * reports that it has them; the share is (communication + computation - both) / communication.
 * On one node the processors copy, so that only the work of rank 1 can be hidden; a network adapter
 * would move the bytes itself. Notified puts are measured beside MPI_Isend with MPI_Recv, and
 * MPI_Put with a flush and a message. The check: the bytes at rank 1, in each round.
 */
#include "motif.h"

enum { TAG = 1, TAG_BACK = 2 };

struct half {
    struct motif *m;
    size_t bytes;
    unsigned char *mine, *come;
    fly_win *win;
    fly_req *req; /* rank 1 waits for the bytes, rank 0 for the answer */
    struct motif_exposed exposed;
    MPI_Request request;
};

struct method {
    const char *name;
    void (*begin)(struct half *h); /* rank 0, before it computes */
    void (*end)(struct half *h);   /* rank 0, after it has computed */
    void (*serve)(struct half *h); /* rank 1: takes the bytes */
    void (*answer)(struct half *h);
};

static void fly_begin(struct half *h) {
    DO(fly_put_notify(h->win, h->mine, h->bytes, 1, 0, TAG));
}

static void fly_take(struct half *h) {
    DO(fly_wait(h->req, NULL));
    DO(fly_start(h->req));
}

static void fly_answer(struct half *h) { DO(fly_put_notify(h->win, NULL, 0, 0, 0, TAG_BACK)); }

static void message_begin(struct half *h) {
    MPI_Isend(h->mine, (int)h->bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &h->request);
}

static void message_end(struct half *h) {
    MPI_Wait(&h->request, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void message_serve(struct half *h) {
    MPI_Recv(h->come, (int)h->bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void message_answer(struct half *h) {
    (void)h;
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_BACK, MPI_COMM_WORLD);
}

static void put_begin(struct half *h) {
    MPI_Put(h->mine, (int)h->bytes, MPI_BYTE, 1, 0, (int)h->bytes, MPI_BYTE, h->exposed.window);
}

static void put_end(struct half *h) {
    MPI_Win_flush(1, h->exposed.window);
    MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put_serve(struct half *h) { motif_take_over(&h->exposed, 0, TAG); }

static void compute(double seconds) {
    double until = MPI_Wtime() + seconds;
    while (MPI_Wtime() < until) {}
}

static void expect(const struct half *h, const char *name, int round) {
    for (size_t i = 0; i < h->bytes; i++) {
        if (h->come[i] == (unsigned char)(round + 1)) continue;
        fprintf(stderr, "overlap %s: round %d: byte %zu is %d\n", name, round, i, h->come[i]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Seconds of a round in which rank 0 computes for `seconds`. */
static double measure(struct half *h, const struct method *method, int rounds, double seconds) {
    double began = 0, took = 0;
    for (int round = 0; round < rounds && h->m->rank < 2; round++) {
        memset(h->mine, (unsigned char)(round + 1), h->bytes);
        if (h->m->rank == 0) {
            began = MPI_Wtime();
            method->begin(h);
            if (seconds > 0) compute(seconds);
            method->end(h);
            took += MPI_Wtime() - began;
        } else {
            method->serve(h);
            expect(h, method->name, round);
            method->answer(h);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return took / rounds;
}

static void run(struct half *h, const struct method *method, int rounds) {
    measure(h, method, rounds / 10 + 1, 0); /* warms up */
    double alone = measure(h, method, rounds, 0), both = measure(h, method, rounds, alone);
    if (h->m->rank == 0)
        printf("overlap %s: %zu bytes, all right, %.2f us, with as much computation %.2f us: "
               "%.0f %% hidden\n", method->name, h->bytes, alone * 1e6, both * 1e6,
               (2 * alone - both) / alone * 100);
}

int main(int count, char **words) {
    static const struct method NOTIFIED = {"notified", fly_begin, fly_take, fly_take, fly_answer};
    static const struct method MESSAGES = {"by messages", message_begin, message_end, message_serve,
                                        message_answer};
    static const struct method PUTS = {"by MPI's puts", put_begin, put_end, put_serve,
                                    message_answer};
    struct motif m;
    struct half half = {.m = &m}, *h = &half;
    void *base;
    motif_open(&m, &count, &words);
    h->bytes = (size_t)motif_number(count, words, 1, 65536, 1);
    int rounds = motif_number(count, words, 2, 1000, 1);
    if (m.size < 2) {
        fprintf(stderr, "overlap: 1 rank: it needs 2\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    h->mine = (unsigned char *)malloc(h->bytes);
    unsigned char *messages = (unsigned char *)malloc(h->bytes);
    if (h->mine == NULL || messages == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    DO(fly_win_allocate(fly_world(m.rt), h->bytes, 1, 0, &base, &h->win));
    DO(fly_notify_init(h->win, m.rank < 2 ? 1 - m.rank : FLY_PROC_NULL,
                       m.rank == 0 ? TAG_BACK : TAG, 1, &h->req));
    DO(fly_start(h->req));
    h->come = (unsigned char *)base;
    run(h, &NOTIFIED, rounds);
    if (!motif_recorded()) {
        h->come = messages;
        run(h, &MESSAGES, rounds);
    }
    if (motif_puts(count, words, 3)) {
        motif_expose(&h->exposed, h->bytes);
        h->come = h->exposed.base;
        run(h, &PUTS, rounds);
        motif_unexpose(&h->exposed);
    }
    DO(fly_cancel(h->req, NULL));
    DO(fly_req_free(&h->req));
    DO(fly_win_free(&h->win));
    free(h->mine);
    free(messages);
    motif_close(&m);
    return 0;
}
