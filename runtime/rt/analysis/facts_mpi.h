/* What clang's analyser must know of MPI: MPI_Abort does not return. */
#include <mpi.h>

int MPI_Abort(MPI_Comm comm, int code) __attribute__((noreturn));
