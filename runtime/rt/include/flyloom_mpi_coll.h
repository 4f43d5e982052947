/* flyloom_mpi_coll.h: collectives of flyloom with the types and operations of an MPI.
 *
 * As MPI's own calls, with a team in place of the communicator, and each in three forms as in
 * flyloom_coll.h. Types may have gaps, and send and receive types may differ as MPI allows: what
 * is not one block of bytes is packed before and unpacked after. Operations are MPI's own and those
 * of MPI_Op_create, commutative or not; these go by MPI_Reduce_local, perhaps in the progress
 * thread, for which MPI then needs MPI_THREAD_MULTIPLE. MPI_IN_PLACE and FLY_IN_PLACE are the same.
 * Types, operations and arrays stay until the call returns or its request is freed.
 *
 * Errors of all, besides those of flyloom_coll.h: ARG (a type or an operation that is null, does
 * not fit the other, or, where a rank gives two types, sends what it does not receive; with
 * FLYLOOM_CHECK=1 also types or operations that differ between ranks), UNSUPPORTED (an element of
 * more than 65536 bytes that MPI folds), STATE (MPI is not initialised). Cost: that of the call
 * without MPI's types; O(size of the types' descriptions); where a type has gaps a copy of the
 * bytes before and after, and memory for it.
 */
#ifndef FLYLOOM_MPI_COLL_H
#define FLYLOOM_MPI_COLL_H

#include "flyloom_mpi_alltoallw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A collective that has been begun, or that can be begun again. `inner` may be given to fly_testany
   and fly_waitany; fly_mpi_wait comes after all the same. */
typedef struct fly_mpi_req fly_mpi_req;

/* Copies `count` of a type at `buffer` of `root` to `buffer` of all, as fly_bcast. Errors: RANK
   (root), ARG, UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_bcast. */
FLY_MPI int fly_mpi_bcast(void *buffer, size_t count, MPI_Datatype type, int root, fly_team *team);

/* Begins what fly_mpi_bcast does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_bcast. */
FLY_MPI int fly_mpi_ibcast(void *buffer, size_t count, MPI_Datatype type, int root, fly_team *team,
                           fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_bcast, again and again. Errors: as
   fly_mpi_bcast. */
FLY_MPI int fly_mpi_bcast_init(void *buffer, size_t count, MPI_Datatype type, int root,
                               fly_team *team, fly_mpi_req **req);

/* Folds `count` of a type of all by an operation into `receive` of `root`, as fly_reduce.
   Errors: RANK (root), ARG, UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_reduce. */
FLY_MPI int fly_mpi_reduce(const void *send, void *receive, size_t count, MPI_Datatype type,
                           MPI_Op op, int root, fly_team *team);

/* Begins what fly_mpi_reduce does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_reduce. */
FLY_MPI int fly_mpi_ireduce(const void *send, void *receive, size_t count, MPI_Datatype type,
                            MPI_Op op, int root, fly_team *team, fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_reduce, again and again. Errors: as
   fly_mpi_reduce. */
FLY_MPI int fly_mpi_reduce_init(const void *send, void *receive, size_t count, MPI_Datatype type,
                                MPI_Op op, int root, fly_team *team, fly_mpi_req **req);

/* Folds `count` of a type of all by an operation into `receive` of all, as fly_allreduce.
   Errors: ARG, UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_allreduce. */
FLY_MPI int fly_mpi_allreduce(const void *send, void *receive, size_t count, MPI_Datatype type,
                              MPI_Op op, fly_team *team);

/* Begins what fly_mpi_allreduce does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_allreduce. */
FLY_MPI int fly_mpi_iallreduce(const void *send, void *receive, size_t count, MPI_Datatype type,
                               MPI_Op op, fly_team *team, fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_allreduce, again and again. Errors: as
   fly_mpi_allreduce. */
FLY_MPI int fly_mpi_allreduce_init(const void *send, void *receive, size_t count, MPI_Datatype type,
                                   MPI_Op op, fly_team *team, fly_mpi_req **req);

/* Folds elements of all by an operation, and gives rank r its counts[r] of them, as
   fly_reduce_scatter. Errors: ARG, UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_reduce_scatter. */
FLY_MPI int fly_mpi_reduce_scatter(const void *send, void *receive, const int counts[],
                                   MPI_Datatype type, MPI_Op op, fly_team *team);

/* Begins what fly_mpi_reduce_scatter does; *req ends with fly_mpi_test or fly_mpi_wait, and is
   freed. Errors: as fly_mpi_reduce_scatter. */
FLY_MPI int fly_mpi_ireduce_scatter(const void *send, void *receive, const int counts[],
                                    MPI_Datatype type, MPI_Op op, fly_team *team,
                                    fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_reduce_scatter, again and again. Errors:
   as fly_mpi_reduce_scatter. */
FLY_MPI int fly_mpi_reduce_scatter_init(const void *send, void *receive, const int counts[],
                                        MPI_Datatype type, MPI_Op op, fly_team *team,
                                        fly_mpi_req **req);

/* Folds `count` of a type of ranks 0 to r by an operation into `receive` of rank r, as fly_scan.
   Errors: ARG, UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_scan. */
FLY_MPI int fly_mpi_scan(const void *send, void *receive, size_t count, MPI_Datatype type,
                         MPI_Op op, fly_team *team);

/* Begins what fly_mpi_scan does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_scan. */
FLY_MPI int fly_mpi_iscan(const void *send, void *receive, size_t count, MPI_Datatype type,
                          MPI_Op op, fly_team *team, fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_scan, again and again. Errors: as
   fly_mpi_scan. */
FLY_MPI int fly_mpi_scan_init(const void *send, void *receive, size_t count, MPI_Datatype type,
                              MPI_Op op, fly_team *team, fly_mpi_req **req);

/* Puts what each rank sends into `receive` of `root`, one rank's behind the other's, as
   fly_gather; what is for receiving counts at the root alone. Errors: RANK (root), ARG,
   UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_gather. */
FLY_MPI int fly_mpi_gather(const void *send, size_t send_count, MPI_Datatype send_type,
                           void *receive, size_t receive_count, MPI_Datatype receive_type, int root,
                           fly_team *team);

/* Begins what fly_mpi_gather does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_gather. */
FLY_MPI int fly_mpi_igather(const void *send, size_t send_count, MPI_Datatype send_type,
                            void *receive, size_t receive_count, MPI_Datatype receive_type,
                            int root, fly_team *team, fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_gather, again and again. Errors: as
   fly_mpi_gather. */
FLY_MPI int fly_mpi_gather_init(const void *send, size_t send_count, MPI_Datatype send_type,
                                void *receive, size_t receive_count, MPI_Datatype receive_type,
                                int root, fly_team *team, fly_mpi_req **req);

/* Gives each rank its `send_count` of what stands at `send` of `root`, as fly_scatter; what is
   for sending counts at the root alone. Errors: RANK (root), ARG, UNSUPPORTED, STATE, PEER,
   NOMEM. Cost: as fly_scatter. */
FLY_MPI int fly_mpi_scatter(const void *send, size_t send_count, MPI_Datatype send_type,
                            void *receive, size_t receive_count, MPI_Datatype receive_type,
                            int root, fly_team *team);

/* Begins what fly_mpi_scatter does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_scatter. */
FLY_MPI int fly_mpi_iscatter(const void *send, size_t send_count, MPI_Datatype send_type,
                             void *receive, size_t receive_count, MPI_Datatype receive_type,
                             int root, fly_team *team, fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_scatter, again and again. Errors: as
   fly_mpi_scatter. */
FLY_MPI int fly_mpi_scatter_init(const void *send, size_t send_count, MPI_Datatype send_type,
                                 void *receive, size_t receive_count, MPI_Datatype receive_type,
                                 int root, fly_team *team, fly_mpi_req **req);

/* Puts what each rank sends into `receive` of all, one rank's behind the other's, as
   fly_allgather. Errors: ARG, UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_allgather. */
FLY_MPI int fly_mpi_allgather(const void *send, size_t send_count, MPI_Datatype send_type,
                              void *receive, size_t receive_count, MPI_Datatype receive_type,
                              fly_team *team);

/* Begins what fly_mpi_allgather does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_allgather. */
FLY_MPI int fly_mpi_iallgather(const void *send, size_t send_count, MPI_Datatype send_type,
                               void *receive, size_t receive_count, MPI_Datatype receive_type,
                               fly_team *team, fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_allgather, again and again. Errors: as
   fly_mpi_allgather. */
FLY_MPI int fly_mpi_allgather_init(const void *send, size_t send_count, MPI_Datatype send_type,
                                   void *receive, size_t receive_count, MPI_Datatype receive_type,
                                   fly_team *team, fly_mpi_req **req);

/* Gives each rank its `send_count` of every rank, as fly_alltoall. Errors: ARG, UNSUPPORTED,
   STATE, PEER, NOMEM. Cost: as fly_alltoall. */
FLY_MPI int fly_mpi_alltoall(const void *send, size_t send_count, MPI_Datatype send_type,
                             void *receive, size_t receive_count, MPI_Datatype receive_type,
                             fly_team *team);

/* Begins what fly_mpi_alltoall does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_alltoall. */
FLY_MPI int fly_mpi_ialltoall(const void *send, size_t send_count, MPI_Datatype send_type,
                              void *receive, size_t receive_count, MPI_Datatype receive_type,
                              fly_team *team, fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_alltoall, again and again. Errors: as
   fly_mpi_alltoall. */
FLY_MPI int fly_mpi_alltoall_init(const void *send, size_t send_count, MPI_Datatype send_type,
                                  void *receive, size_t receive_count, MPI_Datatype receive_type,
                                  fly_team *team, fly_mpi_req **req);

/* Gives each rank as many of every rank as the counts say, from and to places in elements, as
   fly_alltoallv. Errors: ARG, UNSUPPORTED, STATE, PEER, NOMEM. Cost: as fly_alltoallv. */
FLY_MPI int fly_mpi_alltoallv(const void *send, const int send_counts[], const int send_at[],
                              MPI_Datatype send_type, void *receive, const int receive_counts[],
                              const int receive_at[], MPI_Datatype receive_type, fly_team *team);

/* Begins what fly_mpi_alltoallv does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_alltoallv. */
FLY_MPI int fly_mpi_ialltoallv(const void *send, const int send_counts[], const int send_at[],
                               MPI_Datatype send_type, void *receive, const int receive_counts[],
                               const int receive_at[], MPI_Datatype receive_type, fly_team *team,
                               fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_alltoallv, again and again. Errors: as
   fly_mpi_alltoallv. */
FLY_MPI int fly_mpi_alltoallv_init(const void *send, const int send_counts[], const int send_at[],
                                   MPI_Datatype send_type, void *receive,
                                   const int receive_counts[], const int receive_at[],
                                   MPI_Datatype receive_type, fly_team *team, fly_mpi_req **req);

/* Gives each rank blocks of types of their own, from and to places in bytes, as fly_alltoallw with
   MPI's types. A block without elements needs no type. Errors: ARG, UNSUPPORTED, STATE, PEER,
   NOMEM. Cost: as fly_alltoallv; where one block has gaps all of that side are copied. */
FLY_MPI int fly_mpi_alltoallw(const void *send, const int send_counts[], const int send_at[],
                              const MPI_Datatype send_types[], void *receive,
                              const int receive_counts[], const int receive_at[],
                              const MPI_Datatype receive_types[], fly_team *team);

/* Begins what fly_mpi_alltoallw does; *req ends with fly_mpi_test or fly_mpi_wait, and is freed.
   Errors: as fly_mpi_alltoallw. */
FLY_MPI int fly_mpi_ialltoallw(const void *send, const int send_counts[], const int send_at[],
                               const MPI_Datatype send_types[], void *receive,
                               const int receive_counts[], const int receive_at[],
                               const MPI_Datatype receive_types[], fly_team *team,
                               fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_alltoallw, again and again. Errors: as
   fly_mpi_alltoallw. */
FLY_MPI int fly_mpi_alltoallw_init(const void *send, const int send_counts[], const int send_at[],
                                   const MPI_Datatype send_types[], void *receive,
                                   const int receive_counts[], const int receive_at[],
                                   const MPI_Datatype receive_types[], fly_team *team,
                                   fly_mpi_req **req);

/* Gives each neighbour of a graph blocks of types of their own, from and to places in bytes, as
   MPI_Neighbor_alltoallw. A block without elements needs no type. Errors: ARG, UNSUPPORTED, STATE,
   PEER, NOMEM. Cost: as fly_neighbour_alltoallw; where one block has gaps all of that side are
   copied. */
FLY_MPI int fly_mpi_neighbour_alltoallw(const void *send, const int send_counts[],
                                        const MPI_Aint send_at[], const MPI_Datatype send_types[],
                                        void *receive, const int receive_counts[],
                                        const MPI_Aint receive_at[],
                                        const MPI_Datatype receive_types[], fly_graph *graph);

/* Begins what fly_mpi_neighbour_alltoallw does; *req ends with fly_mpi_test or fly_mpi_wait, and is
   freed. Errors: as fly_mpi_neighbour_alltoallw. */
FLY_MPI int fly_mpi_ineighbour_alltoallw(const void *send, const int send_counts[],
                                         const MPI_Aint send_at[], const MPI_Datatype send_types[],
                                         void *receive, const int receive_counts[],
                                         const MPI_Aint receive_at[],
                                         const MPI_Datatype receive_types[], fly_graph *graph,
                                         fly_mpi_req **req);

/* Makes a request that fly_mpi_start begins as fly_mpi_neighbour_alltoallw, again and again.
   Errors: as fly_mpi_neighbour_alltoallw. */
FLY_MPI int fly_mpi_neighbour_alltoallw_init(const void *send, const int send_counts[],
                                             const MPI_Aint send_at[],
                                             const MPI_Datatype send_types[], void *receive,
                                             const int receive_counts[],
                                             const MPI_Aint receive_at[],
                                             const MPI_Datatype receive_types[], fly_graph *graph,
                                             fly_mpi_req **req);

/* Begins a request of fly_mpi_..._init. Errors: STATE (it is active, or starts once), ARG, PEER.
   Cost: that of a kept schedule, and packing. */
FLY_MPI int fly_mpi_start(fly_mpi_req *req);

/* Whether a request is complete; *flag 1: what it receives is in its place. Errors: ARG, PEER.
   Cost: as fly_test, and unpacking. */
FLY_MPI int fly_mpi_test(fly_mpi_req *req, int *flag);

/* Waits until a request is complete, and unpacks. Errors: as fly_mpi_test. */
FLY_MPI int fly_mpi_wait(fly_mpi_req *req);

/* Frees a request and sets *req to NULL. Errors: STATE until it was waited for, ARG. Cost: O(1). */
FLY_MPI int fly_mpi_req_free(fly_mpi_req **req);

FLY_MPI int fly_mpi_start(fly_mpi_req *req) {
    int code;
    if (req == NULL) return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_start: req is NULL");
    if (req->running || !req->persistent)
        return fly_mpi_fail(FLY_ERR_STATE, "fly_mpi_start: req: %s", req->running
                            ? "it is active; test or wait first" : "it starts once");
    code = fly_mpi_move(req, &req->out, 0);
    if (code == FLY_OK) code = fly_mpi_move(req, &req->in, 0);
    if (code == FLY_OK) code = fly_start(req->inner);
    req->running = code == FLY_OK;
    return code;
}

static inline int fly_mpi_finished(fly_mpi_req *req, int code) {
    req->running = 0;
    return code == FLY_OK ? fly_mpi_move(req, &req->in, 1) : code;
}

FLY_MPI int fly_mpi_test(fly_mpi_req *req, int *flag) {
    int code, done = 0;
    if (req == NULL || flag == NULL)
        return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_test: req or flag is NULL");
    *flag = !req->running;
    if (*flag) return FLY_OK;
    code = fly_test(req->inner, &done, NULL);
    if (!done) return code;
    *flag = 1;
    return fly_mpi_finished(req, code);
}

FLY_MPI int fly_mpi_wait(fly_mpi_req *req) {
    if (req == NULL) return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_wait: req is NULL");
    return req->running ? fly_mpi_finished(req, fly_wait(req->inner, NULL)) : FLY_OK;
}

FLY_MPI int fly_mpi_req_free(fly_mpi_req **req) {
    int code;
    if (req == NULL || *req == NULL)
        return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_req_free: req is NULL");
    if ((*req)->running)
        return fly_mpi_fail(FLY_ERR_STATE, "fly_mpi_req_free: req: it was not waited for");
    code = fly_req_free(&(*req)->inner);
    if (code != FLY_OK) return code;
    fly_mpi_clear(*req);
    free(*req);
    *req = NULL;
    return FLY_OK;
}

#define FLY_MPI_PASS(...) __VA_ARGS__
/* The three forms of an operation, from what asks and checks. */
#define FLY_MPI_FORMS(name, values, ...)                                                       \
    FLY_MPI int fly_mpi_##name(__VA_ARGS__) {                                                  \
        fly_mpi_req r;                                                                         \
        return fly_mpi_run(                                                                    \
            &r, fly_mpi_ask_##name(&r, "fly_mpi_" #name, FLY_MPI_PASS values));                \
    }                                                                                          \
    FLY_MPI int fly_mpi_i##name(__VA_ARGS__, fly_mpi_req **req) {                              \
        fly_mpi_req *r = NULL;                                                                 \
        int code = fly_mpi_new("fly_mpi_i" #name, req, &r);                                    \
        if (code != FLY_OK) return code;                                                       \
        code = fly_mpi_ask_##name(r, "fly_mpi_i" #name, FLY_MPI_PASS values);                  \
        return fly_mpi_begin(r, code, FLY_MPI_BEGUN, req);                                     \
    }                                                                                          \
    FLY_MPI int fly_mpi_##name##_init(__VA_ARGS__, fly_mpi_req **req) {                        \
        fly_mpi_req *r = NULL;                                                                 \
        int code = fly_mpi_new("fly_mpi_" #name "_init", req, &r);                             \
        if (code != FLY_OK) return code;                                                       \
        code = fly_mpi_ask_##name(r, "fly_mpi_" #name "_init", FLY_MPI_PASS values);           \
        return fly_mpi_begin(r, code, FLY_MPI_AGAIN, req);                                     \
    }

FLY_MPI_FORMS(bcast, (buffer, count, type, root, team),
              void *buffer, size_t count, MPI_Datatype type, int root, fly_team *team)
FLY_MPI_FORMS(reduce, (send, receive, count, type, op, root, team),
              const void *send, void *receive, size_t count, MPI_Datatype type, MPI_Op op, int root,
              fly_team *team)
FLY_MPI_FORMS(allreduce, (send, receive, count, type, op, team),
              const void *send, void *receive, size_t count, MPI_Datatype type, MPI_Op op,
              fly_team *team)
FLY_MPI_FORMS(reduce_scatter, (send, receive, counts, type, op, team),
              const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op,
              fly_team *team)
FLY_MPI_FORMS(scan, (send, receive, count, type, op, team),
              const void *send, void *receive, size_t count, MPI_Datatype type, MPI_Op op,
              fly_team *team)
FLY_MPI_FORMS(gather, (send, send_count, send_type, receive, receive_count, receive_type, root,
                       team),
              const void *send, size_t send_count, MPI_Datatype send_type, void *receive, size_t
              receive_count, MPI_Datatype receive_type, int root, fly_team *team)
FLY_MPI_FORMS(scatter, (send, send_count, send_type, receive, receive_count, receive_type, root,
                        team),
              const void *send, size_t send_count, MPI_Datatype send_type, void *receive, size_t
              receive_count, MPI_Datatype receive_type, int root, fly_team *team)
FLY_MPI_FORMS(allgather, (send, send_count, send_type, receive, receive_count, receive_type, team),
              const void *send, size_t send_count, MPI_Datatype send_type, void *receive, size_t
              receive_count, MPI_Datatype receive_type, fly_team *team)
FLY_MPI_FORMS(alltoall, (send, send_count, send_type, receive, receive_count, receive_type, team),
              const void *send, size_t send_count, MPI_Datatype send_type, void *receive, size_t
              receive_count, MPI_Datatype receive_type, fly_team *team)
FLY_MPI_FORMS(alltoallv, (send, send_counts, send_at, send_type, receive, receive_counts,
                          receive_at, receive_type, team),
              const void *send, const int send_counts[], const int send_at[], MPI_Datatype
              send_type, void *receive, const int receive_counts[], const int receive_at[],
              MPI_Datatype receive_type, fly_team *team)
FLY_MPI_FORMS(alltoallw, (send, send_counts, send_at, send_types, receive, receive_counts,
                          receive_at, receive_types, team),
              const void *send, const int send_counts[], const int send_at[], const MPI_Datatype
              send_types[], void *receive, const int receive_counts[], const int receive_at[],
              const MPI_Datatype receive_types[], fly_team *team)
FLY_MPI_FORMS(neighbour_alltoallw, (send, send_counts, send_at, send_types, receive,
                                    receive_counts, receive_at, receive_types, graph),
              const void *send, const int send_counts[], const MPI_Aint send_at[], const
              MPI_Datatype send_types[], void *receive, const int receive_counts[], const MPI_Aint
              receive_at[], const MPI_Datatype receive_types[], fly_graph *graph)

#ifdef __cplusplus
}
#endif
#endif
