/* The ring to a peer on the node, as the sender holds it. */
#ifndef FLY_INLET_H
#define FLY_INLET_H

#include <stdbool.h>

#include "ring.h"

struct fly_inlet {
    struct fly_ring ring; /* without slots: the peer has no ring */
    uint32_t *asleep;     /* the peer sets it while it sleeps */
    bool fenced;          /* the sender itself puts a fence between its store and its look */
};

/* Ends the sleep of the peer whose word this is; in shm.c. */
void fly_shm_wake(uint32_t *asleep);

/* The receiver sets its word, then looks at the ring; a sender publishes, then looks at the word.
   Usually the receiver has the kernel put a fence into every sender before it sleeps (shm.c), so
   that a sender does not wait until its stores are seen. */
static inline void fly_inlet_rouse(const struct fly_inlet *inlet) {
    if (inlet->fenced)
        fly_fence_all();
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the compiler keeps the order */
    if (__builtin_expect(__atomic_load_n(inlet->asleep, __ATOMIC_RELAXED) != 0, 0))
        fly_shm_wake(inlet->asleep);
}

static inline void fly_inlet_publish(struct fly_inlet *inlet, struct fly_slot *slot) {
    fly_ring_publish(&inlet->ring, slot);
    fly_inlet_rouse(inlet);
}

#endif
