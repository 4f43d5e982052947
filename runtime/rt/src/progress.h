/* Progress, patience and credits: every call that waits or sends goes through these. */
#ifndef FLY_PROGRESS_H
#define FLY_PROGRESS_H

#include "coll/engine.h"
#include "state.h"

/* A look for peers that died asks the kernel: it is made once in this many turns. */
enum { FLY_WATCH_TURNS = 4096 };

void fly_enter_locked(struct fly_rt *rt);
void fly_leave_locked(struct fly_rt *rt);
static inline void fly_enter(struct fly_rt *rt) {
    if (rt->locked) fly_enter_locked(rt);
}
static inline void fly_leave(struct fly_rt *rt) {
    if (rt->locked) fly_leave_locked(rt);
}

/* Polls all transports; returns how many packets came. */
int fly_turn(struct fly_rt *rt);
/* Looks for peers that died. */
void fly_watch(struct fly_rt *rt);
/* After a look at a transport: sometimes looks for deaths, and advances collectives that run. */
static inline void fly_look_after(struct fly_rt *rt) {
    if (++rt->turns % FLY_WATCH_TURNS == 0) fly_watch(rt);
    if (rt->scheds != 0) fly_coll_turn(rt);
}
/* Whether a wait has to look at more than the ring that it expects its packet in. */
static inline bool fly_look_is_due(const struct fly_rt *rt) {
    return ((rt->turns + 1) & (rt->every - 1)) == 0 || rt->scheds != 0;
}

/* A wait, from its first step to its last. */
struct fly_pause {
    struct fly_rt *rt;
    uint32_t turns, checks; /* turns since a packet came, and all turns */
    uint64_t began_ns;
    int awaited; /* 1 + the peer that must act for the wait to end; 0: no single one */
    uint64_t ask_ns, asked_after_ns; /* when that peer is next asked whether it lives */
    const struct fly_want *until; /* the request that is waited for, where it is a single one */
};
/* One step of a wait: a turn, or a sleep that grows longer. The lock is released meanwhile. */
void fly_wait_more(struct fly_pause *pause);
uint64_t fly_now_ns(void);

/* Waits for a credit towards a peer: FLY_OK, FLY_ERR_PEER, or unless patient FLY_ERR_TIMEOUT. */
int fly_credit(struct fly_rt *rt, int peer, int class, bool patient);
/* Whether there is a credit now. */
bool fly_credit_there(struct fly_rt *rt, int peer, int class);
/* Sends a peer the counts of its packets that were taken. */
void fly_give_now(struct fly_rt *rt, int peer);
/* Sets when these counts are sent next: after half of the peer's credits. */
void fly_give_next(const struct fly_rt *rt, struct fly_peer *peer);
/* A packet of the peer was taken off the transport: its credit is returned with the next counts. */
static inline void fly_give_back(struct fly_rt *rt, int peer, int class) {
    struct fly_quota *quota = &rt->peers[peer].quota[class];
    if (++quota->taken == quota->tell_at) fly_give_now(rt, peer);
}

int fly_send(struct fly_rt *rt, int peer, const struct fly_packet *packet, const void *data,
             size_t bytes);
/* Asks a peer to acknowledge its executed packets. */
int fly_ask(struct fly_rt *rt, int peer);
/* Waits until one more answer from a peer may be outstanding. */
int fly_answer_room(struct fly_rt *rt, int peer);
/* Waits until all packets to a peer have left. The peer may wait for them while this rank computes
   for long after the call that sent them. The wait ends when nothing leaves for a while: a peer
   that takes nothing may itself wait for another call of this rank. */
void fly_let_out(struct fly_rt *rt, int peer);

#endif
