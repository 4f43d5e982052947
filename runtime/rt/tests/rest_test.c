/* How a rank waits over several transports: by a sleep that the one of memory can end, and never so
 * long that what comes over the other stays; nothing here waits for a clock.
 */
#include <time.h>

#include "check.h"
#include "core.h"

static int naps;

/* In place of the C library's: a sleep that nothing ends. */
int nanosleep(const struct timespec *asked, struct timespec *left) {
    (void)asked;
    (void)left;
    naps++;
    return 0;
}

static int looks, polls, rests;
static uint32_t longest_us;

static int memory_spin(struct fly_carrier *c, int count, const struct fly_want *until) {
    (void)c;
    (void)until;
    looks += count;
    return 0;
}

static int memory_poll(struct fly_carrier *c) { return memory_spin(c, 1, NULL); }

static void memory_rest(struct fly_carrier *c, uint32_t microseconds) {
    (void)c;
    rests++;
    if (microseconds > longest_us) longest_us = microseconds;
}

static int network_poll(struct fly_carrier *c) {
    (void)c;
    polls++;
    return 0;
}

static const struct fly_carrier_ops MEMORY = {
    .name = "memory", .poll = memory_poll, .spin = memory_spin, .rest = memory_rest};
static const struct fly_carrier_ops NETWORK = {.name = "network", .poll = network_poll};

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
    return 0;
}
