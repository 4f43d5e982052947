/* Tasks that rank 0 hands out to whoever asks, and results that it collects from any source. */
#include <mpi.h>
#include <stdio.h>

enum { TASKS = 30, ASK = 0, TASK = 1 };

struct result { long task, value; };

static long work(long task) { return task * task + 7; }

int main(int count, char **words) {
    int rank, size;
    long results[TASKS];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank == 0) {
        long next = 0;
        for (int ended = 0; ended < size - 1;) {
            struct result found; /* of the task before, or none; it asks for the next, too */
            MPI_Status from;
            MPI_Recv(&found, 2, MPI_LONG, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &from);
            if (found.task >= 0) results[found.task] = found.value;
            ended += next >= TASKS;
            MPI_Send(&next, 1, MPI_LONG, from.MPI_SOURCE, TASK, MPI_COMM_WORLD);
            next += next < TASKS;
        }
    } else {
        struct result mine = {-1, 0};
        for (;;) {
            long task;
            MPI_Send(&mine, 2, MPI_LONG, 0, ASK, MPI_COMM_WORLD);
            MPI_Recv(&task, 1, MPI_LONG, 0, TASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (task >= TASKS) break;
            mine = (struct result){task, work(task)};
        }
    }

    if (rank == 0)
        for (int task = 0; task < TASKS; task += 10)
            printf("task %d: %ld, %ld\n", task, results[task], results[task + 9]);
    MPI_Finalize();
    return 0;
}
