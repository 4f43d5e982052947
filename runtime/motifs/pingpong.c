/* Ping-pong: bytes back and forth between ranks 0 and 1, untouched or written and read by the user.
 *
 *   mpiexec -n P pingpong [BYTES [ROUNDS [mpi]]]
 *
 * Touched means that in each round the sender writes all bytes and the receiver reads them all.
 * Notified puts are measured beside MPI_Send with MPI_Recv, and MPI_Put with a flush and a message.
 * The check: each side adds up the bytes received, whose sum is known; untouched, those of the last
 * round.
 */
#include "motif.h"

enum { TAG = 1 };

struct ball {
    struct motif *m;
    size_t bytes;
    unsigned char *mine, *come; /* bytes to send; where the other's bytes arrive */
    fly_win *win;
    fly_req *req;
    unsigned char *window;
    struct motif_exposed exposed;
};

struct method {
    const char *name;
    void (*give)(struct ball *b);
    void (*take)(struct ball *b);
};

static int other(const struct ball *b) { return 1 - b->m->rank; }

static void fly_give(struct ball *b) {
    DO(fly_put_notify(b->win, b->mine, b->bytes, other(b), 0, TAG));
}

static void fly_take(struct ball *b) {
    DO(fly_wait(b->req, NULL));
    DO(fly_start(b->req));
}

static void message_give(struct ball *b) {
    MPI_Send(b->mine, (int)b->bytes, MPI_BYTE, other(b), TAG, MPI_COMM_WORLD);
}

static void message_take(struct ball *b) {
    MPI_Recv(b->come, (int)b->bytes, MPI_BYTE, other(b), TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put_give(struct ball *b) {
    motif_hand_over(&b->exposed, b->mine, b->bytes, other(b), 0, TAG);
}

static void put_take(struct ball *b) { motif_take_over(&b->exposed, other(b), TAG); }

static unsigned char value_of(int rank, int round) { return (unsigned char)(rank * 7 + round + 1); }

static void expect(const struct ball *b, const char *name, int round) {
    unsigned char wanted = value_of(other(b), round);
    for (size_t i = 0; i < b->bytes; i++) {
        if (b->come[i] == wanted) continue;
        fprintf(stderr, "pingpong %s: round %d: byte %zu is %d, not %d\n", name, round, i,
                b->come[i], wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void send(struct ball *b, const struct method *method, int round, int touched) {
    if (touched) memset(b->mine, value_of(b->m->rank, round), b->bytes);
    method->give(b);
}

static void receive(struct ball *b, const struct method *method, int round, int touched) {
    method->take(b);
    if (touched) expect(b, method->name, round);
}

static void run(struct ball *b, const struct method *method, int rounds, int touched) {
    double began = 0;
    int rank = b->m->rank, warm = rounds / 10;
    if (rank < 2) memset(b->mine, value_of(rank, 0), b->bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = -warm; round < rounds && rank < 2; round++) {
        if (round == 0) began = MPI_Wtime();
        if (rank == 0) send(b, method, round, touched);
        receive(b, method, round, touched);
        if (rank == 1) send(b, method, round, touched);
    }
    double took = MPI_Wtime() - began;
    if (rank < 2) expect(b, method->name, touched ? rounds - 1 : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("pingpong %s, %s: %zu bytes, all right, %.3f us half a round\n", method->name,
               touched ? "written and read" : "untouched", b->bytes, took / rounds / 2 * 1e6);
}

int main(int count, char **words) {
    static const struct method NOTIFIED = {"notified", fly_give, fly_take};
    static const struct method MESSAGES = {"by messages", message_give, message_take};
    static const struct method PUTS = {"by MPI's puts", put_give, put_take};
    struct motif m;
    struct ball ball = {.m = &m}, *b = &ball;
    void *base;
    motif_open(&m, &count, &words);
    b->bytes = (size_t)motif_number(count, words, 1, 8, 1);
    int rounds = motif_number(count, words, 2, 10000, 1);
    if (m.size < 2) {
        fprintf(stderr, "pingpong: 1 rank: it needs 2\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    b->mine = (unsigned char *)malloc(b->bytes);
    unsigned char *messages = (unsigned char *)malloc(b->bytes);
    if (b->mine == NULL || messages == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    DO(fly_win_allocate(fly_world(m.rt), b->bytes, 1, 0, &base, &b->win));
    DO(fly_notify_init(b->win, m.rank < 2 ? other(b) : FLY_PROC_NULL, TAG, 1, &b->req));
    DO(fly_start(b->req));
    for (int touched = 0; touched < 2; touched++) {
        b->come = (unsigned char *)base;
        run(b, &NOTIFIED, rounds, touched);
        if (motif_recorded()) continue;
        b->come = messages;
        run(b, &MESSAGES, rounds, touched);
        if (!motif_puts(count, words, 3)) continue;
        motif_expose(&b->exposed, b->bytes);
        b->come = b->exposed.base;
        run(b, &PUTS, rounds, touched);
        motif_unexpose(&b->exposed);
    }
    DO(fly_cancel(b->req, NULL));
    DO(fly_req_free(&b->req));
    DO(fly_win_free(&b->win));
    free(b->mine);
    free(messages);
    motif_close(&m);
    return 0;
}
