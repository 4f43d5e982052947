/* Sends by every call of MPI that sends, a scenario by its name: what test_record.py records. */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define W MPI_COMM_WORLD
#define NO MPI_STATUS_IGNORE
#define BYTE MPI_BYTE

static int me, all;
static char out[1 << 22], in[1 << 22];

static int after(int step) { return ((me + step) % all + all) % all; }

static void get(int from, MPI_Comm comm) { MPI_Recv(in, sizeof in, BYTE, from, 7, comm, NO); }

static void ring(void) {
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(out, 10 + me, BYTE, after(1), 7, in, 1000, BYTE, after(-1), 7, W, NO);
}

/* Each kind of send is a digit to the base 64. */
static void kinds(void) {
    MPI_Request r;
    int room = 1 << 20;
    char *buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    int to = after(1), from = after(-1);
    MPI_Irecv(in, sizeof in, BYTE, from, 7, W, &r);
    if (me == 0) MPI_Send(out, 1, BYTE, to, 7, W);
    MPI_Wait(&r, NO);
    if (me != 0) MPI_Send(out, 1, BYTE, to, 7, W);
    MPI_Bsend(out, 64, BYTE, to, 7, W);
    get(from, W);
    MPI_Issend(out, 2 * 64, BYTE, to, 7, W, &r);
    get(from, W);
    MPI_Wait(&r, NO);
    MPI_Isend(out, 64 * 64, BYTE, to, 7, W, &r);
    get(from, W);
    MPI_Wait(&r, NO);
    MPI_Ibsend(out, 3 * 64 * 64, BYTE, to, 7, W, &r);
    get(from, W);
    MPI_Wait(&r, NO);
    MPI_Request arrived;
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(in, sizeof in, BYTE, from, 7, W, &arrived);
        MPI_Barrier(W);
        if (i == 0) MPI_Rsend(out, 64 * 64 * 64, BYTE, to, 7, W);
        if (i == 1) {
            MPI_Irsend(out, 2 * 64 * 64 * 64, BYTE, to, 7, W, &r);
            MPI_Wait(&r, NO);
        }
        MPI_Wait(&arrived, NO);
    }
    MPI_Irecv(in, sizeof in, BYTE, from, 7, W, &r);
    MPI_Ssend(out, 5, BYTE, to, 7, W);
    MPI_Wait(&r, NO);
    MPI_Buffer_detach(&buffer, &room);
    MPI_Datatype column;
    MPI_Type_vector(5, 2, 9, MPI_DOUBLE, &column); /* 80 bytes */
    MPI_Type_commit(&column);
    MPI_Sendrecv(out, 3, column, to, 7, in, 3, column, from, 7, W, NO);
    MPI_Type_free(&column);
}

static void halo(void) {
    int size[2] = {0, 0}, is_round[2] = {0, 1}, step[4], n = 0;
    MPI_Comm grid;
    MPI_Request r[8];
    MPI_Dims_create(all, 2, size);
    MPI_Cart_create(W, 2, size, is_round, 1, &grid);
    for (int d = 0; d < 2; d++) MPI_Cart_shift(grid, d, 1, &step[2 * d], &step[2 * d + 1]);
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(in + 1000 * i, 1000, BYTE, step[i], i, grid, &r[n++]);
        MPI_Isend(out, i < 2 ? 100 : 7, BYTE, step[i], i ^ 1, grid, &r[n++]);
    }
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    MPI_Neighbor_alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, grid);
    MPI_Comm_free(&grid);
}

static void persistent(void) {
    MPI_Request r[3];
    MPI_Send_init(out, 11, BYTE, after(1), 7, W, &r[0]);
    MPI_Ssend_init(out, 13, BYTE, after(2), 8, W, &r[1]);
    MPI_Recv_init(in, 1000, BYTE, after(-1), 7, W, &r[2]);
    MPI_Request idle;
    MPI_Send_init(out, 1000, BYTE, after(1), 9, W, &idle);
    for (int i = 0; i < 4; i++) {
        MPI_Start(&r[2]);
        MPI_Start(&r[0]);
        MPI_Wait(&r[0], NO);
        MPI_Wait(&r[2], NO);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Request arrived;
        MPI_Irecv(in + 5000, 1000, BYTE, after(-2), 8, W, &arrived);
        MPI_Startall(3, r);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        MPI_Wait(&arrived, NO);
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&r[i]);
    MPI_Request_free(&idle);
    for (int i = 0; i < 100; i++) { /* handles come back: none may be taken for an old one */
        MPI_Request it;
        MPI_Recv_init(in, 1000, BYTE, after(-1), 7, W, &it);
        MPI_Start(&it);
        MPI_Send(out, 1, BYTE, after(1), 7, W);
        MPI_Wait(&it, NO);
        MPI_Request_free(&it);
    }
}

/* Rings in halves whose ranks run backwards, and in a duplicate of them. */
static void split(void) {
    MPI_Comm half, twin;
    MPI_Comm_split(W, me % 2, -me, &half);
    MPI_Comm_dup(half, &twin);
    int rank, size;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm = i ? twin : half;
        MPI_Sendrecv(out, i ? 1000 : 1, BYTE, (rank + 1) % size, 7, in, 1000, BYTE,
                     (rank + size - 1) % size, 7, comm, NO);
    }
    MPI_Comm_free(&half);
    MPI_Sendrecv(out, 1000, BYTE, (rank + 1) % size, 7, in, 1000, BYTE, (rank + size - 1) % size,
                 7, twin, NO);
    MPI_Comm_free(&twin);
}

/* Communicators come and go, forwards and backwards: a stale table would show. */
static void come_and_go(int rounds) {
    for (int i = 0; i < rounds; i++) {
        MPI_Comm comm, twin;
        int rank;
        MPI_Comm_split(W, 0, i % 2 ? -me : me, &comm);
        MPI_Comm_dup(comm, &twin);
        MPI_Comm_rank(comm, &rank);
        MPI_Sendrecv(out, 1, BYTE, (rank + 1) % all, 7, in, 9, BYTE, (rank + all - 1) % all, 7,
                     i % 3 ? comm : twin, NO);
        MPI_Comm_free(&comm);
        MPI_Comm_free(&twin);
    }
}

/* The least that 100 rounds add: MPI's own pools grow at times, what leaks grows each time. */
static void loop(void) {
    come_and_go(100);
    size_t least = SIZE_MAX;
    for (int i = 0; i < 3; i++) {
        size_t before = mallinfo2().uordblks;
        come_and_go(100);
        size_t now = mallinfo2().uordblks;
        size_t grown = now > before ? now - before : 0;
        least = grown < least ? grown : least;
    }
    if (me == 0) printf("grown %zu\n", least);
}

static void replace(void) {
    MPI_Sendrecv_replace(out, 21, BYTE, after(1), 7, after(-1), 7, W, NO);
    MPI_Sendrecv_replace(out, 5, BYTE, MPI_PROC_NULL, 7, MPI_PROC_NULL, 7, W, NO);
}

/* Each call is a digit to the base 64. */
static void windows(void) {
    char *base;
    MPI_Win win;
    MPI_Request r;
    MPI_Comm back;
    MPI_Comm_split(W, 0, -me, &back);
    MPI_Win_allocate(1 << 21, 1, MPI_INFO_NULL, back, &base, &win);
    int rank;
    MPI_Comm_rank(back, &rank);
    int to = (rank + 1) % all, more = (rank + 2) % all;
    memset(out, 0, 64);
    MPI_Win_lock_all(0, win);
    MPI_Put(out, 1, BYTE, to, 0, 1, BYTE, win);
    MPI_Get(in, 2, BYTE, more, 0, 2, BYTE, win);
    MPI_Accumulate(out, 64, BYTE, to, 0, 64, BYTE, MPI_BOR, win);
    MPI_Get_accumulate(out, 128, BYTE, in, 192, BYTE, more, 0, 192, BYTE, MPI_NO_OP, win);
    MPI_Win_flush_all(win);
    MPI_Rput(out, 64 * 64, BYTE, to, 0, 64 * 64, BYTE, win, &r);
    MPI_Wait(&r, NO);
    MPI_Rget(in, 3 * 64 * 64, BYTE, more, 0, 3 * 64 * 64, BYTE, win, &r);
    MPI_Wait(&r, NO);
    MPI_Raccumulate(out, 64 * 64 * 64, BYTE, to, 0, 64 * 64 * 64, BYTE, MPI_BOR, win, &r);
    MPI_Wait(&r, NO);
    MPI_Fetch_and_op(out, in, MPI_INT64_T, to, 0, MPI_SUM, win);
    MPI_Put(out, 9, BYTE, MPI_PROC_NULL, 0, 9, BYTE, win);
    MPI_Win_flush_all(win);
    MPI_Compare_and_swap(out, out + 8, in, MPI_INT64_T, to, 0, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&back);
}

/* To rank + 1, and from even ones to rank + 3: blocks of 5, then of 100 and 200, then of 1000. */
static void neighbours(void) {
    int degree = me % 2 ? 1 : 2, to[2] = {after(1), after(3)}, from[2] = {after(-1), after(-3)};
    int in_degree = after(-3) % 2 ? 1 : 2;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(W, in_degree, from, MPI_UNWEIGHTED, degree, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoall(out, 5, BYTE, in, 5, BYTE, graph);
    int counts[2] = {100, 200}, places[2] = {0, 1000};
    int rooms[2] = {100, 200};
    MPI_Neighbor_alltoallv(out, counts, places, BYTE, in, rooms, places, BYTE, graph);
    MPI_Request r;
    MPI_Ineighbor_allgather(out, 1000, BYTE, in, 1000, BYTE, graph, &r);
    MPI_Wait(&r, NO);
    MPI_Comm_free(&graph);
}

/* Two halves that talk to one another: rank i of the lower to rank 0 of the upper, and a root. */
static void between(void) {
    int is_low = me < 2, rank;
    MPI_Comm half, both;
    MPI_Comm_split(W, is_low, -me, &half);
    MPI_Intercomm_create(half, 0, W, is_low ? all - 1 : 1, 5, &both);
    MPI_Comm_rank(half, &rank);
    if (is_low) MPI_Send(out, 10 + rank, BYTE, 0, 7, both);
    for (int i = 0; !is_low && rank == 0 && i < 2; i++) get(i, both);
    MPI_Bcast(out, 100, BYTE, is_low ? (rank == 1 ? MPI_ROOT : MPI_PROC_NULL) : 1, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void *talk(void *tag) {
    for (int i = 0; i < 100; i++)
        MPI_Sendrecv(out, 3, BYTE, after(1), *(int *)tag, in + 100 * *(int *)tag, 9, BYTE,
                     after(-1), *(int *)tag, W, NO);
    return NULL;
}

static void threads(void) {
    pthread_t thread[2];
    int tag[2] = {1, 2};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, talk, &tag[i]);
        for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    }
}

static void nobody(void) {
    MPI_Send(out, 9, BYTE, MPI_PROC_NULL, 7, W);
    MPI_Sendrecv(out, 9, BYTE, MPI_PROC_NULL, 7, in, 9, BYTE, MPI_PROC_NULL, 7, W, NO);
}

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*does)(void);
    } scenarios[] = {{"ring", ring},           {"kinds", kinds},     {"halo", halo},
                     {"persistent", persistent}, {"split", split},   {"loop", loop},
                     {"replace", replace},     {"windows", windows}, {"neighbours", neighbours},
                     {"between", between},     {"threads", threads}, {"nobody", nobody}};
    const char *name = argc > 1 ? argv[1] : "";
    int level = 0, is_left = argc > 2 && strcmp(argv[2], "left") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &all);
    if (level < MPI_THREAD_MULTIPLE && strcmp(name, "threads") == 0) MPI_Abort(W, 9);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strcmp(name, scenarios[i].name) == 0) scenarios[i].does();
    if (is_left) _exit(0);
    MPI_Finalize();
    return argc > 2 ? atoi(argv[2]) : 0;
}
