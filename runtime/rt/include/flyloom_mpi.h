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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flyloom.h"
#include "flyloom_mpi_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Messages of up to FLY_MPI_ROOM bytes come into one of FLY_MPI_POSTED receives that are posted in
   advance; a longer one is a message of 8 bytes with its size, followed by another. */
enum { FLY_MPI_ROOM = 8192, FLY_MPI_POSTED = 4 };
enum { FLY_MPI_SHORT = 1, FLY_MPI_LONG = 2 }; /* tags */

typedef struct {
    MPI_Comm comm;
    MPI_Request posted[FLY_MPI_POSTED];
    unsigned char *rooms; /* a buffer for each posted receive; NULL: none is posted yet */
    int next;             /* the receive that was posted first, and is matched first */
    int peer;             /* the peer whose message is in that buffer */
} fly_mpi_context;

typedef struct {
    MPI_Request parts[2];
    int count;
    uint64_t bytes;
} fly_mpi_sending;

static inline int fly_mpi_host_allgather(void *ctx, const void *mine, void *all, size_t bytes) {
    fly_mpi_context *context = (fly_mpi_context *)ctx;
    if (!fly_mpi_alive() || bytes > INT_MAX) return 1;
    return MPI_Allgather((void *)(uintptr_t)mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                         context->comm) != MPI_SUCCESS;
}

static inline int fly_mpi_host_isend(void *ctx, int peer, const void *data, size_t bytes,
                                     void **handle) {
    fly_mpi_context *context = (fly_mpi_context *)ctx;
    fly_mpi_sending *sending;
    int tag = FLY_MPI_SHORT, code = MPI_SUCCESS;
    if (!fly_mpi_alive() || bytes > INT_MAX) return 1;
    sending = (fly_mpi_sending *)malloc(sizeof *sending);
    if (sending == NULL) return 1;
    sending->count = 0;
    if (bytes > FLY_MPI_ROOM || bytes == sizeof sending->bytes) {
        sending->bytes = bytes;
        tag = FLY_MPI_LONG;
        code = MPI_Isend(&sending->bytes, (int)sizeof sending->bytes, MPI_BYTE, peer,
                         FLY_MPI_SHORT, context->comm, &sending->parts[sending->count++]);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Isend((void *)(uintptr_t)data, (int)bytes, MPI_BYTE, peer, tag, context->comm,
                         &sending->parts[sending->count++]);
    if (code != MPI_SUCCESS) {
        if (sending->count < 2) free(sending); /* else MPI still reads the size */
        return 1;
    }
    *handle = sending;
    return 0;
}

static inline int fly_mpi_host_test(void *ctx, void **handle, int *done) {
    fly_mpi_sending *sending = (fly_mpi_sending *)*handle;
    int i;
    (void)ctx;
    if (!fly_mpi_alive()) return 1;
    *done = 1;
    for (i = 0; i < sending->count && *done; i++)
        if (MPI_Test(&sending->parts[i], done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 1;
    if (*done) {
        free(sending);
        *handle = NULL;
    }
    return 0;
}

static inline int fly_mpi_host_post(fly_mpi_context *context, int i) {
    return MPI_Irecv(context->rooms + (size_t)i * FLY_MPI_ROOM, FLY_MPI_ROOM, MPI_BYTE,
                     MPI_ANY_SOURCE, FLY_MPI_SHORT, context->comm,
                     &context->posted[i]) != MPI_SUCCESS;
}

static inline int fly_mpi_host_begin(fly_mpi_context *context) {
    int i;
    context->rooms = (unsigned char *)malloc((size_t)FLY_MPI_POSTED * FLY_MPI_ROOM);
    if (context->rooms == NULL) return 1;
    for (i = 0; i < FLY_MPI_POSTED; i++)
        if (fly_mpi_host_post(context, i) != 0) return 1;
    return 0;
}

static inline int fly_mpi_host_probe(void *ctx, int *peer, size_t *bytes, void **message) {
    fly_mpi_context *context = (fly_mpi_context *)ctx;
    MPI_Status status;
    uint64_t size;
    int flag = 0, count = 0;
    *peer = -1;
    if (!fly_mpi_alive()) return 1;
    if (context->rooms == NULL && fly_mpi_host_begin(context) != 0) return 1;
    if (context->posted[context->next] == MPI_REQUEST_NULL ||
        MPI_Test(&context->posted[context->next], &flag, &status) != MPI_SUCCESS)
        return 1;
    if (!flag) return 0;
    if (MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS) return 1;
    *message = context->rooms + (size_t)context->next * FLY_MPI_ROOM;
    *bytes = (size_t)count;
    if (count == (int)sizeof size) { /* how long the next one is */
        memcpy(&size, *message, sizeof size);
        *bytes = (size_t)size;
        *message = NULL;
    }
    *peer = context->peer = status.MPI_SOURCE;
    return 0;
}

static inline int fly_mpi_host_receive(void *ctx, void **message, void *data, size_t bytes) {
    fly_mpi_context *context = (fly_mpi_context *)ctx;
    int slot = context->next, code = MPI_SUCCESS;
    if (!fly_mpi_alive()) return 1;
    if (*message != NULL)
        memcpy(data, *message, bytes);
    else
        code = MPI_Recv(data, (int)bytes, MPI_BYTE, context->peer, FLY_MPI_LONG, context->comm,
                        MPI_STATUS_IGNORE);
    context->next = (slot + 1) % FLY_MPI_POSTED;
    *message = NULL;
    return fly_mpi_host_post(context, slot) != 0 || code != MPI_SUCCESS;
}

/* Cancels the receives that are posted, since no message will come for them. */
static inline void fly_mpi_host_end(fly_mpi_context *context) {
    int i;
    for (i = 0; i < FLY_MPI_POSTED; i++) {
        if (context->posted[i] == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&context->posted[i]);
        MPI_Wait(&context->posted[i], MPI_STATUS_IGNORE);
    }
}

/* A bootstrap over `comm`, which is duplicated: collective over it. To be ended by
   fly_mpi_boot_free after fly_finalize and before MPI_Finalize.
   Errors: STATE (MPI is not initialised, or finalised), NOMEM, TRANSPORT. */
FLY_MPI int fly_mpi_boot(MPI_Comm comm, fly_boot *boot) {
    static const fly_msg_ops OPS = {fly_mpi_host_isend, fly_mpi_host_test, fly_mpi_host_probe,
                                    fly_mpi_host_receive};
    fly_mpi_context *context;
    int i;
    if (boot == NULL) return FLY_ERR_ARG;
    if (!fly_mpi_alive()) return FLY_ERR_STATE;
    context = (fly_mpi_context *)calloc(1, sizeof *context);
    if (context == NULL) return FLY_ERR_NOMEM;
    for (i = 0; i < FLY_MPI_POSTED; i++) context->posted[i] = MPI_REQUEST_NULL;
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
    if (fly_mpi_alive()) {
        fly_mpi_host_end(context);
        MPI_Comm_free(&context->comm);
    }
    free(context->rooms);
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
