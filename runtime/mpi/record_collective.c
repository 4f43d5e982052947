/* Collectives as the messages of one algorithm each, whichever the MPI library takes; a process
 * notes what it sends itself. Within a group of P processes:
 *
 * Barrier                        dissemination: 0 bytes to rank + 2^k, k < log2 P
 * Bcast, Scatter                 binomial tree from the root; scatter: the blocks of the subtree
 * Reduce, Gather                 the same tree to the root; gather: the blocks of the subtree
 * Scatterv, Gatherv              the root to each, each to the root
 * Allreduce                      recursive doubling; of ranks beyond the largest power of two below
 *                                P, the first 2 (P - that) pair up: even to odd, and back
 * Allgather, Allgatherv          ring: to the next rank all blocks but the next one's own
 * Alltoall, -v, -w, Reduce_scatter(_block)   each to each, its block
 * Scan, Exscan                   chain: to the next rank
 * Neighbor_*                     to every neighbour that the topology sends to
 *
 * Between two groups (inter-communicators) each sends to each, the root to each, each to the root.
 * What a process sends to itself is not noted. Neighbourhood collectives are always recorded.
 *
 * A call is described once (struct joint), whatever its form: from that come the messages that are
 * noted, and the event among the calls, of which another algorithm can be made later.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

static void to_all(const struct peers *of, uint64_t bytes) {
    for (int i = 0; i < of->size; i++)
        if (of->inter || i != of->me) rec_note(of, i, 0, bytes, 1);
}

static void barrier(const struct peers *of) {
    if (of->inter) {
        to_all(of, 0);
        return;
    }
    for (int64_t step = 1; step < of->size; step *= 2)
        rec_note(of, (int)((of->me + step) % of->size), 0, 0, 1);
}

/* Down the tree: sends each child `bytes` for every rank of its subtree, or once. */
static void down(const struct peers *of, int root, uint64_t bytes, int is_scatter) {
    if (of->inter) {
        if (root == MPI_ROOT) to_all(of, bytes);
        return;
    }
    int64_t size = of->size, me = (of->me - root + size) % size;
    int64_t end = me != 0 ? me & -me : size;
    for (int64_t step = 1; step < end && me + step < size; step *= 2) {
        int64_t left = size - me - step, blocks = is_scatter ? (step < left ? step : left) : 1;
        rec_note(of, (int)((me + step + root) % size), 0, bytes * (uint64_t)blocks, 1);
    }
}

/* Up the tree: sends the parent `bytes` for every rank of the own subtree, or once. */
static void up(const struct peers *of, int root, uint64_t bytes, int is_gather) {
    if (of->inter) {
        rec_note(of, root, 0, bytes, 1); /* MPI_ROOT and MPI_PROC_NULL are negative */
        return;
    }
    int64_t size = of->size, me = (of->me - root + size) % size;
    if (me == 0) return;
    int64_t step = me & -me, blocks = is_gather ? (step < size - me ? step : size - me) : 1;
    rec_note(of, (int)((me - step + root) % size), 0, bytes * (uint64_t)blocks, 1);
}

static void allreduce(const struct peers *of, uint64_t bytes) {
    if (of->inter) {
        to_all(of, bytes);
        return;
    }
    int64_t power = 1;
    while (2 * power <= of->size) power *= 2;
    int64_t rest = of->size - power, me = of->me;
    if (me < 2 * rest) rec_note(of, (int)(me ^ 1), 0, bytes, 1); /* odd ranks send at the end */
    if (me < 2 * rest && me % 2 == 0) return;
    int64_t place = me < 2 * rest ? me / 2 : me - rest;
    for (int64_t step = 1; step < power; step *= 2) {
        int64_t other = place ^ step;
        rec_note(of, (int)(other < rest ? 2 * other + 1 : other + rest), 0, bytes, 1);
    }
}

static void ring(const struct peers *of, uint64_t bytes) {
    if (of->size > 1)
        rec_note(of, (of->me + 1) % of->size, 0, bytes, (uint64_t)of->size - 1);
}

static void chain(const struct peers *of, uint64_t bytes) {
    if (of->me + 1 < of->size) rec_note(of, of->me + 1, 0, bytes, 1);
}

static void to_root(const struct peers *of, int root, uint64_t bytes) {
    if (of->inter || root != of->me) rec_note(of, root, 0, bytes, 1);
}

static int is_root(const struct peers *of, int root) {
    return of->inter ? root == MPI_ROOT : root == of->me;
}

/* Blocks of a reduction that is scattered; between two groups the others share the contribution. */
static void scattered(const struct peers *of, uint64_t all) {
    for (int i = 0; i < of->size; i++) rec_note(of, i, 0, all / (uint64_t)of->size, 1);
}

/* What all of a communicator do together, as a process calls it: `each` has a size for each rank
 * of the group that is sent to, or in a reduction for each of the own one. */
struct joint {
    enum rec_joint what;
    int root; /* REC_NO_ROOT: it has none */
    enum rec_sizes sizes;
    uint64_t bytes;
    const uint64_t *each;
};

enum { REC_NO_ROOT = -1000 };

static uint64_t sum_of(const uint64_t *each, int count) {
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += each[i];
    return sum;
}

static void to_each(const struct peers *of, const uint64_t *each) {
    for (int i = 0; i < of->size; i++)
        if (of->inter || i != of->me) rec_note(of, i, 0, each[i], 1);
}

static void gathered_by_all(const struct peers *of, const struct joint *it) {
    if (of->inter) {
        to_all(of, it->bytes);
    } else if (it->sizes == REC_EACH) {
        ring(of, sum_of(it->each, of->size) - it->each[(of->me + 1) % of->size]);
    } else {
        ring(of, it->bytes * (uint64_t)(of->size - 1));
    }
}

static void reduced_and_scattered(const struct peers *of, const struct joint *it) {
    int is_each = it->sizes == REC_EACH;
    if (of->inter)
        scattered(of, is_each ? sum_of(it->each, of->own) : it->bytes * (uint64_t)of->own);
    else if (is_each)
        to_each(of, it->each);
    else
        to_all(of, it->bytes);
}

static void gathered(const struct peers *of, const struct joint *it) {
    if (is_root(of, it->root) || it->root < 0) return;
    if (it->sizes == REC_SAME)
        up(of, it->root, it->bytes, 1);
    else
        to_root(of, it->root, it->bytes);
}

static void spread(const struct peers *of, const struct joint *it) {
    if (it->sizes == REC_SAME) {
        if (is_root(of, it->root) || !of->inter) down(of, it->root, it->bytes, 1);
    } else if (is_root(of, it->root)) {
        to_each(of, it->each);
    }
}

/* Notes what this process sends. */
static void note(const struct peers *of, const struct joint *it) {
    switch (it->what) {
    case REC_BARRIER: barrier(of); break;
    case REC_BROADCAST: down(of, it->root, it->bytes, 0); break;
    case REC_REDUCE: up(of, it->root, it->bytes, 0); break;
    case REC_ALLREDUCE: allreduce(of, it->bytes); break;
    case REC_ALLGATHER: gathered_by_all(of, it); break;
    case REC_REDUCE_SCATTER: reduced_and_scattered(of, it); break;
    case REC_ALLTOALL: to_all(of, it->bytes); break;
    case REC_ALLTOALLV: to_each(of, it->each); break;
    case REC_SCAN:
    case REC_EXSCAN: chain(of, it->bytes); break;
    case REC_GATHER: gathered(of, it); break;
    case REC_SCATTER: spread(of, it); break;
    }
}

/* Room for sizes, of this thread; NULL where memory is short. */
static uint64_t *room_for(size_t count) {
    static _Thread_local uint64_t *sizes;
    static _Thread_local size_t room;
    if (count > room) {
        uint64_t *larger = realloc(sizes, count * sizeof *sizes);
        if (larger == NULL) {
            atomic_store(&rec_lost, 1);
            return NULL;
        }
        sizes = larger;
        room = count;
    }
    return sizes;
}

/* Everybody is known: none came by MPI_Comm_spawn. */
static int is_whole(const struct peers *of) {
    for (int i = 0; of->world != NULL && i < of->size; i++)
        if (of->world[i] < 0) return 0;
    return 1;
}

/* The event of a call in one group. */
static void call(const struct peers *of, const struct joint *it) {
    int is_each = it->sizes == REC_EACH;
    size_t sizes = is_each ? (size_t)of->size : it->what != REC_BARRIER;
    uint64_t *words = malloc((4 + sizes) * sizeof *words);
    if (words == NULL) {
        atomic_store(&rec_lost, 1);
        return;
    }
    words[1] = of->number;
    words[2] = it->what;
    words[3] = it->root == REC_NO_ROOT ? REC_ANY : (uint64_t)it->root;
    if (sizes != 0) memcpy(words + 4, is_each ? it->each : &it->bytes, sizes * sizeof *words);
    rec_begins(REC_JOINT, it->sizes, 4 + sizes, words, NULL);
    free(words);
}

/* Messages of an exchange, collected from what is noted. */
struct exchange {
    const struct peers *of;
    struct start_traffic plan;
};

static struct start_traffic *begin_exchange(struct exchange *it, const struct peers *of) {
    struct start_traffic *outer = rec_thread.plan;
    *it = (struct exchange){of, {0}};
    rec_thread.plan = &it->plan;
    return outer;
}

/* Notes what was collected, and appends its event. */
static void end_exchange(struct exchange *it, struct start_traffic *outer) {
    const struct start_traffic *plan = &it->plan;
    uint64_t *words = malloc((2 + 2 * plan->count) * sizeof *words);
    rec_thread.plan = outer;
    for (size_t i = 0; i < plan->count; i++) {
        const struct pair_traffic *pair = &plan->pairs[i];
        rec_note_key(pair->key, pair->bytes, pair->messages);
        if (words == NULL) continue;
        words[2 + 2 * i] = (pair->key - 1) >> 1;
        words[3 + 2 * i] = pair->bytes;
    }
    if (words != NULL) {
        words[1] = it->of->number;
        rec_begins(REC_EXCHANGE, 0, 2 + 2 * plan->count, words, NULL);
    } else {
        atomic_store(&rec_lost, 1);
    }
    free(plan->pairs);
    free(words);
}

static void joint(MPI_Comm comm, const struct joint *it) {
    const struct peers *of = rec_collectives ? rec_comm(comm) : NULL;
    struct exchange exchange;
    if (of == NULL || (rec_calls && !is_whole(of))) {
        if (of != NULL) note(of, it);
        if (rec_calls && rec_thread.plan == NULL) rec_event(REC_WAITS, 0, 0, NULL);
    } else if (!rec_calls) {
        note(of, it);
    } else if (of->inter) {
        struct start_traffic *outer = begin_exchange(&exchange, of);
        note(of, it);
        end_exchange(&exchange, outer);
    } else {
        note(of, it);
        call(of, it);
    }
}

/* One size for all. */
static void same(MPI_Comm comm, enum rec_joint what, int root, uint64_t bytes) {
    joint(comm, &(struct joint){what, root, REC_SAME, bytes, NULL});
}

/* The own block alone is known. */
static void own(MPI_Comm comm, enum rec_joint what, int root, uint64_t bytes) {
    joint(comm, &(struct joint){what, root, REC_OWN, bytes, NULL});
}

static void each(MPI_Comm comm, enum rec_joint what, int root, const uint64_t *sizes) {
    if (sizes != NULL) joint(comm, &(struct joint){what, root, REC_EACH, 0, sizes});
}

/* To every neighbour that the topology sends to, its block: `each`, or `bytes`. */
static void near(MPI_Comm comm, const uint64_t *sizes, uint64_t bytes) {
    const struct peers *of = rec_comm(comm);
    struct exchange exchange;
    if (of == NULL) return;
    struct start_traffic *outer = rec_calls ? begin_exchange(&exchange, of) : NULL;
    for (int i = 0; i < of->degree; i++)
        rec_note(of, of->to[i], 0, sizes != NULL ? sizes[i] : bytes, 1);
    if (rec_calls) end_exchange(&exchange, outer);
}

static int size_of(MPI_Comm comm, int is_own) {
    const struct peers *of = rec_comm(comm);
    return of == NULL ? 0 : is_own ? of->own : of->size;
}

static int degree_of(MPI_Comm comm) {
    const struct peers *of = rec_comm(comm);
    return of == NULL ? 0 : of->degree;
}

static int is_root_of(MPI_Comm comm, int root) {
    const struct peers *of = rec_comm(comm);
    return of != NULL && is_root(of, root);
}

static int is_between(MPI_Comm comm) {
    const struct peers *of = rec_comm(comm);
    return of != NULL && of->inter;
}

/* Sizes of `n` blocks, where i is the number of the block. */
#define SIZES(n, bytes)                                                                           \
    int blocks = n;                                                                               \
    uint64_t *sizes = room_for((size_t)blocks + 1);                                               \
    for (int i = 0; sizes != NULL && i < blocks; i++) sizes[i] = bytes

#define CALL(name) name
#define COUNT int
#define DISPLACEMENT int
#include "record_collective.inc"

COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm), same(comm, REC_BARRIER, REC_NO_ROOT, 0))
COLLECTIVE(Alltoallw, Ialltoallw, (EACH_KIND(int, int)), (EACH_KIND_GIVEN), EACH_KIND_SENT)
NEIGHBOUR(Neighbor_alltoallw, Ineighbor_alltoallw, (EACH_KIND(int, MPI_Aint)), (EACH_KIND_GIVEN),
          NEAR_KIND_SENT)

#ifdef HAS_LARGE
#undef CALL
#undef COUNT
#undef DISPLACEMENT
#define CALL(name) name##_c
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "record_collective.inc"

COLLECTIVE(Alltoallw_c, Ialltoallw_c, (EACH_KIND(MPI_Count, MPI_Aint)), (EACH_KIND_GIVEN),
           EACH_KIND_SENT)
NEIGHBOUR(Neighbor_alltoallw_c, Ineighbor_alltoallw_c, (EACH_KIND(MPI_Count, MPI_Aint)),
          (EACH_KIND_GIVEN), NEAR_KIND_SENT)
#endif

#ifdef HAS_INIT
LASTING(Barrier_init, (MPI_Comm comm), (comm), same(comm, REC_BARRIER, REC_NO_ROOT, 0))
LASTING(Alltoallw_init, (EACH_KIND(int, int)), (EACH_KIND_GIVEN), EACH_KIND_SENT)
LASTING(Neighbor_alltoallw_init, (EACH_KIND(int, MPI_Aint)), (EACH_KIND_GIVEN),
        NEAR_KIND_SENT)
#endif
#ifdef HAS_LARGE
LASTING(Alltoallw_init_c, (EACH_KIND(MPI_Count, MPI_Aint)), (EACH_KIND_GIVEN), EACH_KIND_SENT)
LASTING(Neighbor_alltoallw_init_c, (EACH_KIND(MPI_Count, MPI_Aint)), (EACH_KIND_GIVEN),
        NEAR_KIND_SENT)
#endif
