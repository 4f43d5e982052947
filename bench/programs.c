/* Three MPI programs of the kinds that run on clusters: a stencil that exchanges the rows at its
 * borders, conjugate gradients with two dot products in each step, and a transposition by
 * MPI_Alltoall between passes over the data. Arguments: the program's name, a number of steps, and
 * what the work of a rank in a step is divided by while its messages stay as long. Rank 0 prints
 * the nanoseconds from the end of MPI_Init to that of the last barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 360, ROWS = 200, CELLS = 60000, BLOCK = 2048 };

static int rank, ranks, part;

/* Means of five cells; a row of 360 numbers goes to each neighbour in a step. */
static double stencil(int steps) {
    const int last = ROWS / part;
    static double cells[2][ROWS + 2][SIDE];
    const int above = rank == 0 ? MPI_PROC_NULL : rank - 1;
    const int below = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < SIDE; j++) cells[0][i][j] = (rank * ROWS + i + j) % 13;
    memcpy(cells[1], cells[0], sizeof cells[0]);
    for (int step = 0; step < steps; step++) {
        double(*now)[SIDE] = cells[step % 2], (*next)[SIDE] = cells[1 - step % 2];
        MPI_Request all[4];
        MPI_Irecv(now[0], SIDE, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &all[0]);
        MPI_Irecv(now[last + 1], SIDE, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &all[1]);
        MPI_Isend(now[1], SIDE, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &all[2]);
        MPI_Isend(now[last], SIDE, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &all[3]);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= last; i++)
            for (int j = 1; j < SIDE - 1; j++)
                next[i][j] = 0.2 * (now[i][j] + now[i - 1][j] + now[i + 1][j] + now[i][j - 1] +
                                    now[i][j + 1]);
    }
    return cells[steps % 2][last / 2][SIDE / 2];
}

static double dot(const double *a, const double *b) {
    double mine = 0, all;
    for (int i = 1; i <= CELLS / part; i++) mine += a[i] * b[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Conjugate gradients for a matrix with 4 on its diagonal and -1 beside it. */
static double gradients(int steps) {
    static double x[CELLS + 2], r[CELLS + 2], p[CELLS + 2], q[CELLS + 2];
    const int left = rank == 0 ? MPI_PROC_NULL : rank - 1;
    const int right = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
    for (int i = 1; i <= CELLS / part; i++) r[i] = p[i] = 1 + (rank + i) % 7;
    double length = dot(r, r);
    for (int step = 0; step < steps; step++) {
        MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 0, &p[CELLS / part + 1], 1, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&p[CELLS / part], 1, MPI_DOUBLE, right, 1, &p[0], 1, MPI_DOUBLE, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= CELLS / part; i++) q[i] = 4 * p[i] - p[i - 1] - p[i + 1];
        const double along = length / (dot(p, q) + 1e-300);
        for (int i = 1; i <= CELLS / part; i++) x[i] += along * p[i], r[i] -= along * q[i];
        const double now = dot(r, r), ratio = now / (length + 1e-300);
        for (int i = 1; i <= CELLS / part; i++) p[i] = r[i] + ratio * p[i];
        length = now;
    }
    return x[1];
}

/* Passes over the data with an exchange of blocks of 16 KiB among all ranks after each. */
static double transpose(int steps) {
    double *out = calloc((size_t)ranks * BLOCK, sizeof *out);
    double *in = calloc((size_t)ranks * BLOCK, sizeof *in);
    for (int i = 0; i < ranks * BLOCK; i++) out[i] = (rank + 1 + i) % 11;
    for (int step = 0; step < steps; step++) {
        for (int pass = 0; pass < 20 / part; pass++)
            for (int i = 1; i < ranks * BLOCK; i++) out[i] = 0.5 * (out[i - 1] + out[i]);
        MPI_Alltoall(out, BLOCK, MPI_DOUBLE, in, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
        double *other = out;
        out = in;
        in = other;
    }
    const double some = out[BLOCK];
    free(out), free(in);
    return some;
}

int main(int argc, char **argv) {
    if (argc != 4 || (part = atoi(argv[3])) < 1 || part > 20) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const double began = MPI_Wtime();
    const int steps = atoi(argv[2]);
    const double found = strcmp(argv[1], "stencil") == 0     ? stencil(steps)
                         : strcmp(argv[1], "gradients") == 0 ? gradients(steps)
                                                             : transpose(steps);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%.0f ns, of which %g comes\n", 1e9 * (MPI_Wtime() - began), found);
    MPI_Finalize();
    return 0;
}
