/* What a rank does with the packets of others, and with their deaths. */
#ifndef FLY_REMOTE_H
#define FLY_REMOTE_H

#include "state.h"

/* false: there is no memory; the transport keeps the packet and calls again. */
bool fly_packet_arrived(struct fly_rt *rt, int peer, const struct fly_packet *packet,
                        const void *data, size_t bytes);
/* A notification of a peer enters the window's matching. false: there is no memory. */
bool fly_notification(struct fly_win *win, int peer, int source, int tag, const void *data,
                      size_t bytes);
/* Returns the credits that were held back, as far as the unexpected list has room again. */
void fly_held_release(struct fly_win *win);

void fly_peer_died(struct fly_rt *rt, int peer);
/* Another rank says that one has died: 1 + that rank. Other values, such as 0, name none. */
void fly_peer_died_said(struct fly_rt *rt, uint64_t said);
/* The rank that died first, as other ranks are informed of it: 1 + that rank, or 0. */
static inline uint32_t fly_dead_word(const struct fly_rt *rt) {
    return rt->deaths == 0 ? 0 : (uint32_t)rt->first_dead + 1;
}
/* Nothing can be sent to a peer any more: it has died, or in fly_finalize it may have left. */
void fly_peer_lost(struct fly_rt *rt, int peer);

/* The one definition of the atomics; returns the value before. */
uint64_t fly_atomic(fly_word *word, uint64_t operation, uint64_t first, uint64_t second);

/* Calls `run` for each piece that is contiguous in both shapes, in order, until one returns another
   value than FLY_OK, which it returns. The shapes have the same number of bytes. */
typedef int fly_run(void *context, ptrdiff_t to, ptrdiff_t from, size_t bytes);
int fly_each_run(const fly_shape *to, const fly_shape *from, fly_run *run, void *context);
void fly_copy_shape(unsigned char *to, const fly_shape *to_shape, const unsigned char *from,
                    const fly_shape *from_shape);

#endif
