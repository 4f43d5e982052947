/* flyloom_pmix.h: flyloom under a launcher that speaks PMIx: prterun, mpirun of Open MPI, srun.
 *
 * Header only, compiled with PMIx's own flags (pkg-config pmix), so that libflyloom needs no PMIx.
 * The functions return FLY_OK or an error of flyloom.h.
 */
#ifndef FLYLOOM_PMIX_H
#define FLYLOOM_PMIX_H

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flyloom.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The calls for users. */
#define FLY_PMIX static inline

typedef struct {
    pmix_proc_t own;
    int size;
} fly_pmix_context;

/* Counts the rounds of all bootstraps of this process: what was put under a key stays. */
static inline unsigned *fly_pmix_rounds(void) {
    static unsigned rounds;
    return &rounds;
}

static inline int fly_pmix_fence(const fly_pmix_context *context) {
    pmix_proc_t all;
    pmix_info_t collect;
    bool yes = true;
    pmix_status_t code;
    PMIX_PROC_LOAD(&all, context->own.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    code = PMIx_Fence(&all, 1, &collect, 1);
    PMIX_INFO_DESTRUCT(&collect);
    return code == PMIX_SUCCESS ? 0 : 1;
}

static inline int fly_pmix_allgather(void *ctx, const void *mine, void *all, size_t bytes) {
    fly_pmix_context *context = (fly_pmix_context *)ctx;
    pmix_value_t value;
    char key[64];
    int rank;
    snprintf(key, sizeof key, "flyloom.%u", (*fly_pmix_rounds())++);
    memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = (char *)(uintptr_t)mine; /* PMIx copies it */
    value.data.bo.size = bytes;
    if (PMIx_Put(PMIX_GLOBAL, key, &value) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS ||
        fly_pmix_fence(context) != 0)
        return 1;
    for (rank = 0; rank < context->size; rank++) {
        pmix_proc_t other;
        pmix_value_t *got = NULL;
        int whole;
        PMIX_PROC_LOAD(&other, context->own.nspace, (pmix_rank_t)rank);
        if (PMIx_Get(&other, key, NULL, 0, &got) != PMIX_SUCCESS || got == NULL) return 2;
        whole = got->type == PMIX_BYTE_OBJECT && got->data.bo.size == bytes;
        if (whole && bytes != 0)
            memcpy((char *)all + (size_t)rank * bytes, got->data.bo.bytes, bytes);
        PMIX_VALUE_RELEASE(got);
        if (!whole) return 3;
    }
    return 0;
}

static inline void fly_pmix_end(void) { PMIx_Finalize(NULL, 0); }

/* Keeps the connection to the launcher until the process ends: a process that has left cannot
   safely connect again. */
static inline int fly_pmix_stay(void) {
    static int stays;
    pmix_proc_t own;
    if (stays) return 0;
    if (PMIx_Init(&own, NULL, 0) != PMIX_SUCCESS) return 1;
    stays = atexit(fly_pmix_end) == 0;
    return 0;
}

/* Bootstrap over all processes of the launcher's job: collective. To be ended by
   fly_pmix_boot_free, after fly_finalize.
   Errors: ARG, STATE (no launcher that speaks PMIx started this process), NOMEM, TRANSPORT. */
FLY_PMIX int fly_pmix_boot(fly_boot *boot) {
    fly_pmix_context *context;
    pmix_proc_t job;
    pmix_value_t *size = NULL;
    if (boot == NULL) return FLY_ERR_ARG;
    if (getenv("PMIX_NAMESPACE") == NULL) return FLY_ERR_STATE;
    context = (fly_pmix_context *)calloc(1, sizeof *context);
    if (context == NULL) return FLY_ERR_NOMEM;
    if (fly_pmix_stay() != 0 || PMIx_Init(&context->own, NULL, 0) != PMIX_SUCCESS) {
        free(context);
        return FLY_ERR_STATE;
    }
    PMIX_PROC_LOAD(&job, context->own.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size) == PMIX_SUCCESS && size != NULL) {
        context->size = (int)size->data.uint32;
        PMIX_VALUE_RELEASE(size);
    }
    if (context->size < 1) {
        PMIx_Finalize(NULL, 0);
        free(context);
        return FLY_ERR_TRANSPORT;
    }
    memset(boot, 0, sizeof *boot);
    boot->rank = (int)context->own.rank;
    boot->size = context->size;
    boot->ctx = context;
    boot->allgather = fly_pmix_allgather;
    return FLY_OK;
}

/* Ends a bootstrap: after fly_finalize. The connection to the launcher stays until the process
   ends. */
FLY_PMIX void fly_pmix_boot_free(fly_boot *boot) {
    if (boot == NULL || boot->ctx == NULL) return;
    PMIx_Finalize(NULL, 0);
    free(boot->ctx);
    boot->ctx = NULL;
}

#ifdef __cplusplus
}
#endif
#endif
