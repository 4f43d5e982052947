/* The ring to a peer on the node, as the rank that sends holds it. */
#ifndef FLY_INLET_H
#define FLY_INLET_H

#include <stdbool.h>

#include "ring.h"

struct fly_inlet {
    struct fly_ring ring; /* without slots: there is none */
    uint32_t *asleep;     /* the peer says here that it sleeps */
    bool fenced;          /* the sender makes sure itself that it looks after it has published */
};

/* shm.c: ends the sleep of who said so. */
void fly_shm_wake(uint32_t *asleep);

/* The receiver says it sleeps, then looks at the ring; a sender publishes, then looks if it does.
   Mostly the receiver has the kernel put a fence into every sender, before it sleeps (shm.c): so
   that who sends need not wait until what it wrote is seen. */
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
