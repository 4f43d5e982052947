/* Distributed hash table: every rank puts random 64-bit keys into tables that all share.
 *
 *   mpiexec -n P hash [KEYS A RANK [mpi]]
 *
 * A key goes into the slot of its hash by one compare and swap. Where the slot is taken, the key
 * gets a place of the overflow heap by fetch and add, and is linked in front of the list. Messages
 * are measured beside it: a key goes to its owner, who inserts the keys that have arrived between
 * its own. With "mpi" the same steps run by MPI's one-sided calls, too; Open MPI 4.1.4 needs
 * OMPI_MCA_btl_vader_single_copy_mechanism=none for them where processes may not read one another.
 * The check: the keys found in all tables are those put in, each as often (count, sum and exclusive
 * or over all ranks).
 */
#include "motif.h"

#include <string.h>

/* The words of a rank's memory: first the heap's counter; then, for each slot and each place of the
   heap, a key and the number of the next place plus one. */
enum { COUNTER = 0, FIRST = 1, TAG_KEY = 1 };

struct table {
    struct motif *m;
    int keys, slots; /* of each rank */
    fly_win *win;
    uint64_t *words;
    MPI_Win window;
    uint64_t *exposed;
    uint64_t *own; /* the table of the method by messages: only this rank writes it */
    int ended;     /* how many ranks have sent all their keys */
};

/* The steps in which the methods differ. */
struct method {
    const char *name;
    uint64_t (*swap)(struct table *, int rank, uint64_t at, uint64_t expect, uint64_t desired);
    uint64_t (*add)(struct table *, int rank, uint64_t at, uint64_t add);
    void (*put)(struct table *, int rank, uint64_t at, uint64_t value);
    void (*insert)(struct table *, const struct method *, uint64_t key);
    void (*end)(struct table *);
};

static uint64_t fly_swap(struct table *t, int rank, uint64_t at, uint64_t expect,
                         uint64_t desired) {
    uint64_t old;
    DO(fly_compare_swap(t->win, &old, expect, desired, rank, at, FLY_NO_TAG));
    DO(fly_flush_local(t->win, rank));
    return old;
}

static uint64_t fly_plus(struct table *t, int rank, uint64_t at, uint64_t add) {
    uint64_t old;
    DO(fly_fetch_add(t->win, &old, add, rank, at, FLY_NO_TAG));
    DO(fly_flush_local(t->win, rank));
    return old;
}

static void fly_write(struct table *t, int rank, uint64_t at, uint64_t value) {
    DO(fly_put(t->win, &value, 8, rank, at));
    DO(fly_flush(t->win, rank));
}

static uint64_t mpi_swap(struct table *t, int rank, uint64_t at, uint64_t expect,
                         uint64_t desired) {
    uint64_t old;
    MPI_Compare_and_swap(&desired, &expect, &old, MPI_UINT64_T, rank, (MPI_Aint)at, t->window);
    MPI_Win_flush(rank, t->window);
    return old;
}

static uint64_t mpi_plus(struct table *t, int rank, uint64_t at, uint64_t add) {
    uint64_t old;
    MPI_Fetch_and_op(&add, &old, MPI_UINT64_T, rank, (MPI_Aint)at, MPI_SUM, t->window);
    MPI_Win_flush(rank, t->window);
    return old;
}

static void mpi_write(struct table *t, int rank, uint64_t at, uint64_t value) {
    MPI_Put(&value, 1, MPI_UINT64_T, rank, (MPI_Aint)at, 1, MPI_UINT64_T, t->window);
    MPI_Win_flush(rank, t->window);
}

/* Draws a key by splitmix64; never 0, which marks a free slot. */
static uint64_t key_of(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) | 1;
}

/* The rank that owns a key, and at which word its slot is. */
static int owner_of(const struct table *t, uint64_t key, uint64_t *at) {
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15) >> 16, size = (uint64_t)t->m->size;
    *at = FIRST + 2 * (hash / size % (uint64_t)t->slots);
    return (int)(hash % size);
}

static void insert(struct table *t, const struct method *method, uint64_t key) {
    uint64_t at;
    int owner = owner_of(t, key, &at);
    if (method->swap(t, owner, at, 0, key) == 0) return;
    uint64_t place = (uint64_t)t->slots + method->add(t, owner, COUNTER, 1), head = 0, seen;
    uint64_t here = FIRST + 2 * place;
    method->put(t, owner, here, key);
    for (;;) { /* retries until the list's head did not change meanwhile */
        method->put(t, owner, here + 1, head);
        seen = method->swap(t, owner, at + 1, head, place + 1);
        if (seen == head) return;
        head = seen;
    }
}

static void insert_here(struct table *t, uint64_t key) {
    uint64_t at;
    owner_of(t, key, &at);
    if (t->own[at] == 0) {
        t->own[at] = key;
        return;
    }
    uint64_t place = (uint64_t)t->slots + t->own[COUNTER]++, here = FIRST + 2 * place;
    t->own[here] = key;
    t->own[here + 1] = t->own[at + 1];
    t->own[at + 1] = place + 1;
}

/* Inserts the keys that have arrived; a message without bytes says that its sender has sent all. */
static void take_keys(struct table *t) {
    MPI_Status status;
    uint64_t key;
    int there, count;
    for (;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_KEY, MPI_COMM_WORLD, &there, &status);
        if (!there) return;
        MPI_Recv(&key, 1, MPI_UINT64_T, status.MPI_SOURCE, TAG_KEY, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_UINT64_T, &count);
        if (count == 0) t->ended++; else insert_here(t, key);
    }
}

static void tell(struct table *t, const uint64_t *key, int rank) {
    MPI_Request request;
    int done = 0;
    MPI_Isend(key, key != NULL, MPI_UINT64_T, rank, TAG_KEY, MPI_COMM_WORLD, &request);
    while (!done) {
        take_keys(t);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static void message_insert(struct table *t, const struct method *method, uint64_t key) {
    uint64_t at;
    int owner = owner_of(t, key, &at);
    (void)method;
    if (owner == t->m->rank) insert_here(t, key); else tell(t, &key, owner);
}

static void message_end(struct table *t) {
    for (int rank = 0; rank < t->m->size; rank++)
        if (rank != t->m->rank) tell(t, NULL, rank);
    while (t->ended < t->m->size - 1) take_keys(t);
}

static void nothing_more(struct table *t) { (void)t; }

struct sums {
    uint64_t count, sum, mixed;
};

static void count_key(struct sums *sums, uint64_t key) {
    sums->count++;
    sums->sum += key;
    sums->mixed ^= key;
}

/* Walks along the lists, so that a key that no list links is missed. */
static struct sums walk(const struct table *t, const uint64_t *words) {
    struct sums sums = {0, 0, 0};
    for (int slot = 0; slot < t->slots; slot++) {
        const uint64_t *entry = words + FIRST + 2 * (size_t)slot;
        if (entry[0] == 0) continue;
        count_key(&sums, entry[0]);
        for (uint64_t next = entry[1]; next != 0; next = words[FIRST + 2 * (next - 1) + 1])
            count_key(&sums, words[FIRST + 2 * (next - 1)]);
    }
    return sums;
}

static struct sums all_of(struct sums mine) {
    struct sums all;
    MPI_Allreduce(&mine, &all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.mixed, &all.mixed, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    return all;
}

static void run(struct table *t, const struct method *method, const uint64_t *words) {
    uint64_t state = (uint64_t)t->m->rank * 1000003 + 17;
    struct sums put = {0, 0, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < t->keys; i++) {
        uint64_t key = key_of(&state);
        count_key(&put, key);
        method->insert(t, method, key);
    }
    method->end(t);
    DO(fly_fence(t->win));
    MPI_Win_sync(t->window);
    double took = MPI_Wtime() - began;
    struct sums wanted = all_of(put), found = all_of(walk(t, words));
    if (memcmp(&wanted, &found, sizeof found) != 0) {
        fprintf(stderr, "hash %s: other keys are found than were put in\n", method->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (t->m->rank == 0)
        printf("hash %s: %d ranks, %d keys each, all found, %.3f us a key\n", method->name,
               t->m->size, t->keys, took / t->keys * 1e6);
}

int main(int count, char **words) {
    static const struct method OURS = {"one-sided", fly_swap, fly_plus, fly_write, insert,
                                    nothing_more};
    static const struct method THEIRS = {"by MPI one-sided", mpi_swap, mpi_plus, mpi_write, insert,
                                      nothing_more};
    static const struct method MESSAGES = {"by messages", NULL, NULL, NULL, message_insert,
                                        message_end};
    struct motif m;
    struct table table = {.m = &m}, *t = &table;
    void *base;
    motif_open(&m, &count, &words);
    t->keys = motif_number(count, words, 1, 20000, 1);
    t->slots = t->keys;
    /* A rank's heap has room for the keys of all: hashes may send every key there. */
    size_t places = (size_t)t->slots + (size_t)t->keys * (size_t)m.size;
    size_t bytes = (FIRST + 2 * places) * sizeof(uint64_t);
    DO(fly_win_allocate(fly_world(m.rt), bytes, 8, 0, &base, &t->win));
    t->words = (uint64_t *)base;
    MPI_Win_allocate((MPI_Aint)bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &t->exposed, &t->window);
    memset(t->exposed, 0, bytes);
    MPI_Win_lock_all(0, t->window);
    run(t, &OURS, t->words);
    if (!motif_recorded()) {
        t->own = (uint64_t *)motif_memory(bytes, 1);
        run(t, &MESSAGES, t->own);
        free(t->own);
    }
    if (count > 2 && strcmp(words[2], "mpi") == 0) run(t, &THEIRS, t->exposed);
    MPI_Win_unlock_all(t->window);
    MPI_Win_free(&t->window);
    DO(fly_win_free(&t->win));
    motif_close(&m);
    return 0;
}
