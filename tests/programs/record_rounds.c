/* Rounds of a message there and back between two ranks, with 1 ms of computing in each: what
 * test_record_goal.py records. Arguments: rounds, bytes, and abort: rank 1 then aborts. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static char out[1 << 16], in[1 << 16];

int main(int argc, char **argv) {
    int me, rounds = atoi(argv[1]), bytes = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < rounds; i++) {
        for (double until = MPI_Wtime() + 1e-3; MPI_Wtime() < until;) {}
        if (me == 0) MPI_Send(out, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1 - me, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 1) MPI_Send(out, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
    }
    if (argc > 3 && strcmp(argv[3], "abort") == 0) {
        if (me == 1) MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_Recv(in, 1, MPI_BYTE, 1 - me, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
