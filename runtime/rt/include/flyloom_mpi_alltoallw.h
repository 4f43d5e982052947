/* flyloom_mpi_alltoallw.h: how exchanges take a type of an MPI for each block; part of
 * flyloom_mpi_coll.h.
 */
#ifndef FLYLOOM_MPI_ALLTOALLW_H
#define FLYLOOM_MPI_ALLTOALLW_H

#include "flyloom_mpi_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in a side whose blocks have types and places of their own, in bytes; at_ints or at_long is
   NULL. If one block has gaps, all are packed. */
static inline int fly_mpi_side_of_types(const fly_mpi_req *r, fly_mpi_side *side, const char *what,
                                        const void *user, size_t blocks, const int counts[],
                                        const int at_ints[], const MPI_Aint at_long[],
                                        const MPI_Datatype types[], fly_shape *shapes,
                                        size_t *places) {
    size_t i, all = 0;
    int solid = 1, code = FLY_OK;
    if (blocks != 0 && (counts == NULL || types == NULL || (at_ints == NULL && at_long == NULL)))
        return fly_mpi_fail(FLY_ERR_ARG, "%s: %s_counts, %s_at or %s_types is NULL", r->call, what,
                            what, what);
    side->user = (unsigned char *)(uintptr_t)user;
    side->blocks = blocks;
    side->layouts = (fly_mpi_layout *)calloc(blocks + 1, sizeof *side->layouts);
    side->places = (MPI_Aint *)calloc(blocks + 1, sizeof *side->places);
    side->counts = counts;
    side->types = types;
    if (side->layouts == NULL || side->places == NULL)
        return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory", r->call);
    for (i = 0; i < blocks && code == FLY_OK; i++) {
        fly_mpi_layout *one = &side->layouts[i];
        side->places[i] = at_ints != NULL ? (MPI_Aint)at_ints[i] : at_long[i];
        if (counts[i] < 0)
            return fly_mpi_fail(FLY_ERR_ARG, "%s: %s_counts[%zu]: %d is less than none", r->call,
                                what, i, counts[i]);
        if (counts[i] == 0) continue; /* an empty block needs no type */
        code = fly_mpi_layout_of(r->call, types[i], one);
        if (side->places[i] < 0 || !fly_mpi_solid(one, (size_t)counts[i])) solid = 0;
        shapes[i].blocks = one->bytes == 0 ? 0 : 1;
        shapes[i].block_bytes = (size_t)counts[i] * one->bytes;
        places[i] = all;
        all += shapes[i].block_bytes;
    }
    if (code != FLY_OK) return code;
    for (i = 0; i < blocks && solid; i++) places[i] = (size_t)side->places[i];
    for (i = 0; i < blocks && solid; i++)
        if (shapes[i].blocks == 0) places[i] = 0;
    if (solid || all == 0) return FLY_OK;
    side->packed = (unsigned char *)malloc(all);
    return side->packed != NULL ? FLY_OK : fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory to pack %zu "
                                                        "bytes", r->call, all);
}

/* Fills in both sides, of `outs` and `ins` blocks. */
static inline int fly_mpi_ask_types(fly_mpi_req *r, const void *send, size_t outs,
                                    const int send_counts[], const int send_ints[],
                                    const MPI_Aint send_long[], const MPI_Datatype send_types[],
                                    void *receive, size_t ins, const int receive_counts[],
                                    const int receive_ints[], const MPI_Aint receive_long[],
                                    const MPI_Datatype receive_types[]) {
    int in_place = fly_mpi_is_in_place(send), code;
    r->outs = outs;
    r->sizes = (size_t *)calloc(outs + ins + 1, sizeof *r->sizes);
    r->shapes = (fly_shape *)calloc(outs + ins + 1, sizeof *r->shapes);
    if (r->sizes == NULL || r->shapes == NULL)
        return fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory", r->call);
    code = fly_mpi_side_of_types(r, &r->in, "receive", receive, ins, receive_counts, receive_ints,
                                 receive_long, receive_types, r->shapes + outs, r->sizes + outs);
    if (code == FLY_OK && !in_place)
        code = fly_mpi_side_of_types(r, &r->out, "send", send, outs, send_counts, send_ints,
                                     send_long, send_types, r->shapes, r->sizes);
    r->in.to_pack = in_place ? 1 : 0; /* all, or none */
    r->in.to_unpack = r->out.to_pack = 1;
    r->send = in_place ? FLY_IN_PLACE : fly_mpi_memory(&r->out);
    r->receive = fly_mpi_memory(&r->in);
    return code;
}

static inline int fly_mpi_ask_alltoallw(fly_mpi_req *r, const char *call, const void *send,
                                        const int send_counts[], const int send_at[],
                                        const MPI_Datatype send_types[], void *receive,
                                        const int receive_counts[], const int receive_at[],
                                        const MPI_Datatype receive_types[], fly_team *team) {
    int code = fly_mpi_open(r, call, FLY_MPI_ALLTOALLW, team);
    size_t size = code == FLY_OK ? (size_t)r->size : 0;
    if (code != FLY_OK) return code;
    return fly_mpi_ask_types(r, send, size, send_counts, send_at, NULL, send_types, receive, size,
                             receive_counts, receive_at, NULL, receive_types);
}

static inline int fly_mpi_ask_neighbour_alltoallw(fly_mpi_req *r, const char *call,
                                                  const void *send, const int send_counts[],
                                                  const MPI_Aint send_at[],
                                                  const MPI_Datatype send_types[], void *receive,
                                                  const int receive_counts[],
                                                  const MPI_Aint receive_at[],
                                                  const MPI_Datatype receive_types[],
                                                  fly_graph *graph) {
    fly_team *team = NULL;
    size_t ins = 0, outs = 0;
    int code = fly_graph_neighbours(graph, &ins, NULL, &outs, NULL);
    memset(r, 0, sizeof *r);
    if (code == FLY_OK) code = fly_graph_team(graph, &team);
    if (code == FLY_OK) code = fly_mpi_open(r, call, FLY_MPI_NEIGHBOUR_ALLTOALLW, team);
    if (code != FLY_OK) return code;
    r->graph = graph;
    if (fly_mpi_is_in_place(send))
        return fly_mpi_fail(FLY_ERR_ARG, "%s: send: in place is not for it", call);
    return fly_mpi_ask_types(r, send, outs, send_counts, NULL, send_at, send_types, receive, ins,
                             receive_counts, NULL, receive_at, receive_types);
}

#ifdef __cplusplus
}
#endif
#endif
