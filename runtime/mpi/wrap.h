/* Defines calls of MPI in a preloaded library by both of their names, MPI_X and PMPI_X.
 *
 * The including file defines WRAP_LOOK_UP: a function that finds a name in the libraries after it.
 */
#ifndef FLYLOOM_WRAP_H
#define FLYLOOM_WRAP_H

#define API __attribute__((visibility("default")))

/* The pointer `real` to the library's own function. */
#define REAL(name)                                                                                \
    static __typeof__(&MPI_##name) kept;                                                          \
    __typeof__(&MPI_##name) real = __atomic_load_n(&kept, __ATOMIC_RELAXED);                      \
    if (real == NULL) {                                                                           \
        real = (__typeof__(&MPI_##name))WRAP_LOOK_UP("PMPI_" #name);                              \
        if (real == NULL) return MPI_ERR_INTERN;                                                  \
        __atomic_store_n(&kept, real, __ATOMIC_RELAXED);                                          \
    }

#define ALIAS(name)                                                                               \
    extern __typeof__(MPI_##name) PMPI_##name                                                     \
        __attribute__((alias("MPI_" #name), visibility("default")));

#endif
