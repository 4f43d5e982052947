/* A pipeline with MPI_Recv and MPI_Send: every row goes from rank to rank, then the next sweep. */
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 40, SWEEPS = 3 };

int main(int count, char **words) {
    int rank, size;
    long own[ROWS], corner = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int row = 0; row < ROWS; row++) own[row] = rank + row;

    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int row = 0; row < ROWS; row++) {
            long before = corner;
            if (rank > 0)
                MPI_Recv(&before, 1, MPI_LONG, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            own[row] = (own[row] + (row > 0 ? own[row - 1] : 0) + before) % 1000003;
            if (rank < size - 1) MPI_Send(&own[row], 1, MPI_LONG, rank + 1, 0, MPI_COMM_WORLD);
        }
        /* the last value of the last rank begins the next sweep */
        if (rank == size - 1) MPI_Send(&own[ROWS - 1], 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(&corner, 1, MPI_LONG, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    printf("rank %d: %ld\n", rank, own[ROWS - 1]);
    MPI_Finalize();
    return 0;
}
