/* What a message takes: one process sends to itself. Prints the fewest nanoseconds of CPU time of
 * several rounds for each of: a send to one communicator, to three in turn, a persistent one. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 15, MESSAGES = 40000, WARM = 3 };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    char out[8] = {0}, in[8];
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    MPI_Request sent, arrived;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    MPI_Send_init(out, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &sent);
    for (int kind = 0; kind < 3; kind++) {
        double least = 1e30;
        for (int round = 0; round < ROUNDS; round++) {
            double began = now_ns();
            for (int i = 0; i < MESSAGES; i++) {
                MPI_Comm comm = comms[kind == 1 ? i % 3 : 0];
                MPI_Irecv(in, 8, MPI_CHAR, 0, 1, comm, &arrived);
                if (kind == 2) {
                    MPI_Start(&sent);
                    MPI_Wait(&sent, MPI_STATUS_IGNORE);
                } else {
                    MPI_Send(out, 8, MPI_CHAR, 0, 1, comm);
                }
                MPI_Wait(&arrived, MPI_STATUS_IGNORE);
            }
            double took = (now_ns() - began) / MESSAGES;
            if (round >= WARM && took < least) least = took;
        }
        printf("%.2f\n", least);
    }
    MPI_Request_free(&sent);
    MPI_Finalize();
    return 0;
}
