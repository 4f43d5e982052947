/* Random programs: every rank knows the whole of one from its seed, does its part, and compares.
 */
#ifndef FLY_TEST_PROGRAM_H
#define FLY_TEST_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "flyloom.h"

struct program {
    const char *transports;
    uint64_t seed;
    int steps;
    uint32_t credits;
    int progress, threads;
    bool create; /* windows of the program's own memory */
};

/* All ranks meet; the library makes progress meanwhile. */
typedef void program_meet(void *context, fly_rt *rt);

/* Returns 0, or ends the process after printing what differs. */
int program_run(const fly_boot *boot, const struct program *program, program_meet *meet,
                void *context);

#endif
