/* Receives that name no source or no tag, completed by every call that completes: what
 * test_record_goal.py records. */
#include <mpi.h>
#include <string.h>

#define W MPI_COMM_WORLD
#define NO MPI_STATUS_IGNORE
#define ANY MPI_ANY_SOURCE, MPI_ANY_TAG, W

static int me, all;
static char out[1 << 12], in[16][1 << 12];

static int after(int step) { return ((me + step) % all + all) % all; }

/* Everybody sends to the next two, with a tag and a size for each; two come. */
static void send(int tag, MPI_Request *r) {
    for (int i = 0; i < 2; i++)
        MPI_Isend(out, 10 * tag + i, MPI_BYTE, after(i + 1), tag + i, W, &r[i]);
}

static void probed(void) {
    MPI_Request r[2];
    MPI_Status status;
    MPI_Message message;
    int size, flag = 0;
    send(20, r);
    MPI_Probe(ANY, &status);
    MPI_Get_count(&status, MPI_BYTE, &size);
    MPI_Recv(in[0], size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, W, NO);
    while (!flag) MPI_Iprobe(ANY, &flag, &status);
    MPI_Iprobe(status.MPI_SOURCE, status.MPI_TAG, W, &flag, NO);
    MPI_Recv(in[1], 4096, MPI_BYTE, MPI_ANY_SOURCE, status.MPI_TAG, W, NO);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Barrier(W);
    send(30, r);
    MPI_Mprobe(ANY, &message, NO);
    MPI_Mrecv(in[0], 4096, MPI_BYTE, &message, NO);
    for (flag = 0; !flag;) MPI_Improbe(ANY, &flag, &message, &status);
    MPI_Request got;
    MPI_Imrecv(in[1], 4096, MPI_BYTE, &message, &got);
    MPI_Wait(&got, NO);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Barrier(W);
}

int main(int argc, char **argv) {
    MPI_Request r[4], back;
    int flag = 0, which, some[4], found, left = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &all);
    for (int how = 0; how < 6; how++) {
        send(how + 1, r);
        for (int i = 0; i < 2; i++) MPI_Irecv(in[i], 4096, MPI_BYTE, ANY, &r[2 + i]);
        switch (how) {
        case 0: MPI_Waitall(4, r, MPI_STATUSES_IGNORE); break;
        case 1:
            for (int i = 0; i < 4; i++) MPI_Wait(&r[3 - i], NO);
            break;
        case 2:
            for (int i = 0; i < 4; i++) MPI_Waitany(4, r, &which, NO);
            break;
        case 3:
            for (left = 4; left > 0; left -= found)
                MPI_Waitsome(4, r, &found, some, MPI_STATUSES_IGNORE);
            break;
        case 4:
            for (flag = 0; !flag;) MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE);
            break;
        case 5:
            for (int i = 0; i < 4; i++)
                for (flag = 0; !flag;) MPI_Test(&r[i], &flag, NO);
            break;
        }
        MPI_Barrier(W);
    }
    probed();
    MPI_Irecv(in[0], 4096, MPI_BYTE, ANY, &back); /* nobody sends this */
    MPI_Cancel(&back);
    MPI_Wait(&back, NO);
    MPI_Barrier(W);
    MPI_Isend(out, 3, MPI_BYTE, after(1), 99, W, &back);
    MPI_Request_free(&back);
    MPI_Recv(in[0], 3, MPI_BYTE, after(-1), 99, W, NO);
    MPI_Finalize();
    return 0;
}
