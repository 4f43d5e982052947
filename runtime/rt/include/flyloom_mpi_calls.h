/* flyloom_mpi_calls.h: how collectives take the types of an MPI; part of flyloom_mpi_coll.h. */
#ifndef FLYLOOM_MPI_CALLS_H
#define FLYLOOM_MPI_CALLS_H

#include "flyloom_mpi_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fly_mpi_req fly_mpi_req;

enum { FLY_MPI_BCAST, FLY_MPI_REDUCE, FLY_MPI_ALLREDUCE, FLY_MPI_REDUCE_SCATTER, FLY_MPI_SCAN,
       FLY_MPI_GATHER, FLY_MPI_SCATTER, FLY_MPI_ALLGATHER, FLY_MPI_ALLTOALL, FLY_MPI_ALLTOALLV,
       FLY_MPI_ALLTOALLW, FLY_MPI_NEIGHBOUR_ALLTOALLW };
enum { FLY_MPI_BLOCKING, FLY_MPI_BEGUN, FLY_MPI_AGAIN };

/* Memory of the program that is read or written; `packed` where its elements have gaps. */
typedef struct {
    unsigned char *user, *packed;
    MPI_Datatype type;
    fly_mpi_layout layout;
    size_t before, to_pack;   /* elements passed over, and packed, at the start */
    size_t to_unpack;         /* elements unpacked at the end, from the first on */
    const int *counts, *at;   /* for each rank, in elements; NULL: consecutive */
    size_t blocks;            /* how many blocks have types of their own, which follow */
    const MPI_Datatype *types;
    fly_mpi_layout *layouts;
    MPI_Aint *places;
} fly_mpi_side;

struct fly_mpi_req {
    fly_req *inner;
    fly_team *team;
    const char *call;
    int operation, rank, size, root, running, persistent;
    fly_mpi_side out, in; /* what is sent, and received */
    const void *send;     /* the arguments in the library's form follow */
    void *receive;
    size_t amount;        /* bytes, or elements to fold */
    size_t *sizes;        /* for each rank: counts, or sizes and places */
    fly_graph *graph;     /* for collectives of neighbours */
    fly_shape *shapes;    /* for each block, sent ones first; `sizes` are places */
    size_t outs;
    fly_fold fold;
    fly_mpi_folding folding;
    uint64_t signature, op; /* for the comparison of all ranks */
};

static inline int fly_mpi_is_in_place(const void *memory) {
    return memory == MPI_IN_PLACE || memory == FLY_IN_PLACE;
}

static inline int fly_mpi_open(fly_mpi_req *r, const char *call, int operation, fly_team *team) {
    memset(r, 0, sizeof *r);
    r->call = call;
    r->team = team;
    r->operation = operation;
    if (!fly_mpi_alive())
        return fly_mpi_fail(FLY_ERR_STATE, "%s: MPI is not initialised, or finalised", call);
    if (team == NULL) return fly_mpi_fail(FLY_ERR_ARG, "%s: team is NULL", call);
    return fly_team_self(team, &r->rank, &r->size);
}

static inline void fly_mpi_clear(fly_mpi_req *r) {
    free(r->out.packed);
    free(r->in.packed);
    free(r->out.layouts);
    free(r->out.places);
    free(r->in.layouts);
    free(r->in.places);
    free(r->shapes);
    free(r->sizes);
    free(r->folding.room);
}

/* Describes `blocks` times `count` of a type at `user`; makes it packed where that is needed. */
static inline int fly_mpi_side_of(const fly_mpi_req *r, fly_mpi_side *side, const char *what,
                                  const void *user, size_t count, size_t blocks,
                                  MPI_Datatype type) {
    int code = fly_mpi_layout_of(r->call, type, &side->layout);
    size_t each;
    if (code != FLY_OK) return code;
    each = side->layout.bytes + (size_t)labs((long)side->layout.extent) + 1;
    if (count > (size_t)PTRDIFF_MAX / each / (blocks == 0 ? 1 : blocks))
        return fly_mpi_fail(FLY_ERR_ARG, "%s: %s: %lld elements are more than memory can have, or "
                            "less than none", r->call, what, (long long)count);
    side->user = (unsigned char *)(uintptr_t)user;
    side->type = type;
    if (fly_mpi_solid(&side->layout, count * blocks)) return FLY_OK;
    side->packed = (unsigned char *)malloc(count * blocks * side->layout.bytes);
    if (side->packed != NULL) return FLY_OK;
    return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory to pack %zu bytes", r->call,
                        count * blocks * side->layout.bytes);
}

static inline void *fly_mpi_memory(const fly_mpi_side *side) {
    return side->packed != NULL ? side->packed : side->user;
}

/* Packs the user's memory into a side's packed memory, or unpacks it. */
static inline int fly_mpi_move(const fly_mpi_req *r, const fly_mpi_side *side, int unpack) {
    size_t bytes = side->layout.bytes, before = unpack ? 0 : side->before;
    unsigned char *packed = side->packed;
    int rank, code = FLY_OK;
    if (packed == NULL) return FLY_OK;
    if (side->counts == NULL)
        return fly_mpi_pack(r->call, unpack, side->user + (ptrdiff_t)before * side->layout.extent,
                            side->type, &side->layout, unpack ? side->to_unpack : side->to_pack,
                            packed + before * bytes);
    if ((unpack ? side->to_unpack : side->to_pack) == 0) return FLY_OK;
    if (side->types != NULL) {
        size_t i;
        for (i = 0; i < side->blocks && code == FLY_OK; i++) {
            const fly_mpi_layout *one = &side->layouts[i];
            code = fly_mpi_pack(r->call, unpack, side->user + side->places[i], side->types[i], one,
                                (size_t)side->counts[i], packed);
            packed += (size_t)side->counts[i] * one->bytes;
        }
        return code;
    }
    for (rank = 0; rank < r->size && code == FLY_OK; rank++) {
        code = fly_mpi_pack(r->call, unpack, side->user + side->at[rank] * side->layout.extent,
                            side->type, &side->layout, (size_t)side->counts[rank], packed);
        packed += (size_t)side->counts[rank] * bytes;
    }
    return code;
}

/* Whether a rank receives from itself what it sends to itself. */
static inline int fly_mpi_fits(const fly_mpi_req *r, size_t send_count, size_t receive_count) {
    const fly_mpi_layout *out = &r->out.layout, *in = &r->in.layout;
    if (send_count * out->bytes != receive_count * in->bytes)
        return fly_mpi_fail(FLY_ERR_ARG, "%s: send_type and receive_type: %zu bytes are sent, %zu "
                            "received", r->call, send_count * out->bytes,
                            receive_count * in->bytes);
    if (fly_mpi_signature(out, send_count) != fly_mpi_signature(in, receive_count))
        return fly_mpi_fail(FLY_ERR_ARG, "%s: send_type and receive_type: other basic types are "
                            "sent than received", r->call);
    return FLY_OK;
}

/* Compares among the ranks whether arguments were refused, and those that must be the same at
   all. */
static inline int fly_mpi_compare_all(const fly_mpi_req *r, int refused) {
    uint64_t mine[3], *all = (uint64_t *)calloc((size_t)r->size, sizeof mine);
    int rank, code;
    if (all == NULL) return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory", r->call);
    mine[0] = r->signature;
    mine[1] = r->op;
    mine[2] = (uint64_t)refused;
    code = fly_allgather(r->team, mine, all, sizeof mine);
    if (code == FLY_OK && refused != FLY_OK) code = refused; /* this rank has the more exact text */
    for (rank = 0; rank < r->size && code == FLY_OK; rank++)
        if (all[3 * rank + 2] != 0)
            code = fly_mpi_fail((int)all[3 * rank + 2], "%s: the arguments of rank %d are refused "
                                "there: %s", r->call, rank,
                                fly_strerror((int)all[3 * rank + 2]));
    for (rank = 1; rank < r->size && code == FLY_OK; rank++) {
        int type = all[3 * rank] != all[0], op = all[3 * rank + 1] != all[1];
        if (type || op)
            code = fly_mpi_fail(FLY_ERR_ARG, "%s: %s of rank %d is another than that of rank 0",
                                r->call, type ? "the type or the count" : "op", rank);
    }
    free(all);
    return code;
}

static inline uint64_t fly_mpi_block_signature(const fly_mpi_side *side, size_t block) {
    const fly_mpi_layout *layout = side->types != NULL ? &side->layouts[block] : &side->layout;
    return fly_mpi_signature(layout, (size_t)side->counts[block]);
}

/* Compares what each rank sends along each edge with what the other end receives. */
static inline int fly_mpi_compare_pairs(const fly_mpi_req *r) {
    size_t size = (size_t)r->size, outs = size, ins = size, i;
    const fly_mpi_side *out = r->out.counts != NULL ? &r->out : &r->in;
    const int *sources = NULL;
    uint64_t *words, *sent, *wrong, none = 0;
    int rank, code = FLY_OK;
    if (r->graph != NULL) code = fly_graph_neighbours(r->graph, &ins, &sources, &outs, NULL);
    words = (uint64_t *)calloc(outs + ins + size, sizeof *words);
    if (words == NULL) return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory", r->call);
    sent = words + outs;
    wrong = sent + ins;
    for (i = 0; i < outs; i++) words[i] = fly_mpi_block_signature(out, i);
    if (code == FLY_OK)
        code = r->graph != NULL ? fly_neighbour_alltoall(r->graph, words, sent, sizeof *words)
                                : fly_alltoall(r->team, words, sent, sizeof *words);
    for (i = ins; i-- > 0;)
        if (sent[i] != fly_mpi_block_signature(&r->in, i))
            none = (uint64_t)(sources != NULL ? sources[i] : (int)i) + 1;
    if (code == FLY_OK) code = fly_allgather(r->team, &none, wrong, sizeof none);
    for (rank = 0; rank < r->size && code == FLY_OK; rank++)
        if (wrong[rank] != 0)
            code = fly_mpi_fail(FLY_ERR_ARG, "%s: receive_counts or receive_type%s of rank %d: not "
                                "what rank %d sends to it", r->call, r->shapes != NULL ? "s" : "",
                                rank, (int)wrong[rank] - 1);
    free(words);
    return code;
}

/* Compares with FLYLOOM_CHECK=1; `code` is the error that this rank has found. */
static inline int fly_mpi_compare(const fly_mpi_req *r, int code) {
    const char *check = getenv("FLYLOOM_CHECK");
    if (check == NULL || strcmp(check, "1") != 0 || r->size < 2) return code;
    code = fly_mpi_compare_all(r, code);
    return code == FLY_OK && r->operation >= FLY_MPI_ALLTOALLV ? fly_mpi_compare_pairs(r) : code;
}

static inline int fly_mpi_ask_bcast(fly_mpi_req *r, const char *call, void *buffer, size_t count,
                                    MPI_Datatype type, int root, fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_BCAST, team);
    if (code == FLY_OK) code = fly_mpi_side_of(r, &r->in, "count", buffer, count, 1, type);
    if (code != FLY_OK) return code;
    if (r->rank == root)
        r->in.to_pack = count;
    else
        r->in.to_unpack = count;
    r->root = root;
    r->amount = count * r->in.layout.bytes;
    r->receive = fly_mpi_memory(&r->in);
    r->signature = fly_mpi_signature(&r->in.layout, count);
    return FLY_OK;
}

/* Fills in a fold of `count` elements, of which `results` are written at this rank. */
static inline int fly_mpi_ask_fold(fly_mpi_req *r, const void *send, void *receive, size_t count,
                                   size_t results, MPI_Datatype type, MPI_Op op) {
    int in_place = fly_mpi_is_in_place(send), code = FLY_OK;
    fly_mpi_op known;
    if (receive != NULL || results != 0 || in_place)
        code = fly_mpi_side_of(r, &r->in, "count", receive, in_place ? count : results, 1, type);
    if (code == FLY_OK && !in_place)
        code = fly_mpi_side_of(r, &r->out, "count", send, count, 1, type);
    if (code != FLY_OK) return code;
    const fly_mpi_layout *layout = in_place ? &r->in.layout : &r->out.layout;
    code = fly_mpi_fold(r->call, type, op, layout, &r->folding, &r->fold);
    if (code != FLY_OK) return code;
    r->in.to_pack = in_place ? count : 0;
    r->in.to_unpack = results;
    r->out.to_pack = count;
    r->amount = layout->bytes == 0 ? 0 : count;
    r->send = in_place ? FLY_IN_PLACE : fly_mpi_memory(&r->out);
    r->receive = fly_mpi_memory(&r->in);
    r->signature = fly_mpi_signature(layout, count);
    known = fly_mpi_op_of(op);
    r->op = known.name == NULL ? (uint64_t)r->fold.ordered : 2;
    for (; known.name != NULL && *known.name != 0; known.name++)
        r->op = r->op * 131 + (unsigned char)*known.name;
    return FLY_OK;
}

static inline int fly_mpi_ask_reduce(fly_mpi_req *r, const char *call, const void *send,
                                     void *receive, size_t count, MPI_Datatype type, MPI_Op op,
                                     int root, fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_REDUCE, team);
    int here = code == FLY_OK && r->rank == root;
    if (code == FLY_OK && !here && fly_mpi_is_in_place(send))
        code = fly_mpi_fail(FLY_ERR_ARG, "%s: send: in place is for the root", call);
    r->root = root;
    if (code != FLY_OK) return code;
    return fly_mpi_ask_fold(r, send, here ? receive : NULL, count, here ? count : 0, type, op);
}

static inline int fly_mpi_ask_allreduce(fly_mpi_req *r, const char *call, const void *send,
                                        void *receive, size_t count, MPI_Datatype type, MPI_Op op,
                                        fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_ALLREDUCE, team);
    return code != FLY_OK ? code : fly_mpi_ask_fold(r, send, receive, count, count, type, op);
}

static inline int fly_mpi_ask_scan(fly_mpi_req *r, const char *call, const void *send,
                                   void *receive, size_t count, MPI_Datatype type, MPI_Op op,
                                   fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_SCAN, team);
    return code != FLY_OK ? code : fly_mpi_ask_fold(r, send, receive, count, count, type, op);
}

/* Refuses counts below 0 of any rank. */
static inline int fly_mpi_counts(const fly_mpi_req *r, const char *what, const int counts[]) {
    int rank;
    for (rank = 0; rank < r->size; rank++)
        if (counts[rank] < 0)
            return fly_mpi_fail(FLY_ERR_ARG, "%s: %s[%d]: %d is less than none", r->call, what,
                                rank, counts[rank]);
    return FLY_OK;
}

static inline int fly_mpi_ask_reduce_scatter(fly_mpi_req *r, const char *call, const void *send,
                                             void *receive, const int counts[], MPI_Datatype type,
                                             MPI_Op op, fly_team *team) {
    int rank, code = fly_mpi_open(r, call, FLY_MPI_REDUCE_SCATTER, team);
    size_t all = 0;
    if (code == FLY_OK && counts == NULL)
        code = fly_mpi_fail(FLY_ERR_ARG, "%s: counts is NULL", call);
    if (code == FLY_OK) code = fly_mpi_counts(r, "counts", counts);
    if (code != FLY_OK) return code;
    r->sizes = (size_t *)calloc((size_t)r->size, sizeof *r->sizes);
    if (r->sizes == NULL) return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory", call);
    for (rank = 0; rank < r->size; rank++) {
        r->sizes[rank] = (size_t)counts[rank];
        all += (size_t)counts[rank];
    }
    code = fly_mpi_ask_fold(r, send, receive, all, r->sizes[r->rank], type, op);
    for (rank = 0; rank < r->size && code == FLY_OK && r->amount == 0; rank++) r->sizes[rank] = 0;
    return code;
}

/* Packs this rank's own block into its place, if the call is in place and gathers the blocks of
   all. */
static inline void fly_mpi_pack_own(fly_mpi_req *r, size_t count) {
    r->in.before = (size_t)r->rank * count;
    r->in.to_pack = count;
}

/* Fills in both sides, of `send_blocks` and `receive_blocks` times the counts; 0: it has none. */
static inline int fly_mpi_ask_blocks(fly_mpi_req *r, const void *send, size_t send_count,
                                     MPI_Datatype send_type, size_t send_blocks, void *receive,
                                     size_t receive_count, MPI_Datatype receive_type,
                                     size_t receive_blocks) {
    int code = FLY_OK;
    if (send_blocks != 0)
        code = fly_mpi_side_of(r, &r->out, "send_count", send, send_count, send_blocks, send_type);
    if (code == FLY_OK && receive_blocks != 0)
        code = fly_mpi_side_of(r, &r->in, "receive_count", receive, receive_count, receive_blocks,
                               receive_type);
    if (code == FLY_OK && send_blocks != 0 && receive_blocks != 0)
        code = fly_mpi_fits(r, send_count, receive_count);
    if (code != FLY_OK) return code;
    r->out.to_pack = send_count * send_blocks;
    r->in.to_unpack = receive_count * receive_blocks;
    r->send = send_blocks == 0 ? FLY_IN_PLACE : fly_mpi_memory(&r->out);
    r->receive = receive_blocks == 0 ? NULL : fly_mpi_memory(&r->in);
    if (send_blocks != 0) {
        r->amount = send_count * r->out.layout.bytes;
        r->signature = fly_mpi_signature(&r->out.layout, send_count);
    } else {
        r->amount = receive_count * r->in.layout.bytes;
        r->signature = fly_mpi_signature(&r->in.layout, receive_count);
    }
    return FLY_OK;
}

static inline int fly_mpi_ask_gather(fly_mpi_req *r, const char *call, const void *send,
                                     size_t send_count, MPI_Datatype send_type, void *receive,
                                     size_t receive_count, MPI_Datatype receive_type, int root,
                                     fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_GATHER, team), in_place = fly_mpi_is_in_place(send);
    if (code == FLY_OK && r->rank != root && in_place)
        code = fly_mpi_fail(FLY_ERR_ARG, "%s: send: in place is for the root", call);
    if (code != FLY_OK) return code;
    r->root = root;
    code = fly_mpi_ask_blocks(r, send, send_count, send_type, in_place ? 0 : 1, receive,
                              receive_count, receive_type,
                              r->rank == root ? (size_t)r->size : 0);
    if (in_place) fly_mpi_pack_own(r, receive_count);
    return code;
}

static inline int fly_mpi_ask_scatter(fly_mpi_req *r, const char *call, const void *send,
                                      size_t send_count, MPI_Datatype send_type, void *receive,
                                      size_t receive_count, MPI_Datatype receive_type, int root,
                                      fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_SCATTER, team);
    int in_place = fly_mpi_is_in_place(receive), here = code == FLY_OK && r->rank == root;
    if (code == FLY_OK && !here && in_place)
        code = fly_mpi_fail(FLY_ERR_ARG, "%s: receive: in place is for the root", call);
    if (code != FLY_OK) return code;
    r->root = root;
    code = fly_mpi_ask_blocks(r, send, send_count, send_type, here ? (size_t)r->size : 0, receive,
                              receive_count, receive_type, in_place ? 0 : 1);
    if (!here) r->send = NULL;
    if (in_place) r->receive = FLY_IN_PLACE;
    return code;
}

static inline int fly_mpi_ask_allgather(fly_mpi_req *r, const char *call, const void *send,
                                        size_t send_count, MPI_Datatype send_type, void *receive,
                                        size_t receive_count, MPI_Datatype receive_type,
                                        fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_ALLGATHER, team), in_place = fly_mpi_is_in_place(send);
    if (code != FLY_OK) return code;
    code = fly_mpi_ask_blocks(r, send, send_count, send_type, in_place ? 0 : 1, receive,
                              receive_count, receive_type, (size_t)r->size);
    if (in_place) fly_mpi_pack_own(r, receive_count);
    return code;
}

static inline int fly_mpi_ask_alltoall(fly_mpi_req *r, const char *call, const void *send,
                                       size_t send_count, MPI_Datatype send_type, void *receive,
                                       size_t receive_count, MPI_Datatype receive_type,
                                       fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_ALLTOALL, team), in_place = fly_mpi_is_in_place(send);
    if (code != FLY_OK) return code;
    code = fly_mpi_ask_blocks(r, send, send_count, send_type, in_place ? 0 : (size_t)r->size,
                              receive, receive_count, receive_type, (size_t)r->size);
    if (in_place) r->in.to_pack = receive_count * (size_t)r->size;
    return code;
}

/* Fills in a side of alltoallv, with its sizes and places in bytes. */
static inline int fly_mpi_side_of_each(const fly_mpi_req *r, fly_mpi_side *side, const char *what,
                                       const void *user, const int counts[], const int at[],
                                       MPI_Datatype type, size_t *sizes, size_t *places) {
    int rank, solid, code;
    size_t all = 0;
    if (counts == NULL || at == NULL)
        return fly_mpi_fail(FLY_ERR_ARG, "%s: %s_counts or %s_at is NULL", r->call, what, what);
    code = fly_mpi_side_of(r, side, what, user, 0, 0, type);
    if (code == FLY_OK)
        code = fly_mpi_counts(r, *what == 's' ? "send_counts" : "receive_counts", counts);
    if (code != FLY_OK) return code;
    solid = fly_mpi_solid(&side->layout, 2);
    for (rank = 0; rank < r->size; rank++) {
        if (counts[rank] != 0 && at[rank] < 0) solid = 0;
        sizes[rank] = (size_t)counts[rank] * side->layout.bytes;
        places[rank] = all;
        all += sizes[rank];
    }
    side->counts = counts;
    side->at = at;
    for (rank = 0; rank < r->size && solid; rank++)
        places[rank] = sizes[rank] == 0 ? 0 : (size_t)at[rank] * side->layout.bytes;
    if (solid || all == 0) return FLY_OK;
    side->packed = (unsigned char *)malloc(all);
    if (side->packed != NULL) return FLY_OK;
    return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory to pack %zu bytes", r->call, all);
}

static inline int fly_mpi_ask_alltoallv(fly_mpi_req *r, const char *call, const void *send,
                                        const int send_counts[], const int send_at[],
                                        MPI_Datatype send_type, void *receive,
                                        const int receive_counts[], const int receive_at[],
                                        MPI_Datatype receive_type, fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_ALLTOALLV, team), in_place = fly_mpi_is_in_place(send);
    size_t size = code == FLY_OK ? (size_t)r->size : 0;
    if (code != FLY_OK) return code;
    r->sizes = (size_t *)calloc(4 * size, sizeof *r->sizes);
    if (r->sizes == NULL) return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory", call);
    code = fly_mpi_side_of_each(r, &r->in, "receive", receive, receive_counts, receive_at,
                                receive_type, r->sizes + 2 * size, r->sizes + 3 * size);
    if (code == FLY_OK && !in_place)
        code = fly_mpi_side_of_each(r, &r->out, "send", send, send_counts, send_at, send_type,
                                    r->sizes, r->sizes + size);
    if (code == FLY_OK && !in_place)
        code = fly_mpi_fits(r, (size_t)send_counts[r->rank], (size_t)receive_counts[r->rank]);
    r->in.to_pack = in_place ? 1 : 0; /* all, or none */
    r->in.to_unpack = r->out.to_pack = 1;
    r->send = in_place ? FLY_IN_PLACE : fly_mpi_memory(&r->out);
    r->receive = fly_mpi_memory(&r->in);
    return code;
}

#define FLY_MPI_CALL_ON(over, name, ...)                                  \
    (form == FLY_MPI_BLOCKING ? fly_##name(over, __VA_ARGS__)             \
     : form == FLY_MPI_BEGUN  ? fly_i##name(over, __VA_ARGS__, &r->inner) \
                              : fly_##name##_init(over, __VA_ARGS__, &r->inner))
#define FLY_MPI_CALL(name, ...) FLY_MPI_CALL_ON(r->team, name, __VA_ARGS__)

static inline int fly_mpi_issue(fly_mpi_req *r, int form) {
    size_t size = (size_t)r->size;
    switch (r->operation) {
    case FLY_MPI_BCAST: return FLY_MPI_CALL(bcast, r->receive, r->amount, r->root);
    case FLY_MPI_REDUCE:
        return FLY_MPI_CALL(reduce, r->send, r->receive, r->amount, &r->fold, r->root);
    case FLY_MPI_ALLREDUCE:
        return FLY_MPI_CALL(allreduce, r->send, r->receive, r->amount, &r->fold);
    case FLY_MPI_REDUCE_SCATTER:
        return FLY_MPI_CALL(reduce_scatter, r->send, r->receive, r->sizes, &r->fold);
    case FLY_MPI_SCAN: return FLY_MPI_CALL(scan, r->send, r->receive, r->amount, &r->fold);
    case FLY_MPI_GATHER: return FLY_MPI_CALL(gather, r->send, r->receive, r->amount, r->root);
    case FLY_MPI_SCATTER: return FLY_MPI_CALL(scatter, r->send, r->receive, r->amount, r->root);
    case FLY_MPI_ALLGATHER: return FLY_MPI_CALL(allgather, r->send, r->receive, r->amount);
    case FLY_MPI_ALLTOALL: return FLY_MPI_CALL(alltoall, r->send, r->receive, r->amount);
    case FLY_MPI_ALLTOALLW:
        return FLY_MPI_CALL(alltoallw, r->send, r->shapes, r->sizes, r->receive,
                            r->shapes + r->outs, r->sizes + r->outs);
    case FLY_MPI_NEIGHBOUR_ALLTOALLW:
        return FLY_MPI_CALL_ON(r->graph, neighbour_alltoallw, r->send, r->shapes, r->sizes,
                               r->receive, r->shapes + r->outs, r->sizes + r->outs);
    default:
        return FLY_MPI_CALL(alltoallv, r->send, r->sizes, r->sizes + size, r->receive,
                            r->sizes + 2 * size, r->sizes + 3 * size);
    }
}

static inline int fly_mpi_go(fly_mpi_req *r, int code, int form) {
    code = fly_mpi_compare(r, code);
    if (code == FLY_OK && form != FLY_MPI_AGAIN) code = fly_mpi_move(r, &r->out, 0);
    if (code == FLY_OK && form != FLY_MPI_AGAIN) code = fly_mpi_move(r, &r->in, 0);
    return code == FLY_OK ? fly_mpi_issue(r, form) : code;
}

static inline int fly_mpi_run(fly_mpi_req *r, int code) {
    code = fly_mpi_go(r, code, FLY_MPI_BLOCKING);
    if (code == FLY_OK) code = fly_mpi_move(r, &r->in, 1);
    fly_mpi_clear(r);
    return code;
}

static inline int fly_mpi_new(const char *call, fly_mpi_req **out, fly_mpi_req **r) {
    if (out == NULL) return fly_mpi_fail(FLY_ERR_ARG, "%s: req is NULL", call);
    *out = NULL;
    *r = (fly_mpi_req *)calloc(1, sizeof **r);
    return *r != NULL ? FLY_OK : fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory", call);
}

static inline int fly_mpi_begin(fly_mpi_req *r, int code, int form, fly_mpi_req **out) {
    code = fly_mpi_go(r, code, form);
    if (code == FLY_OK) {
        r->running = form == FLY_MPI_BEGUN;
        r->persistent = form == FLY_MPI_AGAIN;
        *out = r;
    } else {
        fly_mpi_clear(r);
        free(r);
    }
    return code;
}

#ifdef __cplusplus
}
#endif
#endif
