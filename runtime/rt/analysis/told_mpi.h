/* What clang's analyser is told of MPI: who aborts does not go on. */
#include <mpi.h>

int MPI_Abort(MPI_Comm comm, int code) __attribute__((noreturn));
