/* Each collective in its forms: what test_record.py records. Arguments: numbers of collectives,
 * and of a form: 0 at once, 1 later, 2 prepared once and started twice.
 *
 * The k-th that is named has blocks of 32^k bytes, so that each is a digit of what is recorded.
 * The root is 2. In the calls with blocks of several sizes that of rank i is i + 1 times as large.
 */
#include <mpi.h>
#include <stdlib.h>

#define W MPI_COMM_WORLD
#define BYTE MPI_BYTE
#define MOST 16

static char *out, *in;
static int me, all, n, form;
static int mine[MOST], theirs[MOST], places[MOST];
static MPI_Datatype types[MOST];

#if MPI_VERSION >= 4
#define PREPARED(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &r)
#else
#define PREPARED(name, ...) MPI_Abort(W, 9)
#endif

#define DO(number, name, ...)                                                           \
    case number:                                                                        \
        if (form == 0) MPI_##name(__VA_ARGS__);                                         \
        if (form == 1) MPI_I##name(__VA_ARGS__, &r);                                    \
        if (form == 2) PREPARED(name, __VA_ARGS__);                                     \
        break;

/* The names of the forms that return at once, as DO writes them. */
#define MPI_IBcast MPI_Ibcast
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IGather MPI_Igather
#define MPI_IScatter MPI_Iscatter
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce_scatter MPI_Ireduce_scatter

static void collective(int which) {
    MPI_Request r = MPI_REQUEST_NULL;
    int root = 2, is_root = me == root;
    for (int i = 0; i < all; i++) {
        theirs[i] = n * (i + 1); /* of the rank whose block it is */
        mine[i] = n * (me + 1);
        places[i] = i * n * all;
        types[i] = BYTE;
    }
    switch (which) {
        DO(0, Bcast, out, n, BYTE, root, W)
        DO(1, Reduce, out, in, n, BYTE, MPI_BOR, root, W)
        DO(2, Allreduce, out, in, n, BYTE, MPI_BOR, W)
        DO(3, Gather, is_root ? MPI_IN_PLACE : out, is_root ? 0 : n, BYTE, in, n, BYTE, root, W)
        DO(4, Scatter, out, n, BYTE, is_root ? MPI_IN_PLACE : in, is_root ? 0 : n, BYTE, root, W)
        DO(5, Allgather, out, n, BYTE, in, n, BYTE, W)
        DO(6, Alltoall, out, n, BYTE, in, n, BYTE, W)
        DO(7, Reduce_scatter_block, out, in, n, BYTE, MPI_BOR, W)
        DO(8, Scan, out, in, n, BYTE, MPI_BOR, W)
        DO(9, Exscan, out, in, n, BYTE, MPI_BOR, W)
        DO(10, Gatherv, out, n * (me + 1), BYTE, in, theirs, places, BYTE, root, W)
        DO(11, Scatterv, out, theirs, places, BYTE, in, n * (me + 1), BYTE, root, W)
        DO(12, Allgatherv, out, n * (me + 1), BYTE, in, theirs, places, BYTE, W)
        DO(13, Alltoallv, out, theirs, places, BYTE, in, mine, places, BYTE, W)
        DO(14, Alltoallw, out, theirs, places, types, in, mine, places, types, W)
        DO(15, Reduce_scatter, out, in, theirs, BYTE, MPI_BOR, W)
        DO(16, Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, BYTE, W)
        DO(17, Alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, BYTE, W)
    }
    if (form == 2) MPI_Start(&r), MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_Start(&r);
    if (form != 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (form == 2) MPI_Request_free(&r);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &all);
    out = calloc(1 << 24, 1);
    in = calloc(1 << 24, 1);
    form = atoi(argv[1]);
    n = 1;
    for (int i = 2; i < argc; i++, n *= 32) collective(atoi(argv[i]));
    MPI_Barrier(W);
    MPI_Finalize();
    return 0;
}
