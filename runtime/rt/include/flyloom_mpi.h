/* flyloom_mpi.h: flyloom beside an MPI: bootstrap over a communicator, MPI types to shapes.
 *
 * Header only, compiled by the program's own mpicc, so that one libflyloom serves every MPI. The
 * functions return FLY_OK or an error of flyloom.h. Collectives of MPI's types and operations are
 * in flyloom_mpi_coll.h, which this file includes.
 */
#ifndef FLYLOOM_MPI_H
#define FLYLOOM_MPI_H

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

#include "flyloom.h"
#include "flyloom_mpi_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    MPI_Comm comm;
} fly_mpi_context;

static inline int fly_mpi_host_allgather(void *ctx, const void *mine, void *all, size_t bytes) {
    fly_mpi_context *context = (fly_mpi_context *)ctx;
    if (!fly_mpi_alive() || bytes > INT_MAX) return 1;
    return MPI_Allgather((void *)(uintptr_t)mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                         context->comm) != MPI_SUCCESS;
}

static inline int fly_mpi_host_isend(void *ctx, int peer, const void *data, size_t bytes,
                                void **handle) {
    fly_mpi_context *context = (fly_mpi_context *)ctx;
    MPI_Request *request;
    if (!fly_mpi_alive() || bytes > INT_MAX) return 1;
    request = (MPI_Request *)malloc(sizeof *request);
    if (request == NULL) return 1;
    if (MPI_Isend((void *)(uintptr_t)data, (int)bytes, MPI_BYTE, peer, 1, context->comm,
                  request) != MPI_SUCCESS) {
        free(request);
        return 1;
    }
    *handle = request;
    return 0;
}

static inline int fly_mpi_host_test(void *ctx, void **handle, int *done) {
    (void)ctx;
    if (!fly_mpi_alive()) return 1;
    if (MPI_Test((MPI_Request *)*handle, done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 1;
    if (*done) {
        free(*handle);
        *handle = NULL;
    }
    return 0;
}

static inline int fly_mpi_host_probe(void *ctx, int *peer, size_t *bytes, void **message) {
    fly_mpi_context *context = (fly_mpi_context *)ctx;
    MPI_Message *found;
    MPI_Message one;
    MPI_Status status;
    int flag = 0, count = 0;
    *peer = -1;
    if (!fly_mpi_alive()) return 1;
    if (MPI_Improbe(MPI_ANY_SOURCE, 1, context->comm, &flag, &one, &status) != MPI_SUCCESS)
        return 1;
    if (!flag) return 0;
    found = (MPI_Message *)malloc(sizeof *found);
    if (found == NULL || MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS) {
        free(found);
        return 1;
    }
    *found = one;
    *peer = status.MPI_SOURCE;
    *bytes = (size_t)count;
    *message = found;
    return 0;
}

static inline int fly_mpi_host_receive(void *ctx, void **message, void *data, size_t bytes) {
    int code;
    (void)ctx;
    if (!fly_mpi_alive()) return 1;
    code = MPI_Mrecv(data, (int)bytes, MPI_BYTE, (MPI_Message *)*message, MPI_STATUS_IGNORE);
    free(*message);
    *message = NULL;
    return code != MPI_SUCCESS;
}

/* A bootstrap over `comm`, which is duplicated: collective over it. To be ended by
   fly_mpi_boot_free after fly_finalize and before MPI_Finalize.
   Errors: STATE (MPI is not initialised, or finalised), NOMEM, TRANSPORT. */
FLY_MPI int fly_mpi_boot(MPI_Comm comm, fly_boot *boot) {
    static const fly_msg_ops OPS = {fly_mpi_host_isend, fly_mpi_host_test, fly_mpi_host_probe,
                                    fly_mpi_host_receive};
    fly_mpi_context *context;
    if (boot == NULL) return FLY_ERR_ARG;
    if (!fly_mpi_alive()) return FLY_ERR_STATE;
    context = (fly_mpi_context *)malloc(sizeof *context);
    if (context == NULL) return FLY_ERR_NOMEM;
    if (MPI_Comm_dup(comm, &context->comm) != MPI_SUCCESS) {
        free(context);
        return FLY_ERR_TRANSPORT;
    }
    MPI_Comm_set_errhandler(context->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(context->comm, &boot->rank);
    MPI_Comm_size(context->comm, &boot->size);
    boot->ctx = context;
    boot->allgather = fly_mpi_host_allgather;
    boot->msg = &OPS;
    return FLY_OK;
}

/* Ends a bootstrap: collective. */
FLY_MPI void fly_mpi_boot_free(fly_boot *boot) {
    fly_mpi_context *context = (fly_mpi_context *)boot->ctx;
    if (context == NULL) return;
    if (fly_mpi_alive()) MPI_Comm_free(&context->comm);
    free(context);
    boot->ctx = NULL;
}

/* The shape of `count` of an MPI type, for fly_put_shape and fly_get_shape: types without gaps, of
   whatever form; one vector or hvector of such. Errors: UNSUPPORTED for others, ARG. Cost: O(size
   of the type's description). */
FLY_MPI int fly_mpi_shape(MPI_Datatype type, size_t count, fly_shape *shape) {
    int integers, addresses, types, combiner, code, numbers[4];
    fly_mpi_layout layout, part;
    MPI_Aint bounds[2];
    MPI_Datatype inner;
    if (shape == NULL) return fly_mpi_fail(FLY_ERR_ARG, "fly_mpi_shape: shape is NULL");
    code = fly_mpi_layout_of("fly_mpi_shape", type, &layout);
    if (code != FLY_OK) return code;
    if (fly_mpi_solid(&layout, count)) {
        shape->blocks = 1;
        shape->block_bytes = count * layout.bytes;
        shape->stride_bytes = 0;
        return FLY_OK;
    }
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (count > 1 || layout.first != 0 ||
        (combiner != MPI_COMBINER_VECTOR && combiner != MPI_COMBINER_HVECTOR) || types != 1 ||
        integers > 4 || addresses > 2)
        return fly_mpi_fail(FLY_ERR_UNSUPPORTED, "fly_mpi_shape: type: not blocks of one size at "
                            "one distance");
    MPI_Type_get_contents(type, integers, addresses, 1, numbers, bounds, &inner);
    code = fly_mpi_layout_of("fly_mpi_shape", inner, &part);
    fly_mpi_drop(&inner);
    if (code != FLY_OK) return code;
    if (!fly_mpi_solid(&part, (size_t)numbers[1]))
        return fly_mpi_fail(FLY_ERR_UNSUPPORTED, "fly_mpi_shape: type: its blocks have gaps");
    shape->blocks = (size_t)numbers[0];
    shape->block_bytes = (size_t)numbers[1] * part.bytes;
    shape->stride_bytes = combiner == MPI_COMBINER_VECTOR ? (ptrdiff_t)numbers[2] * part.extent
                                                          : (ptrdiff_t)bounds[0];
    return FLY_OK;
}

#ifdef __cplusplus
}
#endif

#include "flyloom_mpi_coll.h"
#include "flyloom_mpi_map.h"

#endif
