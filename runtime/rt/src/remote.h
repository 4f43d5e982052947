/* Operations that a peer executes, and their answers. */
#ifndef FLY_REMOTE_H
#define FLY_REMOTE_H

#include "core.h"

/* The one definition of the atomics; returns what was there. */
uint64_t fly_atomic(fly_word *word, uint64_t operation, uint64_t first, uint64_t second);
/* An answer came, or never will. */
void fly_pending_done(struct fly_rt *rt, uint32_t token, int error);
/* Waits for the answers of a peer, or of all (-1). */
void fly_answers(struct fly_win *win, int peer);

#endif
