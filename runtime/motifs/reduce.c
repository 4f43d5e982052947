/* Tree reduction: adds up 8 bytes of every rank over a tree in which each has 16 children.
 *
 *   mpiexec -n P reduce [ROUNDS [mpi]]
 *
 * A rank waits for all its children by one request that counts, from any source; then it writes to
 * its parent. A round ends with a notification without bytes down the tree, which proves that the
 * values in the parent's memory have been read. The same tree by MPI_Send and MPI_Recv, and by
 * MPI_Put, a flush and a message, is measured beside it; and MPI_Reduce with a barrier.
 */
#include "motif.h"

enum { CHILDREN = 16, TAG_UP = 1, TAG_DOWN = 2 };

struct tree {
    struct motif *m;
    fly_win *win;
    int64_t *slots; /* one value from each child */
    fly_req *up, *down;
    struct motif_exposed exposed;
    int parent, first, count; /* children are first .. first + count - 1 */
};

static int64_t value_of(int rank, int round) { return (int64_t)(rank + 1) * (round + 3); }

/* The last value to arrive is inside its notification, which is at hand; reading it from memory
   would fetch the cache line from the child's processor. */
static int64_t of_children(const struct tree *t) {
    fly_status last;
    int64_t sum = 0, value;
    DO(fly_wait(t->up, &last));
    const void *inside = fly_inline(t->up, NULL);
    for (int i = 0; i < t->count; i++) {
        int at_hand = inside != NULL && last.source == t->first + i;
        memcpy(&value, at_hand ? inside : &t->slots[i], sizeof value);
        sum += value;
    }
    return sum;
}

static int64_t notified(struct tree *t, int round) {
    int64_t sum = value_of(t->m->rank, round);
    if (t->count > 0) {
        DO(fly_start(t->up));
        sum += of_children(t);
    }
    if (t->parent >= 0) {
        uint64_t place = (uint64_t)(t->m->rank - 1) % CHILDREN;
        DO(fly_start(t->down));
        DO(fly_put_notify(t->win, &sum, 8, t->parent, place, TAG_UP));
        DO(fly_wait(t->down, NULL));
    }
    for (int i = 0; i < t->count; i++)
        DO(fly_put_notify(t->win, NULL, 0, t->first + i, 0, TAG_DOWN));
    return sum;
}

static int64_t by_messages(struct tree *t, int round) {
    int64_t sum = value_of(t->m->rank, round), value;
    for (int i = 0; i < t->count; i++) {
        MPI_Recv(&value, 1, MPI_INT64_T, MPI_ANY_SOURCE, TAG_UP, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        sum += value;
    }
    if (t->parent >= 0) {
        MPI_Send(&sum, 1, MPI_INT64_T, t->parent, TAG_UP, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, t->parent, TAG_DOWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < t->count; i++)
        MPI_Send(NULL, 0, MPI_BYTE, t->first + i, TAG_DOWN, MPI_COMM_WORLD);
    return sum;
}

static int64_t by_puts(struct tree *t, int round) {
    int64_t sum = value_of(t->m->rank, round), value;
    for (int i = 0; i < t->count; i++) motif_take_over(&t->exposed, t->first + i, TAG_UP);
    for (int i = 0; i < t->count; i++) {
        memcpy(&value, t->exposed.base + (size_t)i * 8, sizeof value);
        sum += value;
    }
    if (t->parent >= 0) {
        size_t place = (size_t)(t->m->rank - 1) % CHILDREN * 8;
        motif_hand_over(&t->exposed, &sum, 8, t->parent, place, TAG_UP);
        MPI_Recv(NULL, 0, MPI_BYTE, t->parent, TAG_DOWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < t->count; i++)
        MPI_Send(NULL, 0, MPI_BYTE, t->first + i, TAG_DOWN, MPI_COMM_WORLD);
    return sum;
}

static int64_t by_collective(struct tree *t, int round) {
    int64_t mine = value_of(t->m->rank, round), sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return sum;
}

static void run(struct tree *t, const char *how, int64_t (*reduce)(struct tree *, int),
                int rounds) {
    int64_t size = t->m->size;
    reduce(t, 0); /* warms up */
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        int64_t sum = reduce(t, round);
        if (t->m->rank == 0 && sum != size * (size + 1) / 2 * (round + 3)) {
            fprintf(stderr, "reduce %s: round %d: %lld\n", how, round, (long long)sum);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    if (t->m->rank == 0)
        printf("reduce %s: %d ranks, sums right, %.2f us\n", how, t->m->size,
               (MPI_Wtime() - began) / rounds * 1e6);
}

int main(int count, char **words) {
    struct motif m;
    struct tree tree = {.m = &m}, *t = &tree;
    void *base;
    motif_open(&m, &count, &words);
    int rounds = motif_number(count, words, 1, 10000, 1);
    t->parent = m.rank == 0 ? -1 : (m.rank - 1) / CHILDREN;
    t->first = m.rank * CHILDREN + 1;
    t->count = m.size - t->first;
    if (t->count < 0) t->count = 0;
    if (t->count > CHILDREN) t->count = CHILDREN;
    DO(fly_win_allocate(fly_world(m.rt), CHILDREN * 8, 8, 0, &base, &t->win));
    t->slots = (int64_t *)base;
    DO(fly_notify_init(t->win, FLY_ANY_SOURCE, TAG_UP, (uint64_t)t->count, &t->up));
    DO(fly_notify_init(t->win, t->parent < 0 ? FLY_PROC_NULL : t->parent, TAG_DOWN, 1, &t->down));
    run(t, "notified", notified, rounds);
    if (!motif_recorded()) {
        run(t, "by messages", by_messages, rounds);
        run(t, "by MPI_Reduce", by_collective, rounds);
    }
    if (motif_puts(count, words, 2)) {
        motif_expose(&t->exposed, CHILDREN * 8);
        run(t, "by MPI's puts", by_puts, rounds);
        motif_unexpose(&t->exposed);
    }
    DO(fly_req_free(&t->up));
    DO(fly_req_free(&t->down));
    DO(fly_win_free(&t->win));
    motif_close(&m);
    return 0;
}
