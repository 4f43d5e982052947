/* Requests by their handles, and the calls that complete them: what receives share with them. */
#ifndef FLYLOOM_RECORD_REQUESTS_H
#define FLYLOOM_RECORD_REQUESTS_H

#include "record.h"

/* Defines a call that is recorded with the calls alone. */
#define CALLED(name, parameters, arguments, before, ...)                                          \
    API int MPI_##name parameters {                                                               \
        REAL(name)                                                                                \
        if (!rec_calls || !rec_enter()) return real arguments;                                    \
        before;                                                                                   \
        int code = real arguments;                                                                \
        rec_leave();                                                                              \
        if (code == MPI_SUCCESS) {                                                                \
            __VA_ARGS__;                                                                          \
        }                                                                                         \
        return code;                                                                              \
    }                                                                                             \
    ALIAS(name)

/* Takes the place of a status that the program ignores. */
#define STATUS                                                                                    \
    MPI_Status known;                                                                             \
    if (status == MPI_STATUS_IGNORE) status = &known

/* The call has waited for an operation, and `also` for another unless that is REC_ANY. */
void rec_awaits(uint64_t operation, uint64_t also);

#endif
