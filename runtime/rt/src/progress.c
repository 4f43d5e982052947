/* Progress, waits and credits: every call that waits or sends goes through these. */
#include <sched.h>
#include <time.h>

#include "alive.h"
#include "error.h"
#include "progress.h"
#include "record.h"
#include "remote.h"
#include "state.h"

/* How many turns a waiting rank makes before it yields its processor, and before it sleeps: about
   2 us, then about 100 us of yielding. A turn looks LOOKS times at memory, about 7 ns each. Over a
   network a turn asks the kernel, about 300 ns, and an answer takes tens of microseconds. */
enum { LOOKS = 12, TURNS_SPIN = 25, TURNS_SPIN_FAR = 100, TURNS_YIELD = 325 };
/* The clock is read once in this many turns: every 40 ms in a program that tests every 10 ms. */
enum { TURNS_TEND = 4 };
/* A silent peer is asked whether it lives after ASK_FIRST_NS, then after twice the time, up to
   ASK_MOST_NS. A peer whose connection ended during fly_finalize counts as dead after LEAVE_NS. */
static const uint64_t ASK_FIRST_NS = 100000000, ASK_MOST_NS = 2000000000, LEAVE_NS = 1000000000;
/* The wait for packets to leave ends when none has left for this long. */
static const uint64_t STILL_NS = 1000000000;
enum { REST_FIRST_US = 100, REST_MOST_US = 5000 };
/* The length of a sleep that an arriving packet may not end. */
enum { NAP_US = 50 };

uint64_t fly_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void fly_enter_locked(struct fly_rt *rt) {
    pthread_mutex_lock(&rt->lock);
    if (rt->record != NULL) fly_record_enter(rt);
}

void fly_leave_locked(struct fly_rt *rt) {
    if (rt->record != NULL) fly_record_leave(rt);
    pthread_mutex_unlock(&rt->lock);
}

/* Unlocks inside a call that waits; for the record the program has not left the library. */
static void let_go(struct fly_rt *rt) {
    if (rt->locked) pthread_mutex_unlock(&rt->lock);
}

static void take(struct fly_rt *rt) {
    if (rt->locked) pthread_mutex_lock(&rt->lock);
}

FLY_APART void fly_watch(struct fly_rt *rt) {
    for (int i = 0; i < rt->carrier_count; i++)
        if (rt->carriers[i]->ops->watch != NULL) rt->carriers[i]->ops->watch(rt->carriers[i]);
}

/* Polls all transports once; transports of shared memory look `looks` times. */
static int turn(struct fly_rt *rt, int looks, const struct fly_want *until) {
    int taken = 0;
    for (int i = 0; i < rt->carrier_count; i++) {
        struct fly_carrier *c = rt->carriers[i];
        taken += c->ops->spin != NULL ? c->ops->spin(c, looks, until) : c->ops->poll(c);
    }
    fly_look_after(rt);
    if (++rt->tended % TURNS_TEND == 0) fly_tend(rt);
    return taken;
}

int fly_turn(struct fly_rt *rt) { return turn(rt, 1, NULL); }

/* Sleeps. A transport that can be slept in ends the sleep when a packet comes. The others, and
   multicast, cannot: with one of them the sleep is a nap, and that transport is polled after it. */
static void rest(struct fly_rt *rt, uint32_t microseconds) {
    struct fly_carrier *wakes = NULL;
    for (int i = 0; i < rt->carrier_count && wakes == NULL; i++)
        if (rt->carriers[i]->ops->rest != NULL) wakes = rt->carriers[i];
    if (rt->carrier_count != 1 || wakes == NULL || rt->casts != 0) microseconds = NAP_US;
    let_go(rt);
    if (wakes != NULL) {
        wakes->ops->rest(wakes, microseconds);
    } else {
        struct timespec nap = {0, (long)microseconds * 1000};
        nanosleep(&nap, NULL);
    }
    take(rt);
    fly_watch(rt);
}

/* Whether the next step of a wait is a sleep. */
static bool rests(const struct fly_pause *pause) { return pause->turns > TURNS_YIELD; }

/* Yields the processor, or sleeps, when nothing has come for long. */
static FLY_APART void be_patient(const struct fly_pause *pause) {
    struct fly_rt *rt = pause->rt;
    if (rests(pause)) {
        uint32_t naps = pause->turns - TURNS_YIELD;
        uint32_t length = naps < 8 ? REST_FIRST_US << (naps / 2) : REST_MOST_US;
        uint32_t limit = rt->settings.timeout_ms;
        rest(rt, limit != 0 && length / 500 > limit ? limit * 500 : length);
    } else {
        let_go(rt);
        sched_yield();
        take(rt);
    }
}

/* Sends something now and then to a peer whose death shows only when something is sent. Packets
   that a peer sent before it left may arrive after its connection has ended, so they get some
   time. */
static FLY_APART void wonder(struct fly_pause *pause) {
    struct fly_rt *rt = pause->rt;
    struct fly_peer *peer = &rt->peers[pause->awaited - 1];
    if (!peer->via->ops->ends_unheard || peer->dead || pause->awaited - 1 == rt->rank) return;
    uint64_t now = fly_now_ns();
    if (peer->lost_ns != 0) {
        if (now - peer->lost_ns > LEAVE_NS) fly_peer_died(rt, pause->awaited - 1);
        return;
    }
    if (now < pause->ask_ns) return;
    if (pause->ask_ns != 0) fly_ask_after(rt, pause->awaited - 1);
    pause->asked_after_ns = pause->ask_ns == 0 ? ASK_FIRST_NS : pause->asked_after_ns * 2;
    if (pause->asked_after_ns > ASK_MOST_NS) pause->asked_after_ns = ASK_MOST_NS;
    pause->ask_ns = now + pause->asked_after_ns;
}

void fly_wait_more(struct fly_pause *pause) {
    struct fly_rt *rt = pause->rt;
    uint32_t spins = rt->only != NULL ? TURNS_SPIN : TURNS_SPIN_FAR;
    if (rt->crowded) spins = 0; /* a spinning rank would keep the others from running */
    pause->turns++;
    pause->checks++;
    if (pause->turns > spins || (rt->locked && pause->turns % 16 == 0)) be_patient(pause);
    struct fly_carrier *only = rt->only;
    int taken, looks = pause->turns <= spins ? LOOKS : 1;
    if (only != NULL) {
        taken = only->ops->spin(only, looks, pause->until);
        fly_look_after(rt);
    } else {
        taken = turn(rt, looks, pause->until); /* looks cost as much as one poll of a network */
    }
    if (taken > 0) pause->turns = 0; /* starts to spin again: more may come soon */
    if (pause->awaited != 0 && (pause->checks % 64 == 0 || rests(pause))) wonder(pause);
}

/* Whether the time is over. The clock is read now and then while the wait spins, and after each
   sleep, which may be long. */
static bool timed_out(struct fly_pause *pause) {
    uint64_t limit = pause->rt->settings.timeout_ms;
    if (limit == 0 || (pause->checks % 64 != 0 && !rests(pause))) return false;
    uint64_t now = fly_now_ns();
    if (pause->began_ns == 0) pause->began_ns = now;
    return now - pause->began_ns >= limit * 1000000;
}

static bool has_credit(struct fly_quota *quota) {
    if (quota->sent == quota->may) quota->may = fly_load_acquire(quota->returned) + quota->limit;
    return quota->sent != quota->may;
}

bool fly_credit_there(struct fly_rt *rt, int peer, int class) {
    return has_credit(&rt->peers[peer].quota[class]);
}

int fly_credit(struct fly_rt *rt, int peer, int class, bool patient) {
    struct fly_quota *quota = &rt->peers[peer].quota[class];
    struct fly_pause pause = {.rt = rt, .awaited = 1 + peer};
    fly_heed(rt);
    while (!rt->peers[peer].dead && !has_credit(quota)) {
        /* Arrivals are taken meanwhile; otherwise two peers without credits would deadlock. */
        if (!patient && timed_out(&pause))
            return fly_fail(FLY_ERR_TIMEOUT, "rank %d has taken none of %llu notifications for "
                            "%u ms", peer, (unsigned long long)quota->limit,
                            rt->settings.timeout_ms);
        fly_wait_more(&pause);
    }
    if (rt->peers[peer].dead) return fly_fail_dead(rt, "a credit", peer);
    quota->sent++;
    return FLY_OK;
}

FLY_APART void fly_give_now(struct fly_rt *rt, int peer) {
    struct fly_peer *to = &rt->peers[peer];
    if (to->via->ops->give != NULL) {
        to->via->ops->give(to->via, peer);
    } else {
        struct fly_packet packet = {.kind = FLY_K_ACK};
        packet.ack.done = to->executed;
        for (int i = 0; i < FLY_CLASSES; i++) packet.ack.returned[i] = to->quota[i].taken;
        if (!to->dead) to->via->ops->send(to->via, peer, &packet, NULL, 0);
    }
    fly_give_next(rt, to);
}

void fly_give_next(const struct fly_rt *rt, struct fly_peer *peer) {
    for (int i = 0; i < FLY_CLASSES; i++) {
        uint32_t limit = i == FLY_CLASS_NOTE ? rt->settings.credits : FLY_OTHER_CREDITS;
        peer->quota[i].tell_at = peer->quota[i].taken + (limit + 1) / 2;
    }
}

int fly_ask(struct fly_rt *rt, int peer) {
    struct fly_packet packet = {.kind = FLY_K_ASK};
    return fly_send(rt, peer, &packet, NULL, 0);
}

int fly_answer_room(struct fly_rt *rt, int peer) {
    struct fly_pause pause = {.rt = rt, .awaited = 1 + peer};
    fly_heed(rt);
    while (!rt->peers[peer].dead && rt->peers[peer].replies >= FLY_REPLIES_MAX)
        fly_wait_more(&pause);
    if (rt->peers[peer].dead) return fly_fail_dead(rt, "an answer", peer);
    return FLY_OK;
}

int fly_send(struct fly_rt *rt, int peer, const struct fly_packet *packet, const void *data,
             size_t bytes) {
    struct fly_peer *to = &rt->peers[peer];
    if (to->dead) return fly_fail_dead(rt, "a message", peer);
    int code = to->via->ops->send(to->via, peer, packet, data, bytes);
    if (code == FLY_OK && packet->kind == FLY_K_PUT) to->puts++; /* it will be acknowledged */
    return code;
}

void fly_let_out(struct fly_rt *rt, int peer) {
    struct fly_carrier *via = rt->peers[peer].via;
    if (via->ops->unsent == NULL || rt->threaded) return; /* the progress thread sends the rest */
    uint64_t left = via->ops->unsent(via, peer), before = left;
    struct fly_pause pause = {.rt = rt, .awaited = 1 + peer};
    for (uint64_t since = 0; left != 0; left = via->ops->unsent(via, peer)) {
        if (left != before || since == 0) since = fly_now_ns();
        before = left;
        fly_wait_more(&pause);
        if (pause.checks % 64 == 0 && fly_now_ns() - since > STILL_NS) return;
    }
}

int fly_progress(fly_rt *rt) {
    if (rt == NULL) return fly_fail(FLY_ERR_ARG, "fly_progress: rt is NULL");
    fly_enter(rt);
    fly_turn(rt);
    fly_leave(rt);
    return FLY_OK;
}
