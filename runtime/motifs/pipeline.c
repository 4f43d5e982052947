/* Pipeline: the stencil Sync_p2p of the Parallel Research Kernels, columns shared among the ranks.
 *
 *   mpiexec -n P pipeline [COLUMNS [ROWS [ITERATIONS [mpi]]]]
 *
 * Each row needs the value left of it from the rank before. The notified method makes one put of 8
 * bytes for each row, which the consumer finds inside the notification. MPI_Send with MPI_Recv is
 * measured beside it, and with "mpi" also MPI_Put, a flush and a message.
 * Source: https://github.com/ParRes/Kernels, Sync_p2p (the definition and its check).
 */
#include "motif.h"

#include <math.h>

enum { TAG_ROW = 1, TAG_CORNER = 2 };

struct grid {
    struct motif *m;
    int columns, rows, iterations, first, mine; /* this rank's columns: first, and number */
    double *a;       /* mine + 1 columns; column 0 is the neighbour's last */
    fly_win *win;    /* `rows` values from the left neighbour, then the corner */
    double *window;
    fly_req *row, *corner;
    struct motif_exposed exposed;
};

enum method { NOTIFIED, BY_MESSAGES, BY_MPI_PUTS };

#define A(g, i, j) (g)->a[(size_t)(j) * (size_t)((g)->mine + 1) + (size_t)(i)]

static void clear(struct grid *g) {
    for (int j = 0; j < g->rows; j++)
        for (int i = 0; i <= g->mine; i++) A(g, i, j) = 0;
    for (int i = 0; i <= g->mine; i++) A(g, i, 0) = g->first + i - 1;
    if (g->m->rank == 0)
        for (int j = 0; j < g->rows; j++) A(g, 1, j) = j;
}

/* Takes the value from inside the notification, if it is there; it is in the window in any case. */
static double row_notified(struct grid *g, int j) {
    double value;
    size_t bytes;
    DO(fly_wait(g->row, NULL));
    const void *inside = fly_inline(g->row, &bytes);
    memcpy(&value, inside != NULL ? inside : &g->window[j], sizeof value);
    DO(fly_start(g->row));
    return value;
}

static double row_by_put(const struct grid *g, int j) {
    double value;
    motif_take_over(&g->exposed, g->m->rank - 1, TAG_ROW);
    memcpy(&value, g->exposed.base + (size_t)j * 8, sizeof value);
    return value;
}

static double row_by_message(void) {
    double value;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, TAG_ROW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static double row(struct grid *g, int j, enum method method) {
    if (method == NOTIFIED) return row_notified(g, j);
    return method == BY_MESSAGES ? row_by_message() : row_by_put(g, j);
}

static void sweep(struct grid *g, enum method method) {
    int rank = g->m->rank, last = g->m->size - 1, from = rank == 0 ? 2 : 1;
    for (int j = 1; j < g->rows; j++) {
        if (rank > 0) A(g, 0, j) = row(g, j, method);
        for (int i = from; i <= g->mine; i++)
            A(g, i, j) = A(g, i - 1, j) + A(g, i, j - 1) - A(g, i - 1, j - 1);
        if (rank == last) continue;
        double value = A(g, g->mine, j);
        if (method == NOTIFIED)
            DO(fly_put_notify(g->win, &value, 8, rank + 1, (uint64_t)j, TAG_ROW));
        else if (method == BY_MPI_PUTS)
            motif_hand_over(&g->exposed, &value, 8, rank + 1, (size_t)j * 8, TAG_ROW);
        else
            MPI_Send(&value, 1, MPI_DOUBLE, rank + 1, TAG_ROW, MPI_COMM_WORLD);
    }
}

/* Makes the last corner, negated, the first one: each iteration depends on the one before. */
static void close_ring(struct grid *g, enum method method) {
    int rank = g->m->rank, last = g->m->size - 1;
    double corner = rank == last ? -A(g, g->mine, g->rows - 1) : 0;
    if (last == 0) {
        A(g, 1, 0) = corner;
    } else if (method == NOTIFIED) {
        if (rank == last) DO(fly_put_notify(g->win, &corner, 8, 0, (uint64_t)g->rows, TAG_CORNER));
        if (rank == 0) {
            DO(fly_start(g->corner));
            DO(fly_wait(g->corner, NULL));
            A(g, 1, 0) = g->window[g->rows];
        }
    } else if (method == BY_MPI_PUTS) {
        size_t at = (size_t)g->rows * 8;
        if (rank == last) motif_hand_over(&g->exposed, &corner, 8, 0, at, TAG_CORNER);
        if (rank == 0) {
            motif_take_over(&g->exposed, last, TAG_CORNER);
            memcpy(&A(g, 1, 0), g->exposed.base + at, 8);
        }
    } else {
        if (rank == last) MPI_Send(&corner, 1, MPI_DOUBLE, 0, TAG_CORNER, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(&A(g, 1, 0), 1, MPI_DOUBLE, last, TAG_CORNER, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static double run(struct grid *g, enum method method) {
    double began = 0;
    clear(g);
    for (int iteration = 0; iteration <= g->iterations; iteration++) {
        if (iteration == 1) { /* the first warms up */
            MPI_Barrier(MPI_COMM_WORLD);
            began = MPI_Wtime();
        }
        sweep(g, method);
        close_ring(g, method);
    }
    double took = MPI_Wtime() - began, wrong = 0;
    double wanted = (double)(g->iterations + 1) * (g->columns + g->rows - 2);
    if (g->m->rank == g->m->size - 1)
        wrong = fabs(A(g, g->mine, g->rows - 1) - wanted) > 1e-8 * wanted;
    MPI_Bcast(&wrong, 1, MPI_DOUBLE, g->m->size - 1, MPI_COMM_WORLD);
    MPI_Bcast(&took, 1, MPI_DOUBLE, g->m->size - 1, MPI_COMM_WORLD);
    if (wrong != 0) {
        if (g->m->rank == 0) fprintf(stderr, "pipeline: the corner is not %.1f\n", wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return took;
}

static void report(const struct grid *g, const char *how, double took) {
    double operations = 2.0 * (g->columns - 1) * (g->rows - 1) * g->iterations;
    if (g->m->rank == 0)
        printf("pipeline %s: %d x %d, corner right, %.1f MFlop/s\n", how, g->columns, g->rows,
               operations / took / 1e6);
}

int main(int count, char **words) {
    struct motif m;
    struct grid grid = {.m = &m}, *g = &grid;
    void *base;
    motif_open(&m, &count, &words);
    g->columns = motif_number(count, words, 1, 20, 2 * m.size);
    g->rows = motif_number(count, words, 2, 1000, 2);
    g->iterations = motif_number(count, words, 3, 50, 1);
    g->first = (int)((long)g->columns * m.rank / m.size);
    g->mine = (int)((long)g->columns * (m.rank + 1) / m.size) - g->first;
    g->a = (double *)malloc((size_t)(g->mine + 1) * (size_t)g->rows * sizeof *g->a);
    if (g->a == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    DO(fly_win_allocate(fly_world(m.rt), ((size_t)g->rows + 1) * 8, 8, 0, &base, &g->win));
    g->window = (double *)base;
    DO(fly_notify_init(g->win, m.rank == 0 ? FLY_PROC_NULL : m.rank - 1, TAG_ROW, 1, &g->row));
    DO(fly_notify_init(g->win, m.size - 1, TAG_CORNER, 1, &g->corner));
    if (m.rank > 0) DO(fly_start(g->row));
    report(g, "notified", run(g, NOTIFIED));
    if (!motif_recorded()) {
        report(g, "by messages", run(g, BY_MESSAGES));
    }
    if (motif_puts(count, words, 4)) {
        motif_expose(&g->exposed, ((size_t)g->rows + 1) * 8);
        report(g, "by MPI's puts", run(g, BY_MPI_PUTS));
        motif_unexpose(&g->exposed);
    }
    DO(fly_cancel(g->row, NULL));
    DO(fly_req_free(&g->row));
    DO(fly_req_free(&g->corner));
    DO(fly_win_free(&g->win));
    free(g->a);
    motif_close(&m);
    return 0;
}
