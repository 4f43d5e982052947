/* Notified put and epochs beside what an MPI offers: mpiexec -n 2 perf_mpi TRANSPORTS BYTES N [SET]
 *
 * Built by the mpicc of an MPI. SET names methods of the MPI: messages (send and receive), puts
 * (put, flush, then a message without bytes) or epochs (fence; post, start, complete, wait). They
 * are separate sets, because some of them fail. All methods of a run take turns in blocks. Prints
 * rows as JSON; for each one-sided method also how many of CHECKS hand-overs came without their
 * bytes.
 */
#include "flyloom_mpi.h"

#include <stdio.h>
#include <string.h>

#include "perf.h"

enum { CHECKS = 1000, METHODS_MOST = 5 };

/* One window stays locked, one is used between fences, one for post and start. */
enum { LOCKED, FENCED, POSTED, WINDOWS };

static MPI_Win windows[WINDOWS];
static unsigned char *exposed[WINDOWS];
static unsigned char buffer[1 << 22];
static MPI_Group partner;

static void message_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    MPI_Send(buffer, (int)bytes, MPI_BYTE, 1 - p->rank, 7, MPI_COMM_WORLD);
}

static void message_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, 1 - p->rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put_into(struct perf *p, size_t bytes, int w) {
    MPI_Put(buffer, (int)bytes, MPI_BYTE, 1 - p->rank, 0, (int)bytes, MPI_BYTE, windows[w]);
}

/* Put, flush, then a message without bytes: how one-sided MPI hands over data. */
static void put_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    put_into(p, bytes, LOCKED);
    MPI_Win_flush(1 - p->rank, windows[LOCKED]);
    MPI_Send(NULL, 0, MPI_BYTE, 1 - p->rank, 8, MPI_COMM_WORLD);
}

static void put_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    (void)bytes;
    MPI_Recv(NULL, 0, MPI_BYTE, 1 - p->rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void fence_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    put_into(p, bytes, FENCED);
    MPI_Win_fence(0, windows[FENCED]);
}

static void fence_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)p;
    (void)n;
    (void)bytes;
    MPI_Win_fence(0, windows[FENCED]);
}

static void pscw_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    MPI_Win_start(partner, 0, windows[POSTED]);
    put_into(p, bytes, POSTED);
    MPI_Win_complete(windows[POSTED]);
}

static void pscw_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)p;
    (void)n;
    (void)bytes;
    MPI_Win_post(partner, 0, windows[POSTED]);
    MPI_Win_wait(windows[POSTED]);
}

static void our_put(struct perf *p, size_t bytes) {
    CHECKED(fly_put(p->win, buffer, bytes, 1 - p->rank, PERF_DATA));
}

static void our_fence_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    our_put(p, bytes);
    CHECKED(fly_fence(p->win));
}

static void our_fence_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    (void)bytes;
    CHECKED(fly_fence(p->win));
}

static void our_pscw_send(struct perf *p, uint64_t n, size_t bytes) {
    int other = 1 - p->rank;
    (void)n;
    CHECKED(fly_win_start(p->win, 1, &other));
    our_put(p, bytes);
    CHECKED(fly_win_complete(p->win));
}

static void our_pscw_wait(struct perf *p, uint64_t n, size_t bytes) {
    int other = 1 - p->rank;
    (void)n;
    (void)bytes;
    CHECKED(fly_win_post(p->win, 1, &other));
    CHECKED(fly_win_wait(p->win));
}

/* A method, and where its bytes are when they have come; NULL: they are not checked. */
struct chosen {
    struct perf_method method;
    const unsigned char *lands;
    MPI_Win window; /* to be synchronised before the check, or MPI_WIN_NULL */
};

static void expose(int w) {
    MPI_Win_allocate((MPI_Aint)sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed[w],
                     &windows[w]);
}

/* Opens what a set needs; returns how many methods it has, or 0. */
static int choose(struct perf *p, const char *set, struct chosen *chosen) {
    const unsigned char *own = p->base + PERF_DATA;
    int count = 1;
    chosen[0] = (struct chosen){perf_notified, NULL, MPI_WIN_NULL};
    if (strcmp(set, "messages") == 0) {
        chosen[count++] = (struct chosen){
            {"send and receive", message_send, message_wait, 0, 0}, NULL, MPI_WIN_NULL};
    } else if (strcmp(set, "puts") == 0) {
        expose(LOCKED);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, windows[LOCKED]);
        chosen[count++] = (struct chosen){{"put, flush, message", put_send, put_wait, 0, 0},
                                          exposed[LOCKED], windows[LOCKED]};
    } else if (strcmp(set, "epochs") == 0) {
        int other = 1 - p->rank;
        MPI_Group world;
        expose(FENCED);
        expose(POSTED);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &other, &partner);
        MPI_Group_free(&world);
        MPI_Win_fence(0, windows[FENCED]);
        count = 0;
        chosen[count++] =
            (struct chosen){{"fence", our_fence_send, our_fence_wait, 0, 0}, own, MPI_WIN_NULL};
        chosen[count++] = (struct chosen){{"MPI fence", fence_send, fence_wait, 0, 0},
                                          exposed[FENCED], MPI_WIN_NULL};
        chosen[count++] =
            (struct chosen){{"PSCW", our_pscw_send, our_pscw_wait, 0, 0}, own, MPI_WIN_NULL};
        chosen[count++] = (struct chosen){{"MPI PSCW", pscw_send, pscw_wait, 0, 0},
                                          exposed[POSTED], MPI_WIN_NULL};
    } else {
        return 0;
    }
    if (p->raw != NULL) chosen[count++] = (struct chosen){*p->raw, NULL, MPI_WIN_NULL};
    return count;
}

static void let_go(const char *set) {
    if (strcmp(set, "puts") == 0) {
        MPI_Win_unlock_all(windows[LOCKED]);
        MPI_Win_free(&windows[LOCKED]);
    }
    if (strcmp(set, "epochs") == 0) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, windows[FENCED]);
        MPI_Win_free(&windows[FENCED]);
        MPI_Win_free(&windows[POSTED]);
        MPI_Group_free(&partner);
    }
}

/* Hands over one number after another and checks each; prints how many were not there. */
static void check(struct perf *p, struct chosen *one) {
    unsigned long mine = 0, all = 0;
    for (uint64_t n = 1; n <= CHECKS; n++) {
        uint64_t number = n << 32 | n, came;
        memcpy(buffer, &number, sizeof number);
        if (p->rank == 0) one->method.send(p, n, sizeof number);
        one->method.wait(p, n, sizeof number);
        if (one->window != MPI_WIN_NULL) MPI_Win_sync(one->window);
        memcpy(&came, one->lands, sizeof came);
        mine += came != number;
        if (p->rank == 1) one->method.send(p, n, sizeof number);
    }
    MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (p->rank == 0)
        printf(",\n {\"what\": \"lost: %s\", \"of\": %d, \"count\": %lu}", one->method.name,
               2 * CHECKS, all);
}

static void measure(struct perf *p, const char *set, struct chosen *chosen, int count,
                    size_t bytes) {
    struct perf_method methods[METHODS_MOST];
    struct perf_times times[METHODS_MOST];
    double raw = 0;
    for (int i = 0; i < count; i++) methods[i] = chosen[i].method;
    perf_latency(p, methods, count, bytes, times);
    if (p->raw != NULL) raw = times[count - 1].median_ns;
    for (int i = 0; i < count; i++) perf_row(p, methods[i].name, bytes, &times[i], raw);
    for (int i = 0; i < count; i++)
        if (chosen[i].lands != NULL && bytes >= sizeof(uint64_t)) check(p, &chosen[i]);
    let_go(set);
}

int main(int count, char **words) {
    fly_boot boot;
    struct chosen chosen[METHODS_MOST];
    MPI_Init(&count, &words);
    size_t bytes = count > 3 ? strtoul(words[2], NULL, 10) : 8;
    const char *set = count > 4 ? words[4] : "messages";
    struct perf p = {.json = true, .bytes_most = bytes};
    p.repetitions = count > 3 ? strtoull(words[3], NULL, 10) : 10000;
    if (bytes > sizeof buffer || fly_mpi_boot(MPI_COMM_WORLD, &boot) != FLY_OK) return 2;
    perf_apart(boot.rank);
    if (perf_open(&boot, count > 1 ? words[1] : "shm", &p) != FLY_OK) {
        fprintf(stderr, "perf_mpi: %s\n", fly_last_error(NULL));
        return 2;
    }
    if (p.raw == NULL) p.raw = perf_sockets(&p);
    int methods = choose(&p, set, chosen);
    if (methods == 0) {
        fprintf(stderr, "perf_mpi: \"%s\" must be messages, puts or epochs\n", set);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    measure(&p, set, chosen, methods, bytes);
    perf_close(&p);
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
