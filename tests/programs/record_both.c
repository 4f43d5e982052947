/* Programs with messages of MPI and with libflyloom, which test_record_both.py records: PATTERN
 * ROUNDS BYTES PUT_BYTES. The runtime's ranks are those of MPI in reverse.
 *
 * ring   each rank sends BYTES to the next one of MPI, and puts PUT_BYTES to the one before
 * turns  rank 0 sends BYTES to rank 1, which answers by a put; each computes 1 ms before
 * all    calls of libflyloom of each kind
 */
#include <flyloom_mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 5, MOST = 1 << 16 };

struct program {
    int rank, size; /* of MPI_COMM_WORLD */
    int bytes, put_bytes;
    fly_team *team;
    fly_win *win;
    char *data;
};

static char out[MOST], in[MOST];

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s\n", call, fly_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define DO(call) check(#call, call)

/* The rank of the runtime that a rank of MPI has. */
static int reversed(const struct program *p, int rank) { return p->size - 1 - rank; }

static void put(struct program *p, int rank) {
    DO(fly_put_notify(p->win, p->data, (size_t)p->put_bytes, reversed(p, rank), 0, TAG));
}

static void take(struct program *p, int rank) {
    fly_req *req;
    DO(fly_notify_init(p->win, reversed(p, rank), TAG, 1, &req));
    DO(fly_start(req));
    DO(fly_wait(req, NULL));
    DO(fly_req_free(&req));
}

static void ring(struct program *p) {
    int next = (p->rank + 1) % p->size, before = (p->rank + p->size - 1) % p->size;
    MPI_Sendrecv(out, p->bytes, MPI_BYTE, next, TAG, in, p->bytes, MPI_BYTE, before, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    put(p, before);
    take(p, next);
}

static void compute(void) {
    for (double until = MPI_Wtime() + 1e-3; MPI_Wtime() < until;) {}
}

static void turns(struct program *p) {
    if (p->rank == 0) {
        compute();
        MPI_Send(out, p->bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        take(p, 1);
    } else {
        MPI_Recv(in, p->bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute();
        put(p, 0);
    }
}

static void all(struct program *p) {
    const fly_fold sum = {.type = FLY_INT32, .op = FLY_SUM};
    int to = reversed(p, (p->rank + 1) % p->size);
    int from = reversed(p, (p->rank + p->size - 1) % p->size);
    int mine[4] = {1, 2, 3, 4}, summed[4], flag = 0;
    uint64_t old;
    fly_req *req, *began;
    DO(fly_put(p->win, p->data, (size_t)p->put_bytes, to, 0));
    DO(fly_flush(p->win, to));
    DO(fly_iallreduce(p->team, mine, summed, 4, &sum, &began));
    DO(fly_rget(p->win, p->data, 64, to, 64, FLY_NO_TAG, &req));
    DO(fly_wait(req, NULL));
    DO(fly_req_free(&req));
    put(p, reversed(p, to));
    DO(fly_fetch_add(p->win, &old, 1, to, 1024, FLY_NO_TAG));
    DO(fly_flush_local(p->win, FLY_ALL));
    take(p, reversed(p, from));
    while (!flag) DO(fly_test(began, &flag, NULL));
    DO(fly_fence(p->win));
    DO(fly_win_post(p->win, 1, &from));
    DO(fly_win_start(p->win, 1, &to));
    DO(fly_put(p->win, p->data, (size_t)p->put_bytes, to, 0));
    DO(fly_win_complete(p->win));
    DO(fly_win_wait(p->win));
    DO(fly_lock(p->win, FLY_SHARED, to));
    DO(fly_unlock(p->win, to));
    DO(fly_barrier(p->team));
}

int main(int count, char **words) {
    struct program p = {.bytes = count > 3 ? atoi(words[3]) : 8,
                        .put_bytes = count > 4 ? atoi(words[4]) : 8};
    const char *name = count > 1 ? words[1] : "";
    void (*run)(struct program *) = strcmp(name, "ring") == 0    ? ring
                                    : strcmp(name, "turns") == 0 ? turns
                                                                 : all;
    fly_boot boot;
    fly_rt *rt;
    void *base;
    MPI_Comm back;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -p.rank, &back);
    DO(fly_mpi_boot(back, &boot));
    DO(fly_init(&boot, NULL, &rt));
    p.team = fly_world(rt);
    DO(fly_win_allocate(p.team, MOST, 8, 0, &base, &p.win));
    p.data = calloc(1, MOST);
    for (int round = 0; round < (count > 2 ? atoi(words[2]) : 1); round++) run(&p);
    DO(fly_win_free(&p.win));
    DO(fly_finalize(&rt));
    fly_mpi_boot_free(&boot);
    MPI_Comm_free(&back);
    free(p.data);
    MPI_Finalize();
    return 0;
}
