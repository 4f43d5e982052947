/* Notified put beside what an MPI offers, in one run: mpiexec -n 2 perf_mpi TRANSPORTS BYTES N
 *
 * Built by the mpicc of an MPI. Prints rows as JSON.
 */
#include "flyloom_mpi.h"

#include <stdio.h>
#include <string.h>

#include "perf.h"

static MPI_Win window;
static unsigned char *exposed;
static unsigned char buffer[1 << 22];

static void message_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    MPI_Send(buffer, (int)bytes, MPI_BYTE, 1 - p->rank, 7, MPI_COMM_WORLD);
}

static void message_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, 1 - p->rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Put, flush, then a message without bytes: what hands data over by one-sided MPI. */
static void put_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    MPI_Put(buffer, (int)bytes, MPI_BYTE, 1 - p->rank, 0, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(1 - p->rank, window);
    MPI_Send(NULL, 0, MPI_BYTE, 1 - p->rank, 8, MPI_COMM_WORLD);
}

static void put_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    (void)bytes;
    MPI_Recv(NULL, 0, MPI_BYTE, 1 - p->rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int count, char **words) {
    fly_boot boot;
    MPI_Init(&count, &words);
    size_t bytes = count > 3 ? strtoul(words[2], NULL, 10) : 8;
    struct perf p = {.json = true, .bytes_most = bytes};
    p.repetitions = count > 3 ? strtoull(words[3], NULL, 10) : 10000;
    if (bytes > sizeof buffer || fly_mpi_boot(MPI_COMM_WORLD, &boot) != FLY_OK) return 2;
    perf_apart(boot.rank);
    if (perf_open(&boot, count > 1 ? words[1] : "shm", &p) != FLY_OK) {
        fprintf(stderr, "perf_mpi: %s\n", fly_last_error(NULL));
        return 2;
    }
    MPI_Win_allocate((MPI_Aint)sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    struct perf_way ways[] = {perf_notified,
                              {"send and receive", message_send, message_wait, 0, 0},
                              {"put, flush, message", put_send, put_wait, 0, 0},
                              perf_raw};
    enum { WAYS = sizeof ways / sizeof *ways };
    struct perf_times times[WAYS];
    int there = p.other != NULL ? WAYS : WAYS - 1; /* no raw ring without common memory */
    perf_latency(&p, ways, there, bytes, times);
    double raw = there == WAYS ? times[WAYS - 1].median_ns : 0;
    for (int i = 0; i < there; i++) perf_row(&p, ways[i].name, bytes, &times[i], raw);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    perf_close(&p);
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
