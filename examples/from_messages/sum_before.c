/* A sum over all ranks by recursive doubling with MPI_Sendrecv; the ranks are a power of two. */
#include <mpi.h>
#include <stdio.h>

enum { TIMES = 20 };

int main(int count, char **words) {
    int rank, size;
    long value;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    value = rank + 1;

    for (int time = 0; time < TIMES; time++) {
        long sum = value;
        for (int far = 1; far < size; far *= 2) {
            long other;
            MPI_Sendrecv(&sum, 1, MPI_LONG, rank ^ far, 0, &other, 1, MPI_LONG, rank ^ far, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += other;
        }
        value = (value * 3 + sum) % 1000003;
    }

    printf("rank %d: %ld\n", rank, value);
    MPI_Finalize();
    return 0;
}
