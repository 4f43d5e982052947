/* Blocks for all neighbours of a graph, a request for each: MPI_Irecv, MPI_Isend, MPI_Waitall. */
#include <mpi.h>
#include <stdio.h>

enum { NEIGHBOURS = 4, BLOCK = 8, STEPS = 20 };

static const int TO[NEIGHBOURS] = {1, -1, 2, -2}; /* how much further they are */

int main(int count, char **words) {
    int rank, size;
    long own[BLOCK], in[NEIGHBOURS][BLOCK];
    MPI_Request all[2 * NEIGHBOURS];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < BLOCK; i++) own[i] = 10 * rank + i;

    for (int step = 0; step < STEPS; step++) {
        for (int n = 0; n < NEIGHBOURS; n++) {
            const int from = (rank - TO[n] + size) % size, to = (rank + TO[n] + size) % size;
            MPI_Irecv(in[n], BLOCK, MPI_LONG, from, n, MPI_COMM_WORLD, &all[2 * n]);
            MPI_Isend(own, BLOCK, MPI_LONG, to, n, MPI_COMM_WORLD, &all[2 * n + 1]);
        }
        MPI_Waitall(2 * NEIGHBOURS, all, MPI_STATUSES_IGNORE);
        for (int i = 0; i < BLOCK; i++) {
            own[i] += in[0][i] + 2 * in[1][i] + 3 * in[2][i] + 4 * in[3][i];
            own[i] %= 1000003;
        }
    }

    printf("rank %d: %ld %ld\n", rank, own[0], own[BLOCK - 1]);
    MPI_Finalize();
    return 0;
}
