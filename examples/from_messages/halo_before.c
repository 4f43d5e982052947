/* Halo exchange with MPI_Irecv, MPI_Isend and MPI_Waitall: means of cells on a ring. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 100 };

int main(int count, char **words) {
    int rank, size;
    double cells[2][CELLS + 2]; /* the first and the last are the neighbours' */
    MPI_Request all[4];
    MPI_Comm ring;
    int left, right;
    const int steps = count > 1 ? atoi(words[1]) : 50;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 1, &ring); /* ranks may be reordered */
    MPI_Comm_rank(ring, &rank);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    for (int i = 1; i <= CELLS; i++) cells[0][i] = (rank * CELLS + i) % 17;

    for (int step = 0; step < steps; step++) {
        double *now = cells[step % 2], *next = cells[1 - step % 2];
        MPI_Irecv(&now[0], 1, MPI_DOUBLE, left, 0, ring, &all[0]);
        MPI_Irecv(&now[CELLS + 1], 1, MPI_DOUBLE, right, 1, ring, &all[1]);
        MPI_Isend(&now[1], 1, MPI_DOUBLE, left, 1, ring, &all[2]);
        MPI_Isend(&now[CELLS], 1, MPI_DOUBLE, right, 0, ring, &all[3]);
        for (int i = 2; i < CELLS; i++) next[i] = (now[i - 1] + now[i] + now[i + 1]) / 3;
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        next[1] = (now[0] + now[1] + now[2]) / 3;
        next[CELLS] = (now[CELLS - 1] + now[CELLS] + now[CELLS + 1]) / 3;
    }

    printf("rank %d: %.12f %.12f\n", rank, cells[steps % 2][1],
           cells[steps % 2][CELLS]);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
