/* How a rank waits on several transports: it sleeps so that shared memory can wake it, and never so
 * long that packets of another transport are left; how late a time-out comes; and how soon a silent
 * peer is asked whether it lives. The clock is the test's own, moved only by what the library does:
 * nothing here depends on the machine.
 */
#include <time.h>

#include "check.h"
#include "progress.h"

static int naps;

/* The simulated time that a look and a turn take. */
enum { LOOK_NS = 100, TURN_NS = 1000 };
static uint64_t clock_ns = 1000000000;

/* Replace the C library's: a sleep that nothing ends, and a clock that sleeps advance. */
int nanosleep(const struct timespec *asked, struct timespec *left) {
    (void)left;
    naps++;
    clock_ns += (uint64_t)asked->tv_sec * 1000000000 + (uint64_t)asked->tv_nsec;
    return 0;
}

int clock_gettime(clockid_t which, struct timespec *now) {
    (void)which;
    *now = (struct timespec){(time_t)(clock_ns / 1000000000), (long)(clock_ns % 1000000000)};
    return 0;
}

static int looks, polls, rests;
static uint32_t longest_us;
static uint64_t longest_ns; /* the longest time between two observed events */
static uint64_t last_ns;
static int events;

static void note_event(void) {
    if (clock_ns - last_ns > longest_ns) longest_ns = clock_ns - last_ns;
    last_ns = clock_ns;
    events++;
}

static int memory_spin(struct fly_carrier *c, int count, const struct fly_want *until) {
    (void)c;
    (void)until;
    looks += count;
    clock_ns += (uint64_t)count * LOOK_NS;
    return 0;
}

static int memory_poll(struct fly_carrier *c) { return memory_spin(c, 1, NULL); }

static void memory_rest(struct fly_carrier *c, uint32_t microseconds) {
    (void)c;
    rests++;
    clock_ns += (uint64_t)microseconds * 1000;
    if (microseconds > longest_us) longest_us = microseconds;
}

static int network_poll(struct fly_carrier *c) {
    (void)c;
    polls++;
    clock_ns += TURN_NS;
    return 0;
}

static int network_send(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                        const void *data, size_t bytes) {
    (void)c;
    (void)packet;
    (void)data;
    CHECK(peer == 1 && bytes == 0, "to rank %d, %zu bytes", peer, bytes);
    return FLY_OK;
}

static void network_doubt(struct fly_carrier *c, int peer) {
    (void)c;
    CHECK(peer == 1, "rank %d is asked after", peer);
    note_event();
}

static void memory_watch(struct fly_carrier *c) {
    (void)c;
    note_event();
}

static const struct fly_carrier_ops MEMORY = {
    .name = "memory", .poll = memory_poll, .spin = memory_spin, .rest = memory_rest};
static const struct fly_carrier_ops NETWORK = {.name = "network", .poll = network_poll};
/* A transport that notices a death by itself, and one that notices it only when it is asked. */
static const struct fly_carrier_ops WATCHED = {.name = "watched", .poll = memory_poll,
                                               .spin = memory_spin, .rest = memory_rest,
                                               .watch = memory_watch};
static const struct fly_carrier_ops SILENT = {.name = "silent", .poll = network_poll,
                                              .send = network_send, .doubt = network_doubt,
                                              .ends_unheard = true};

enum { STEPS = 600, LONGEST_US = 5000, NAP_US = 50 };

static void wait_over(const struct fly_carrier_ops *first, const struct fly_carrier_ops *second) {
    static struct fly_rt rt;
    struct fly_carrier carriers[] = {{first, &rt}, {second, &rt}};
    rt = (struct fly_rt){.size = 1, .carrier_count = second == NULL ? 1 : 2};
    for (int i = 0; i < rt.carrier_count; i++) rt.carriers[i] = &carriers[i];
    if (rt.carrier_count == 1 && first->spin != NULL) rt.only = &carriers[0];
    struct fly_pause pause = {.rt = &rt};
    naps = looks = polls = rests = 0;
    longest_us = 0;
    for (int i = 0; i < STEPS; i++) fly_wait_more(&pause);
}

/* A put to a peer that takes nothing: the time-out never comes early, and at most a sleep and the
   turns between two looks at the clock late. */
static void come_late(const struct fly_carrier_ops *ops) {
    static const uint32_t LIMITS_MS[] = {1, 7, 300, 20000};
    for (size_t i = 0; i < sizeof LIMITS_MS / sizeof *LIMITS_MS; i++) {
        struct fly_rt rt = {.size = 2, .carrier_count = 1, .settings.timeout_ms = LIMITS_MS[i]};
        struct fly_carrier carrier = {ops, &rt};
        struct fly_peer peers[2] = {{.via = &carrier}, {.via = &carrier}};
        rt.carriers[0] = &carrier;
        rt.peers = peers;
        peers[1].quota[FLY_CLASS_NOTE].returned = &peers[1].quota[FLY_CLASS_NOTE].back;
        uint64_t began = clock_ns, limit = UINT64_C(1000000) * LIMITS_MS[i];
        int code = fly_credit(&rt, 1, FLY_CLASS_NOTE, false);
        uint64_t took = clock_ns - began, late = 1000000 * (uint64_t)5 + 64 * TURN_NS;
        CHECK(code == FLY_ERR_TIMEOUT, "%s: %d", ops->name, code);
        CHECK(took >= limit && took <= limit + late, "%s: %lu ns in place of %lu", ops->name,
              (unsigned long)took, (unsigned long)limit);
    }
}

/* Waits a minute for rank 1, in one call or in calls that only poll, as a test of a request does,
   and finds the longest time in which the library did not check whether rank 1 lives. */
static void look_whether_it_lives(const struct fly_carrier_ops *ops, bool calls, uint64_t most_ms) {
    struct fly_rt rt = {.size = 2, .carrier_count = 1, .unheard = ops->ends_unheard};
    struct fly_carrier carrier = {ops, &rt};
    struct fly_peer peers[2] = {{.via = &carrier}, {.via = &carrier}};
    struct fly_pause pause = {.rt = &rt, .awaited = 1 + 1};
    rt.carriers[0] = &carrier;
    rt.peers = peers;
    if (ops->spin != NULL && !calls) rt.only = &carrier;
    events = 0;
    longest_ns = 0;
    last_ns = clock_ns;
    for (uint64_t end = clock_ns + UINT64_C(60000000000); clock_ns < end;) {
        if (calls) {
            peers[1].wanted = true;
            fly_turn(&rt);
            clock_ns += 2000000; /* what a program does between */
        } else {
            fly_wait_more(&pause);
        }
    }
    CHECK(events > 20 && longest_ns <= most_ms * 1000000, "%s, %s: %d looks, %lu ns without one",
          ops->name, calls ? "calls" : "a wait", events, (unsigned long)longest_ns);
}

int main(void) {
    wait_over(&MEMORY, NULL);
    CHECK(naps == 0 && rests > 0 && longest_us == LONGEST_US,
          "memory alone: %d naps, %d sleeps, at most %u us", naps, rests, longest_us);
    wait_over(&NETWORK, NULL);
    CHECK(naps > 0 && polls == STEPS, "a network alone: %d naps, %d polls", naps, polls);
    for (int i = 0; i < 2; i++) {
        wait_over(i == 0 ? &MEMORY : &NETWORK, i == 0 ? &NETWORK : &MEMORY);
        CHECK(naps == 0, "both: %d naps, which what comes by memory does not end", naps);
        CHECK(rests > 0 && longest_us <= NAP_US, "both: %d sleeps, of up to %u us", rests,
              longest_us);
        CHECK(polls == STEPS, "both: %d polls of the network in %d steps", polls, STEPS);
        CHECK(looks > 2 * STEPS, "both: %d looks at memory, of 12 while it spins", looks);
    }
    come_late(&MEMORY);
    come_late(&NETWORK);
    look_whether_it_lives(&WATCHED, false, 20);
    look_whether_it_lives(&WATCHED, true, 20);
    look_whether_it_lives(&SILENT, false, 2100);
    look_whether_it_lives(&SILENT, true, 2100);
    return 0;
}
