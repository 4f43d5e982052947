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
 */
#include "record.h"

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

static void allgather(const struct peers *of, uint64_t bytes) {
    if (of->inter)
        to_all(of, bytes);
    else
        ring(of, bytes * (uint64_t)(of->size - 1));
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

static void to_neighbours(const struct peers *of, uint64_t bytes) {
    for (int i = 0; i < of->degree; i++) rec_note(of, of->to[i], 0, bytes, 1);
}

/* Blocks of a reduction that is scattered; between two groups the others share the contribution. */
static void scattered(const struct peers *of, uint64_t bytes, uint64_t all) {
    for (int i = 0; of->inter && i < of->size; i++)
        rec_note(of, i, 0, all / (uint64_t)of->size, 1);
    for (int i = 0; !of->inter && i < of->size; i++)
        if (i != of->me) rec_note(of, i, 0, bytes, 1);
}

/* A collective whose peers are there, and which is to be recorded. */
#define OF(...)                                                                                   \
    const struct peers *of = rec_collectives ? rec_comm(comm) : NULL;                             \
    if (of != NULL) {                                                                             \
        __VA_ARGS__;                                                                              \
    }
#define NEAR(...)                                                                                 \
    const struct peers *of = rec_comm(comm);                                                      \
    if (of != NULL) {                                                                             \
        __VA_ARGS__;                                                                              \
    }

#define CALL(name) name
#define COUNT int
#define DISPLACEMENT int
#include "record_collective.inc"

COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm), OF(barrier(of)))
COLLECTIVE(Alltoallw, Ialltoallw, (EACH_KIND(int, int)), (EACH_KIND_GIVEN), OF(EACH_KIND_SENT))
NEIGHBOUR(Neighbor_alltoallw, Ineighbor_alltoallw, (EACH_KIND(int, MPI_Aint)), (EACH_KIND_GIVEN),
          NEAR(NEAR_KIND_SENT))

#ifdef HAS_LARGE
#undef CALL
#undef COUNT
#undef DISPLACEMENT
#define CALL(name) name##_c
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "record_collective.inc"

COLLECTIVE(Alltoallw_c, Ialltoallw_c, (EACH_KIND(MPI_Count, MPI_Aint)), (EACH_KIND_GIVEN),
           OF(EACH_KIND_SENT))
NEIGHBOUR(Neighbor_alltoallw_c, Ineighbor_alltoallw_c, (EACH_KIND(MPI_Count, MPI_Aint)),
          (EACH_KIND_GIVEN), NEAR(NEAR_KIND_SENT))
#endif

#ifdef HAS_INIT
LASTING(Barrier_init, (MPI_Comm comm), (comm), OF(barrier(of)))
LASTING(Alltoallw_init, (EACH_KIND(int, int)), (EACH_KIND_GIVEN), OF(EACH_KIND_SENT))
LASTING(Neighbor_alltoallw_init, (EACH_KIND(int, MPI_Aint)), (EACH_KIND_GIVEN),
        NEAR(NEAR_KIND_SENT))
#endif
#ifdef HAS_LARGE
LASTING(Alltoallw_init_c, (EACH_KIND(MPI_Count, MPI_Aint)), (EACH_KIND_GIVEN), OF(EACH_KIND_SENT))
LASTING(Neighbor_alltoallw_init_c, (EACH_KIND(MPI_Count, MPI_Aint)), (EACH_KIND_GIVEN),
        NEAR(NEAR_KIND_SENT))
#endif
