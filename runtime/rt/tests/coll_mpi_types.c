/* Collectives with MPI's types and operations, against MPI's own: random types, counts, operations,
 * roots and forms, in place or not; and what is refused.
 *
 *   mpiexec -n P coll_mpi_types TRANSPORTS TRIALS SEED
 */
#include "flyloom_mpi.h"

#include "check.h"

enum { ROOM = 1 << 16, TYPES = 9, COUNT_MOST = 12 };

struct affine {
    uint32_t a, b;
};

/* (a, b) . (c, d) is x -> a (c x + d) + b: not commutative. */
static void affine(void *in, void *inout, int *count, MPI_Datatype *type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; i++) {
        struct affine *l = (struct affine *)((char *)in + i * extent);
        struct affine *r = (struct affine *)((char *)inout + i * extent);
        *r = (struct affine){l->a * r->a, l->a * r->b + l->b};
    }
}

/* Makes types of 2 * n ints each. Which of them have gaps or another order, MPI knows. */
static void make_types(MPI_Datatype types[TYPES]) {
    int lengths[] = {1, 2, 1}, places[] = {5, 0, 3}, sizes[] = {4, 5}, parts[] = {2, 2},
        starts[] = {1, 2}, ones[] = {1, 1}, two[] = {0, 1};
    MPI_Aint at[] = {12, 4}, behind[] = {0, 4};
    MPI_Datatype ints[] = {MPI_INT, MPI_INT}, one;
    MPI_Type_contiguous(2, MPI_INT, &types[0]);
    MPI_Type_vector(2, 2, 3, MPI_INT, &types[1]);
    MPI_Type_indexed(3, lengths, places, MPI_INT, &types[2]);
    MPI_Type_create_struct(2, ones, at, ints, &types[3]);
    MPI_Type_create_struct(2, ones, behind, ints, &types[4]);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &types[5]);
    MPI_Type_create_indexed_block(2, 1, two, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 20, &types[6]);
    MPI_Type_free(&one);
    MPI_Type_create_hvector(2, 1, 12, MPI_INT, &types[7]);
    MPI_Type_dup(types[1], &types[8]);
    for (int i = 0; i < TYPES; i++) MPI_Type_commit(&types[i]);
}

struct work {
    fly_team *team;
    int rank, size;
    uint64_t random;
    unsigned char *in, *ours, *theirs;
    MPI_Datatype types[TYPES];
    MPI_Op user;
};

static void fill(struct work *w) {
    uint64_t own = draw(&w->random) * 31 + (uint64_t)w->rank;
    for (int i = 0; i < ROOM / 4; i++) ((uint32_t *)w->in)[i] = (uint32_t)below(&own, 1000);
    for (int i = 0; i < ROOM / 4; i++)
        ((uint32_t *)w->ours)[i] = (uint32_t)below(&own, 1000);
    memcpy(w->theirs, w->ours, ROOM);
}

static void finish(int code, int form, fly_mpi_req *req) {
    CHECK(code == FLY_OK, "%s", fly_last_error(NULL));
    if (form == 0) return;
    if (form == 2) CHECK(fly_mpi_start(req) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_mpi_wait(req) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_mpi_req_free(&req) == FLY_OK, "%s", fly_last_error(NULL));
}

#define OURS(name, ...)                                                       \
    do {                                                                      \
        int code_ = form == 0   ? fly_mpi_##name(__VA_ARGS__)                 \
                    : form == 1 ? fly_mpi_i##name(__VA_ARGS__, &req)          \
                                : fly_mpi_##name##_init(__VA_ARGS__, &req);   \
        finish(code_, form, req);                                             \
    } while (0)

static void folds(struct work *w, int form, int what) {
    fly_mpi_req *req = NULL;
    MPI_Op own[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_LXOR};
    uint64_t how = below(&w->random, 6);
    MPI_Datatype type = how < 4 ? MPI_INT : MPI_2INT;
    int affines = how == 5, count = (int)below(&w->random, COUNT_MOST);
    MPI_Op op = how < 4 ? own[how] : how == 4 ? MPI_MINLOC : w->user;
    int root = (int)below(&w->random, (uint64_t)w->size), counts[4];
    int in_place = below(&w->random, 3) == 0;
    if (affines) type = w->types[below(&w->random, 2) != 0 ? 6 : 0]; /* both numbers at the start */
#ifdef MPICH /* 4.0.2 folds wrongly there by its own, where all counts are the same */
    if (what == 3 && affines) type = w->types[0];
#endif
    for (int r = 0; r < w->size; r++) counts[r] = (int)below(&w->random, 5);
    if (in_place && what != 1) memcpy(w->in, w->ours, ROOM);
    const void *send = in_place ? MPI_IN_PLACE : (void *)w->in;
    const void *at_root = in_place && w->rank == root ? MPI_IN_PLACE : (void *)w->in;
    switch (what) {
    case 0:
        OURS(allreduce, send, w->ours, (size_t)count, type, op, w->team);
        MPI_Allreduce(send, w->theirs, count, type, op, MPI_COMM_WORLD);
        return;
    case 1:
        OURS(reduce, at_root, w->ours, (size_t)count, type, op, root, w->team);
        MPI_Reduce(at_root, w->theirs, count, type, op, root, MPI_COMM_WORLD);
        return;
    case 2:
        OURS(scan, send, w->ours, (size_t)count, type, op, w->team);
        MPI_Scan(send, w->theirs, count, type, op, MPI_COMM_WORLD);
        return;
    default:
        OURS(reduce_scatter, w->in, w->ours, counts, type, op, w->team);
        MPI_Reduce_scatter(w->in, w->theirs, counts, type, op, MPI_COMM_WORLD);
    }
}

enum { EDGES_MOST = 12 };

/* Blocks with their own types to each rank, or along random edges, some repeated, some from a rank
   to itself; each block is in separate memory. */
struct blocks {
    int count, counts[EDGES_MOST], at[EDGES_MOST];
    MPI_Aint places[EDGES_MOST];
    MPI_Datatype types[EDGES_MOST];
};

/* Adds a block of 2 * `pairs` ints. */
static void add_block(const struct work *w, struct blocks *blocks, uint64_t *own, int pairs,
                      MPI_Aint *end) {
    MPI_Aint lower, extent, first, span;
    int i = blocks->count++, bytes, type = (int)below(own, TYPES);
    blocks->types[i] = w->types[type];
    MPI_Type_size(w->types[type], &bytes);
    MPI_Type_get_extent(w->types[type], &lower, &extent);
    MPI_Type_get_true_extent(w->types[type], &first, &span);
    blocks->counts[i] = pairs * 8 / bytes;
    blocks->places[i] = *end;
    blocks->at[i] = (int)*end;
    if (pairs == 0) blocks->types[i] = below(own, 2) == 0 ? MPI_BYTE : w->types[type];
    *end += (blocks->counts[i] == 0 ? 0 : blocks->counts[i] * extent + first + span) + 8;
}

/* Gets from MPI what the edges bring, by messages: MPI_Neighbor_alltoallw of MPICH 4.0.2 brings
   other bytes than its own messages do. */
static void theirs_along(struct work *w, const int *sources, const struct blocks *in,
                         const int *targets, const struct blocks *out) {
#ifdef MPICH
    MPI_Request requests[2 * EDGES_MOST];
    MPI_Status statuses[2 * EDGES_MOST];
    int count = 0;
    for (int i = 0; i < in->count; i++, count++) {
        int before = 0;
        for (int k = 0; k < i; k++) before += sources[k] == sources[i];
        MPI_Irecv(w->theirs + in->places[i], in->counts[i], in->types[i], sources[i], before,
                  MPI_COMM_WORLD, &requests[count]);
    }
    for (int i = 0; i < out->count; i++, count++) {
        int before = 0;
        for (int k = 0; k < i; k++) before += targets[k] == targets[i];
        MPI_Isend(w->in + out->places[i], out->counts[i], out->types[i], targets[i], before,
                  MPI_COMM_WORLD, &requests[count]);
    }
    MPI_Waitall(count, requests, statuses);
#else
    int ones[EDGES_MOST];
    MPI_Comm comm;
    for (int i = 0; i < EDGES_MOST; i++) ones[i] = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in->count, sources, ones, out->count, targets,
                                   ones, MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_alltoallw(w->in, out->counts, out->places, out->types, w->theirs, in->counts,
                           in->places, in->types, comm);
    MPI_Comm_free(&comm);
#endif
}

/* Makes the same graph from a communicator's, with weights. */
static void of_communicator(struct work *w, const int *sources, int ins, const int *targets,
                            int outs, fly_graph **graph) {
    int weights[EDGES_MOST];
    size_t in, out;
    const int *from, *to;
    MPI_Comm comm;
    for (int i = 0; i < EDGES_MOST; i++) weights[i] = i % 3;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, sources, weights, outs, targets, weights,
                                   MPI_INFO_NULL, 0, &comm);
    CHECK(fly_mpi_graph_of(comm, w->team, graph) == FLY_OK, "%s", fly_last_error(NULL));
    MPI_Comm_free(&comm);
    CHECK(fly_graph_neighbours(*graph, &in, &from, &out, &to) == FLY_OK, "neighbours");
    CHECK((int)in == ins && (int)out == outs, "%zu and %zu edges", in, out);
    CHECK(ins == 0 || memcmp(from, sources, in * sizeof *from) == 0, "sources");
    CHECK(outs == 0 || memcmp(to, targets, out * sizeof *to) == 0, "targets");
}

static void types_of_each(struct work *w, int form, int along) {
    fly_mpi_req *req = NULL;
    struct blocks out = {.count = 0}, in = {.count = 0};
    int sources[EDGES_MOST], targets[EDGES_MOST];
    int edges = along ? (int)below(&w->random, EDGES_MOST + 1) : w->size * w->size;
    uint64_t own = draw(&w->random) + (uint64_t)w->rank;
    MPI_Aint sent = 0, got = 0;
    for (int i = 0; i < edges; i++) {
        int from = along ? (int)below(&w->random, (uint64_t)w->size) : i / w->size;
        int to = along ? (int)below(&w->random, (uint64_t)w->size) : i % w->size;
        int pairs = 4 * (int)below(&w->random, 8); /* 4: those of the largest type */
        if (from == w->rank) {
            targets[out.count] = to;
            add_block(w, &out, &own, pairs, &sent);
        }
        if (to == w->rank) {
            sources[in.count] = from;
            add_block(w, &in, &own, pairs, &got);
        }
    }
    CHECK(sent <= ROOM && got <= ROOM, "room for all blocks");
    if (!along) {
        OURS(alltoallw, w->in, out.counts, out.at, out.types, w->ours, in.counts, in.at, in.types,
             w->team);
        MPI_Alltoallw(w->in, out.counts, out.at, out.types, w->theirs, in.counts, in.at, in.types,
                      MPI_COMM_WORLD);
        return;
    }
    fly_graph *graph;
    if (below(&w->random, 2) == 0)
        CHECK(fly_graph_adjacent(w->team, (size_t)in.count, sources, (size_t)out.count, targets,
                                 &graph) == FLY_OK, "%s", fly_last_error(NULL));
    else
        of_communicator(w, sources, in.count, targets, out.count, &graph);
    OURS(neighbour_alltoallw, w->in, out.counts, out.places, out.types, w->ours, in.counts,
         in.places, in.types, graph);
    CHECK(fly_graph_free(&graph) == FLY_OK, "%s", fly_last_error(NULL));
    theirs_along(w, sources, &in, targets, &out);
}

static void moves(struct work *w, int form, int what) {
    fly_mpi_req *req = NULL;
    MPI_Datatype out = w->types[below(&w->random, TYPES)], in = w->types[below(&w->random, TYPES)];
    int out_bytes, in_bytes, count = (int)below(&w->random, COUNT_MOST);
    int root = (int)below(&w->random, (uint64_t)w->size), in_place = below(&w->random, 4) == 0;
    int send_counts[4], receive_counts[4], at_out[4], at_in[4], all_out = 0, all_in = 0;
    MPI_Type_size(out, &out_bytes);
    MPI_Type_size(in, &in_bytes);
    int n = count * in_bytes, m = count * out_bytes; /* so that both are of as many ints */
    n /= 8;
    m /= 8;
    uint64_t seed = draw(&w->random);
    for (int r = 0; r < w->size; r++) {
        uint64_t there = seed + (uint64_t)(w->rank * 4 + r);
        uint64_t back = seed + (uint64_t)(r * 4 + w->rank);
        send_counts[r] = (int)below(&there, 4) * in_bytes / 8;
        receive_counts[r] = (int)below(&back, 4) * out_bytes / 8;
        at_out[r] = all_out;
        at_in[r] = all_in;
        all_out += send_counts[r];
        all_in += receive_counts[r] + 1;
    }
    const void *send = in_place ? MPI_IN_PLACE : (void *)w->in;
    const void *at_root = in_place && w->rank == root ? MPI_IN_PLACE : (void *)w->in;
    size_t s = (size_t)n, r = (size_t)m;
    switch (what) {
    case 0:
        OURS(bcast, w->ours, s, out, root, w->team);
        MPI_Bcast(w->theirs, n, out, root, MPI_COMM_WORLD);
        return;
    case 1:
        OURS(gather, at_root, s, out, w->ours, r, in, root, w->team);
        MPI_Gather(at_root, n, out, w->theirs, m, in, root, MPI_COMM_WORLD);
        return;
    case 2:
        if (in_place && w->rank == root) {
            OURS(scatter, w->in, s, out, MPI_IN_PLACE, r, in, root, w->team);
            MPI_Scatter(w->in, n, out, MPI_IN_PLACE, m, in, root, MPI_COMM_WORLD);
        } else {
            OURS(scatter, w->in, s, out, w->ours, r, in, root, w->team);
            MPI_Scatter(w->in, n, out, w->theirs, m, in, root, MPI_COMM_WORLD);
        }
        return;
    case 3:
        OURS(allgather, send, s, out, w->ours, r, in, w->team);
        MPI_Allgather(send, n, out, w->theirs, m, in, MPI_COMM_WORLD);
        return;
    case 4:
        OURS(alltoall, send, s, out, w->ours, r, in, w->team);
        MPI_Alltoall(send, n, out, w->theirs, m, in, MPI_COMM_WORLD);
        return;
    default:
        OURS(alltoallv, w->in, send_counts, at_out, out, w->ours, receive_counts, at_in, in,
             w->team);
        MPI_Alltoallv(w->in, send_counts, at_out, out, w->theirs, receive_counts, at_in, in,
                      MPI_COMM_WORLD);
    }
}

/* The call is refused at every rank alike, names the argument, and does nothing. */
#define REFUSED(wanted, part, call)                                                        \
    do {                                                                                   \
        int got_ = (call);                                                                 \
        CHECK(got_ == (wanted) && strstr(fly_last_error(NULL), part) != NULL, "%d, \"%s\"", \
              got_, fly_last_error(NULL));                                                 \
    } while (0)

static void refused(struct work *w) {
    MPI_Datatype loose, large;
    fly_mpi_req *req;
    int less[4] = {-1, -1, -1, -1}, none[4] = {0, 0, 0, 0};
    void *in = w->in, *out = w->ours;
    REFUSED(FLY_ERR_ARG, "MPI_BAND", fly_mpi_allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, w->team));
    REFUSED(FLY_ERR_ARG, "MPI_MINLOC", fly_mpi_allreduce(in, out, 1, MPI_INT, MPI_MINLOC, w->team));
    REFUSED(FLY_ERR_ARG, "not one of MPI's",
            fly_mpi_allreduce(in, out, 1, w->types[0], MPI_SUM, w->team));
    REFUSED(FLY_ERR_ARG, "MPI_OP_NULL",
            fly_mpi_allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, w->team));
    REFUSED(FLY_ERR_ARG, "MPI_DATATYPE_NULL",
            fly_mpi_bcast(in, 1, MPI_DATATYPE_NULL, 0, w->team));
    REFUSED(FLY_ERR_ARG, "team", fly_mpi_bcast(in, 1, MPI_INT, 0, NULL));
    REFUSED(FLY_ERR_ARG, "count", fly_mpi_bcast(in, (size_t)-1, MPI_INT, 0, w->team));
    REFUSED(FLY_ERR_RANK, "root", fly_mpi_bcast(in, 1, MPI_INT, w->size, w->team));
    REFUSED(FLY_ERR_ARG, "8 bytes are sent, 4",
            fly_mpi_allgather(in, 2, MPI_INT, out, 1, MPI_INT, w->team));
    REFUSED(FLY_ERR_ARG, "other basic types",
            fly_mpi_allgather(in, 2, MPI_FLOAT, out, 1, MPI_DOUBLE, w->team));
    REFUSED(FLY_ERR_ARG, "counts[0]",
            fly_mpi_reduce_scatter(in, out, less, MPI_INT, MPI_SUM, w->team));
    REFUSED(FLY_ERR_ARG, "send_counts",
            fly_mpi_alltoallv(in, NULL, NULL, MPI_INT, out, none, none, MPI_INT, w->team));
    REFUSED(FLY_ERR_ARG, "receive_counts[0]",
            fly_mpi_alltoallv(in, none, none, MPI_INT, out, less, none, MPI_INT, w->team));
    MPI_Datatype nulls[4] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL,
                             MPI_DATATYPE_NULL};
    int one[4] = {1, 1, 1, 1};
    REFUSED(FLY_ERR_ARG, "MPI_DATATYPE_NULL",
            fly_mpi_alltoallw(in, one, none, nulls, out, one, none, nulls, w->team));
    REFUSED(FLY_ERR_ARG, "send_counts, send_at or send_types is NULL",
            fly_mpi_alltoallw(in, none, none, NULL, out, none, none, nulls, w->team));
    CHECK(fly_mpi_alltoallw(in, none, none, nulls, out, none, none, nulls, w->team) == FLY_OK, "%s",
          fly_last_error(NULL));
    fly_graph *graph;
    REFUSED(FLY_ERR_ARG, "not one that", fly_mpi_graph_of(MPI_COMM_WORLD, w->team, &graph));
    REFUSED(FLY_ERR_ARG, "made is NULL", fly_mpi_graph_of(MPI_COMM_WORLD, w->team, NULL));
    REFUSED(FLY_ERR_ARG, "graph is NULL",
            fly_mpi_neighbour_alltoallw(in, NULL, NULL, NULL, out, NULL, NULL, NULL, NULL));
    REFUSED(FLY_ERR_ARG, "req is NULL", fly_mpi_ibcast(in, 1, MPI_INT, 0, w->team, NULL));
    MPI_Type_contiguous(20000, MPI_INT, &large);
    REFUSED(FLY_ERR_UNSUPPORTED, "65536", fly_mpi_allreduce(in, out, 1, large, w->user, w->team));
    MPI_Type_free(&large);
    MPI_Type_vector(2, 1, 2, MPI_INT, &loose); /* not committed */
    REFUSED(FLY_ERR_ARG, "committed", fly_mpi_allgather(in, 1, loose, out, 2, MPI_INT, w->team));
    MPI_Type_free(&loose);
    CHECK(fly_mpi_bcast_init(in, 1, MPI_INT, 0, w->team, &req) == FLY_OK, "init");
    CHECK(fly_mpi_start(req) == FLY_OK, "start");
    REFUSED(FLY_ERR_STATE, "active", fly_mpi_start(req));
    REFUSED(FLY_ERR_STATE, "waited", fly_mpi_req_free(&req));
    CHECK(fly_mpi_wait(req) == FLY_OK && fly_mpi_req_free(&req) == FLY_OK && req == NULL, "end");
}

/* With FLYLOOM_CHECK=1: if ranks differ, all learn of it, and which rank it is. */
static void differing(struct work *w) {
    int last = w->size - 1, counts[4] = {1, 1, 1, 1}, at[4] = {0, 1, 2, 3};
    MPI_Datatype type = w->rank == last ? MPI_FLOAT : MPI_INT;
    char text[32];
    snprintf(text, sizeof text, "count of rank %d", last);
    REFUSED(FLY_ERR_ARG, text, fly_mpi_bcast(w->in, 1, type, 0, w->team));
    REFUSED(FLY_ERR_ARG, text, fly_mpi_gather(w->in, 1, type, w->ours, 1, type, 0, w->team));
    snprintf(text, sizeof text, "op of rank %d", last);
    REFUSED(FLY_ERR_ARG, text,
            fly_mpi_allreduce(w->in, w->ours, 1, MPI_INT, w->rank == last ? MPI_MAX : MPI_MIN,
                              w->team));
    REFUSED(FLY_ERR_ARG, "receive_type of rank",
            fly_mpi_alltoallv(w->in, counts, at, type, w->ours, counts, at, type, w->team));
    MPI_Datatype types[4] = {type, type, type, type};
    REFUSED(FLY_ERR_ARG, "receive_types of rank",
            fly_mpi_alltoallw(w->in, counts, at, types, w->ours, counts, at, types, w->team));
    snprintf(text, sizeof text, "arguments of rank %d", last);
    type = w->rank == last ? MPI_DATATYPE_NULL : MPI_INT;
    REFUSED(FLY_ERR_ARG, w->rank == last ? "MPI_DATATYPE_NULL" : text,
            fly_mpi_bcast(w->in, 1, type, 0, w->team));
    REFUSED(FLY_ERR_ARG, w->rank == last ? "MPI_DATATYPE_NULL" : text,
            fly_mpi_alltoallv(w->in, counts, at, type, w->ours, counts, at, type, w->team));
}

int main(int count, char **words) {
    fly_boot boot;
    fly_rt *rt;
    struct work work, *w = &work;
    MPI_Init(&count, &words);
    CHECK(count > 3, "coll_mpi_types TRANSPORTS TRIALS SEED");
    fly_config config = {.transports = words[1]};
    uint64_t trials = argument(count, words, 2, 50);
    CHECK(fly_mpi_boot(MPI_COMM_WORLD, &boot) == FLY_OK, "boot");
    CHECK(fly_init(&boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    memset(w, 0, sizeof *w);
    w->team = fly_world(rt);
    w->rank = boot.rank;
    w->size = boot.size;
    CHECK(w->size <= 4, "at most 4 ranks");
    w->random = argument(count, words, 3, 1);
    w->in = malloc(ROOM);
    w->ours = malloc(ROOM);
    w->theirs = malloc(ROOM);
    make_types(w->types);
    MPI_Op_create(affine, 0, &w->user);
    refused(w);
    if (getenv("FLYLOOM_CHECK") != NULL && w->size > 1) differing(w);
    for (uint64_t n = 0; n < trials; n++) {
        int form = (int)below(&w->random, 3), what = (int)below(&w->random, 12);
        fill(w);
        if (what < 4) folds(w, form, what);
        else if (what < 10) moves(w, form, what - 4);
        else types_of_each(w, form, what - 10);
        for (int i = 0; i < ROOM; i++)
            CHECK(w->ours[i] == w->theirs[i], "trial %lu, operation %d, form %d, rank %d: byte %d",
                  (unsigned long)n, what, form, w->rank, i);
    }
    for (int i = 0; i < TYPES; i++) MPI_Type_free(&w->types[i]);
    MPI_Op_free(&w->user);
    free(w->in);
    free(w->ours);
    free(w->theirs);
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    if (boot.rank == 0)
        printf("coll_mpi_types: %s, %d ranks, %lu trials\n", words[1], boot.size,
               (unsigned long)trials);
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
