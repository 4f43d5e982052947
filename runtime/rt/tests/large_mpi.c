/* Puts and gets of BYTES bytes over the messages of an MPI, between two ranks: large_mpi BYTES. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom_mpi.h"

#define OK(call)                                                                 \
    do {                                                                         \
        if ((call) != FLY_OK) {                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, fly_last_error(NULL));    \
            MPI_Abort(MPI_COMM_WORLD, 1);                                        \
        }                                                                        \
    } while (0)

/* Writes or checks some bytes all over a block, and its last one. */
static void each(unsigned char *block, size_t bytes, int write, int seed, int *wrong) {
    for (size_t i = 0;; i = i + 4093 < bytes ? i + 4093 : bytes - 1) {
        unsigned char value = (unsigned char)(i * 31 + (size_t)seed);
        if (write) block[i] = value;
        else *wrong += block[i] != value;
        if (i == bytes - 1) return;
    }
}

int main(int count, char **words) {
    size_t bytes = count > 1 ? strtoull(words[1], NULL, 10) : 1;
    fly_config config = {.transports = "msg"};
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    fly_req *req;
    void *base;
    int wrong = 0, rank, all = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(fly_mpi_boot(MPI_COMM_WORLD, &boot));
    OK(fly_init(&boot, &config, &rt));
    OK(fly_win_allocate(fly_world(rt), bytes, 1, 0, &base, &win));
    OK(fly_notify_init(win, 0, 7, 1, &req));
    OK(fly_start(req));
    if (rank == 0) {
        unsigned char *block = malloc(bytes);
        each(block, bytes, 1, 3, NULL);
        OK(fly_put(win, block, bytes, 1, 0));
        OK(fly_flush(win, 1));
        each(block, bytes, 1, 4, NULL);
        OK(fly_get(win, block, bytes, 1, 0));
        OK(fly_flush_local(win, 1));
        each(block, bytes, 0, 3, &wrong);
        OK(fly_put_notify(win, block, 8, 1, 0, 7));
        free(block);
        OK(fly_cancel(req, NULL));
    } else {
        OK(fly_wait(req, NULL));
        each(base, bytes, 0, 3, &wrong);
    }
    OK(fly_req_free(&req));
    OK(fly_win_free(&win));
    OK(fly_finalize(&rt));
    fly_mpi_boot_free(&boot);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("%zu bytes put and got\n", bytes);
    MPI_Finalize();
    return wrong != 0;
}
