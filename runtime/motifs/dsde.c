/* Dynamic sparse data exchange: items for random ranks, which do not know who will send to them.
 *
 *   mpiexec -n P dsde [NEIGHBOURS [BYTES [ROUNDS]]]
 *
 * In each round a rank has an item for each of 6 other ranks, drawn anew (for all others where they
 * are fewer). The notified method gets a place by fetch and add and writes the item there by a
 * notified put; after a fence the counter says how many notifications there are to take. Counters
 * and places are double buffers, so that those of a round are free again when the next one ends.
 * Three methods of MPI are measured beside it: MPI_Alltoall of who sends to whom, and
 * MPI_Reduce_scatter_block of how many items come, each followed by messages, and NBX: synchronous
 * sends, and a non-blocking barrier that a rank enters when its own sends have been received.
 * The check: all draws are repeated, and each item is found once where it belongs.
 * Source: T. Hoefler, C. Siebert, A. Lumsdaine, Scalable communication protocols for dynamic sparse
 * data exchange, PPoPP 2010 (the problem, and the three methods of MPI).
 */
#include "motif.h"

struct exchange {
    struct motif *m;
    int items, bytes, round;
    int *all, *targets;       /* ranks to draw from; those drawn */
    unsigned char *mine;      /* the items to send, one behind the other */
    unsigned char *come;      /* the items received, in any order */
    int count;                /* how many items were received */
    int *flags, *from;        /* for MPI's methods: whether to send to each rank; who sends */
    MPI_Request *pending;
    MPI_Status *found;
    fly_win *win;             /* two counters, then two buffers with a place for each rank */
    uint64_t *words, *places;
    fly_req *req[2];
};

struct method {
    const char *name;
    void (*exchange)(struct exchange *e);
};

/* splitmix64 */
static uint64_t mixed(uint64_t z) {
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Draws the receivers of a rank: the first `items` of a random order of the others. */
static void draw(struct exchange *e, int rank, int *targets) {
    int size = e->m->size, n = 0;
    for (int i = 0; i < size; i++)
        if (i != rank || size == 1) e->all[n++] = i;
    for (int i = 0; i < e->items; i++) {
        uint64_t key = ((uint64_t)e->round * (uint64_t)size + (uint64_t)rank) * 64 + (uint64_t)i;
        int at = i + (int)(mixed(key) % (uint64_t)(n - i));
        targets[i] = e->all[at];
        e->all[at] = e->all[i];
    }
}

/* Word j of the item that source sends target in a round. */
static uint64_t word_of(const struct exchange *e, int source, int target, int j) {
    uint64_t size = (uint64_t)e->m->size, pair = (uint64_t)source * size + (uint64_t)target;
    return j == 0 ? (uint64_t)source : mixed(((uint64_t)e->round * size * size + pair) << 20) +
                                           (uint64_t)j;
}

static void fill(struct exchange *e) {
    draw(e, e->m->rank, e->targets);
    for (int i = 0; i < e->items; i++)
        for (int j = 0; j * 8 < e->bytes; j++) {
            uint64_t word = word_of(e, e->m->rank, e->targets[i], j);
            memcpy(e->mine + (size_t)i * (size_t)e->bytes + (size_t)j * 8, &word, 8);
        }
}

static unsigned char *item(const struct exchange *e, unsigned char *items, int i) {
    return items + (size_t)i * (size_t)e->bytes;
}

static uint64_t first_place(const struct exchange *e, int half) {
    return 2 + (uint64_t)half * (uint64_t)e->m->size * (uint64_t)e->bytes / 8;
}

static void notified(struct exchange *e) {
    int half = e->round % 2;
    uint64_t words = (uint64_t)e->bytes / 8, first = first_place(e, half);
    for (int i = 0; i < e->items; i++)
        DO(fly_fetch_add(e->win, &e->places[i], 1, e->targets[i], (uint64_t)half, FLY_NO_TAG));
    DO(fly_flush_local(e->win, FLY_ALL));
    for (int i = 0; i < e->items; i++)
        DO(fly_put_notify(e->win, item(e, e->mine, i), (size_t)e->bytes, e->targets[i],
                          first + e->places[i] * words, half));
    DO(fly_fence(e->win));
    e->count = (int)e->words[half];
    e->words[half] = 0; /* nobody adds to it before the next fence */
    for (int i = 0; i < e->count; i++) {
        DO(fly_wait(e->req[half], NULL));
        DO(fly_start(e->req[half]));
    }
    e->come = (unsigned char *)(e->words + first);
}

static void flag(struct exchange *e) {
    memset(e->flags, 0, (size_t)e->m->size * sizeof *e->flags);
    for (int i = 0; i < e->items; i++) e->flags[e->targets[i]] = 1;
}

static void by_alltoall(struct exchange *e) {
    int tag = e->round % 2, n = 0;
    flag(e);
    MPI_Alltoall(e->flags, 1, MPI_INT, e->from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int rank = 0; rank < e->m->size; rank++)
        if (e->from[rank]) {
            MPI_Irecv(item(e, e->come, n), e->bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
                      &e->pending[n]);
            n++;
        }
    e->count = n;
    for (int i = 0; i < e->items; i++)
        MPI_Isend(item(e, e->mine, i), e->bytes, MPI_BYTE, e->targets[i], tag, MPI_COMM_WORLD,
                  &e->pending[n++]);
    MPI_Waitall(n, e->pending, e->found);
}

static void by_reduce_scatter(struct exchange *e) {
    int tag = e->round % 2;
    flag(e);
    MPI_Reduce_scatter_block(e->flags, &e->count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < e->items; i++)
        MPI_Isend(item(e, e->mine, i), e->bytes, MPI_BYTE, e->targets[i], tag, MPI_COMM_WORLD,
                  &e->pending[i]);
    for (int i = 0; i < e->count; i++)
        MPI_Recv(item(e, e->come, i), e->bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Waitall(e->items, e->pending, e->found);
}

static void by_nbx(struct exchange *e) {
    int tag = e->round % 2, entered = 0, done = 0, flag;
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Status status;
    e->count = 0;
    for (int i = 0; i < e->items; i++)
        MPI_Issend(item(e, e->mine, i), e->bytes, MPI_BYTE, e->targets[i], tag, MPI_COMM_WORLD,
                   &e->pending[i]);
    while (!done) {
        MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &status);
        if (flag)
            MPI_Recv(item(e, e->come, e->count++), e->bytes, MPI_BYTE, status.MPI_SOURCE, tag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (entered) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(e->items, e->pending, &flag, e->found);
            if (flag) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
            entered = flag;
        }
    }
}

/* Whether the items received are those that the draws of all ranks send to this rank. */
static int right(struct exchange *e, int *targets) {
    int wanted = 0, size = e->m->size;
    memset(e->flags, 0, (size_t)size * sizeof *e->flags);
    for (int source = 0; source < size; source++) {
        draw(e, source, targets);
        for (int i = 0; i < e->items; i++)
            if (targets[i] == e->m->rank) {
                e->flags[source] = 1;
                wanted++;
            }
    }
    if (e->count != wanted) return 0;
    for (int i = 0; i < e->count; i++) {
        uint64_t word, source = 0;
        for (int j = 0; j * 8 < e->bytes; j++) {
            memcpy(&word, item(e, e->come, i) + (size_t)j * 8, 8);
            if (j == 0) source = word;
            if (source >= (uint64_t)size || word != word_of(e, (int)source, e->m->rank, j))
                return 0;
        }
        if (e->flags[source]-- != 1) return 0;
    }
    return 1;
}

/* Runs all methods in turn, so that other load on the machine disturbs each of them alike. */
static void run(struct exchange *e, const struct method *methods, int count, unsigned char *come,
                int rounds) {
    int warm = rounds / 10 + 1, *targets = (int *)motif_memory((size_t)e->items, sizeof(int));
    double *took = (double *)motif_memory((size_t)count * (size_t)rounds, sizeof *took);
    for (e->round = 0; e->round < warm + rounds; e->round++)
        for (int k = 0; k < count; k++) {
            e->come = come;
            fill(e);
            MPI_Barrier(MPI_COMM_WORLD);
            double began = MPI_Wtime();
            methods[k].exchange(e);
            double seconds = MPI_Wtime() - began;
            if (e->round >= warm)
                took[(size_t)k * (size_t)rounds + (size_t)(e->round - warm)] = seconds;
            if (right(e, targets)) continue;
            fprintf(stderr, "dsde %s: rank %d, round %d: %d items, not those sent to it\n",
                    methods[k].name, e->m->rank, e->round, e->count);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    for (int k = 0; k < count; k++) {
        double median = motif_median(took + (size_t)k * (size_t)rounds, rounds);
        if (e->m->rank == 0)
            printf("dsde %s: %d ranks, %d items each of %d bytes, all once, %.2f us\n",
                   methods[k].name, e->m->size, e->items, e->bytes, median * 1e6);
    }
    free(targets);
    free(took);
}

static void prepare(struct exchange *e) {
    size_t size = (size_t)e->m->size, bytes = (size_t)e->bytes;
    void *base;
    e->all = (int *)motif_memory(size, sizeof(int));
    e->targets = (int *)motif_memory(size, sizeof(int));
    e->flags = (int *)motif_memory(size, sizeof(int));
    e->from = (int *)motif_memory(size, sizeof(int));
    e->places = (uint64_t *)motif_memory(size, sizeof(uint64_t));
    e->mine = (unsigned char *)motif_memory(size, bytes);
    e->pending = (MPI_Request *)motif_memory(2 * size, sizeof *e->pending);
    e->found = (MPI_Status *)motif_memory(2 * size, sizeof *e->found);
    DO(fly_win_allocate(fly_world(e->m->rt), 16 + 2 * size * bytes, 8, 0, &base, &e->win));
    e->words = (uint64_t *)base;
    motif_listen(e->win, 1, e->req);
}

static void forget(struct exchange *e) {
    motif_listen_no_more(e->req);
    DO(fly_win_free(&e->win));
    free(e->all);
    free(e->targets);
    free(e->flags);
    free(e->from);
    free(e->places);
    free(e->mine);
    free(e->pending);
    free(e->found);
}

int main(int count, char **words) {
    static const struct method METHODS[] = {{"notified", notified},
                                      {"by alltoall", by_alltoall},
                                      {"by reduce-scatter", by_reduce_scatter},
                                      {"by NBX", by_nbx}};
    struct motif m;
    struct exchange exchange = {.m = &m}, *e = &exchange;
    motif_open(&m, &count, &words);
    int most = m.size > 1 ? m.size - 1 : 1;
    e->items = motif_number(count, words, 1, 6, 1);
    e->bytes = motif_number(count, words, 2, 8, 8);
    int rounds = motif_number(count, words, 3, 2000, 1);
    if (e->items > most) e->items = most;
    if (e->bytes % 8 != 0 || e->items > 64) {
        fprintf(stderr, "dsde: %d bytes must be a multiple of 8, and %d neighbours at most 64\n",
                e->bytes, e->items);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    prepare(e);
    unsigned char *come = (unsigned char *)motif_memory((size_t)m.size, (size_t)e->bytes);
    run(e, METHODS, motif_recorded() ? 1 : (int)(sizeof METHODS / sizeof *METHODS), come, rounds);
    free(come);
    forget(e);
    motif_close(&m);
    return 0;
}
