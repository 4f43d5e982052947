/* What these programs share: how the runtime starts and ends, and what an error does. */
#ifndef START_H
#define START_H

#include <flyloom_mpi.h>
#include <stdio.h>

static inline void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Every call of the runtime says whether it worked. */
#define DO(call) check(#call, call)

/* After MPI_Init: the team of all ranks of `comm`, by their numbers there. */
static inline fly_team *start(MPI_Comm comm, fly_boot *boot, fly_rt **rt) {
    DO(fly_mpi_boot(comm, boot));
    DO(fly_init(boot, NULL, rt));
    return fly_world(*rt);
}

/* Before MPI_Finalize. */
static inline void finish(fly_boot *boot, fly_rt **rt) {
    DO(fly_finalize(rt));
    fly_mpi_boot_free(boot);
}

#endif
