/* Operations that await an answer, by the token that the answer names. */
#ifndef FLY_PENDING_H
#define FLY_PENDING_H

#include <stdint.h>

struct fly_rt;

/* A token of a new operation, or UINT32_MAX: there is no memory. */
uint32_t fly_pending_new(struct fly_rt *rt);
/* The answer came, or never will. */
void fly_pending_done(struct fly_rt *rt, uint32_t token, int error);

#endif
