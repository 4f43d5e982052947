/* The n-way barrier: its schedules for all P to 40 and n < P, its model, and runs with delays.
 *
 *   barrier_test                            schedules and model, by formulas
 *   barrier_test TRANSPORTS RANKS ROUNDS    no rank leaves before the last has entered
 */
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "coll/coll.h"
#include "ranks.h"

enum { RANKS_MOST = 40 };

/* The smallest k with (n + 1)^k >= P. */
static int rounds_of(int64_t size, int64_t n) {
    int rounds = 0;
    for (int64_t reach = 1; reach < size; reach *= n + 1) rounds++;
    return rounds;
}

static struct fly_sched *schedule(int rank, int size, int algorithm, size_t n) {
    struct fly_call call;
    int code = FLY_OK;
    memset(&call, 0, sizeof call);
    call.name = "barrier_test";
    call.rank = rank;
    call.size = size;
    call.key.algorithm = algorithm;
    call.key.parameter = n;
    call.key.build = fly_barrier_build;
    struct fly_sched *s = fly_sched_new(&call, &code);
    CHECK(s != NULL, "%s", fly_last_error(NULL));
    return s;
}

/* Finds whom each rank has heard of, directly or not, when all schedules have run: a message
   carries what its sender had heard of before that round. Also checks that every message is
   awaited. */
static void all_heard(struct fly_sched **all, int size) {
    static bool heard[RANKS_MOST][RANKS_MOST], carried[RANKS_MOST][RANKS_MOST][8][RANKS_MOST];
    static bool sent[RANKS_MOST][RANKS_MOST][8];
    size_t round[RANKS_MOST] = {0};
    size_t messages = 0;
    memset(heard, 0, sizeof heard);
    memset(sent, 0, sizeof sent);
    for (int p = 0; p < size; p++) heard[p][p] = true;
    for (bool moved = true; moved;) {
        moved = false;
        for (int p = 0; p < size; p++) {
            const struct fly_sched *s = all[p];
            if (round[p] == s->round_count) continue;
            const struct fly_span *span = &s->rounds[round[p]];
            for (size_t i = span[0].sending; i < span[1].sending; i++) {
                const struct fly_sending *out = &s->sendings[i];
                CHECK(out->peer >= 0 && out->peer < size && out->peer != p && out->tag < 8, "-");
                if (sent[p][out->peer][out->tag]) continue;
                sent[p][out->peer][out->tag] = true;
                moved = true;
                messages++;
                memcpy(carried[p][out->peer][out->tag], heard[p], sizeof heard[p]);
            }
            bool whole = true;
            for (size_t i = span[0].receiving; i < span[1].receiving; i++)
                whole &= sent[s->receivings[i].peer][p][s->receivings[i].tag];
            if (!whole) continue;
            for (size_t i = span[0].receiving; i < span[1].receiving; i++)
                for (int q = 0; q < size; q++)
                    heard[p][q] |= carried[s->receivings[i].peer][p][s->receivings[i].tag][q];
            round[p]++;
            moved = true;
        }
    }
    for (int p = 0; p < size; p++) {
        CHECK(round[p] == all[p]->round_count, "rank %d of %d never ends its wait", p, size);
        messages -= all[p]->receiving_count;
        for (int q = 0; q < size; q++)
            CHECK(heard[p][q], "rank %d of %d leaves before %d has entered", p, size, q);
    }
    CHECK(messages == 0, "messages that nobody awaits");
}

static void check_schedules(void) {
    struct fly_sched *all[RANKS_MOST];
    for (int size = 1; size <= RANKS_MOST; size++) {
        for (int n = 1; n < size || n == 1; n++) {
            size_t messages = 0;
            for (int64_t step = 1; step < size; step *= n + 1)
                for (int64_t j = 1; j <= n; j++) messages += j * step < size;
            for (int p = 0; p < size; p++) {
                all[p] = schedule(p, size, 0, (size_t)n);
                CHECK(all[p]->round_count == (size_t)rounds_of(size, n), "P %d n %d: %zu rounds",
                      size, n, all[p]->round_count);
                CHECK(all[p]->sending_count == messages && all[p]->receiving_count == messages,
                      "P %d n %d: %zu messages, not %zu", size, n, all[p]->sending_count, messages);
            }
            all_heard(all, size);
            for (int p = 0; p < size; p++) fly_sched_free(all[p]);
        }
        for (int p = 0; p < size; p++) all[p] = schedule(p, size, 1, 0);
        all_heard(all, size);
        for (int p = 0; p < size; p++) fly_sched_free(all[p]);
    }
}

/* The published model: the number of rounds times the time of a round. */
static double model(const struct fly_loggp *net, int size, int n) {
    double g = fmax(net->gap_ns, net->send_ns);
    double wait = fmax(net->receive_ns, n * net->receive_ns - (n - 1) * g);
    return rounds_of(size, n) * (net->send_ns + (n - 1) * g + net->latency_ns + wait);
}

#define LOGGP(l, o_s, o_r, g) \
    {.latency_ns = (l), .send_ns = (o_s), .receive_ns = (o_r), .gap_ns = (g)}

/* Published: parameters, the best n and the times with it and with n = 1, in us, to two digits. */
static const struct {
    struct fly_loggp net;
    int size, n;
    double best_us, one_us;
} KNOWN[] = {
    {LOGGP(1020, 290, 50, 290), 8, 7, 3.10, 4.08},
    {LOGGP(1020, 290, 50, 290), 64, 3, 5.82, 8.16},
    {LOGGP(1020, 290, 50, 290), 722, 3, 9.70, 13.60},
    {LOGGP(1020, 290, 50, 290), 10830, 4, 13.38, 19.04},
    {LOGGP(1300, 100, 100, 100), 8, 7, 0, 0},
    {LOGGP(1300, 100, 100, 100), 64, 7, 0, 0},
    {LOGGP(1300, 100, 100, 100), 722, 8, 0, 0},
    {LOGGP(1300, 100, 100, 100), 10830, 10, 0, 0},
    {LOGGP(1, 60, 60, 100), 8, 1, 0, 0},
};
static const int GAIN[] = {53, 53, 56, 54}; /* per cent, of rows 4 to 7 */

static void check_model(void) {
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        const struct fly_loggp *net = &KNOWN[i].net;
        int size = KNOWN[i].size, n = (int)fly_barrier_best(net, size);
        double best = fly_barrier_time(net, size, (size_t)n), one = fly_barrier_time(net, size, 1);
        CHECK(n == KNOWN[i].n, "P %d: n %d, not %d", size, n, KNOWN[i].n);
        if (KNOWN[i].best_us > 0)
            CHECK(fabs(best / 1000 - KNOWN[i].best_us) < 0.0051 &&
                  fabs(one / 1000 - KNOWN[i].one_us) < 0.0051, "P %d: %g and %g", size, best, one);
        if (i >= 4 && i < 8)
            CHECK((int)round(100 * (1 - best / one)) == GAIN[i - 4], "P %d: %g of %g", size, best,
                  one);
    }
    uint64_t random = 5;
    for (int i = 0; i < 400; i++) {
        struct fly_loggp net = LOGGP(1 + (double)below(&random, 3000), (double)below(&random, 500),
                                     (double)below(&random, 500), (double)below(&random, 500));
        int size = 2 + (int)below(&random, i % 10 == 0 ? 5000 : 60);
        double least = INFINITY;
        for (int n = 1; n < size || n == 1; n++) least = fmin(least, model(&net, size, n));
        double chosen = model(&net, size, (int)fly_barrier_best(&net, size));
        CHECK(chosen <= least * (1 + 1e-12), "P %d: %g, but %g can be had", size, chosen, least);
    }
}

/* How many ranks have entered so far, over all barriers; ranks are threads. */
static uint64_t entered;

struct options {
    const char *transports;
    uint64_t rounds;
};

static void delay(uint64_t *random) {
    switch (below(random, 5)) {
    case 0: {
        struct timespec nap = {0, (long)below(random, 300000)};
        nanosleep(&nap, NULL);
        return;
    }
    case 1: sched_yield(); return;
    default: return;
    }
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    fly_config config = {.transports = options->transports};
    uint64_t random = (uint64_t)boot->rank * 77 + 1, size = (uint64_t)boot->size;
    fly_rt *rt;
    fly_req *again;
    CHECK(fly_init(boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_barrier_init(fly_world(rt), &again) == FLY_OK, "%s", fly_last_error(NULL));
    for (uint64_t n = 1; n <= options->rounds; n++) {
        fly_req *req;
        delay(&random);
        __atomic_fetch_add(&entered, 1, __ATOMIC_SEQ_CST);
        if (n % 3 == 0) {
            CHECK(fly_barrier(fly_world(rt)) == FLY_OK, "%s", fly_last_error(NULL));
        } else if (n % 3 == 1) {
            CHECK(fly_ibarrier(fly_world(rt), &req) == FLY_OK, "%s", fly_last_error(NULL));
            CHECK(fly_wait(req, NULL) == FLY_OK && fly_req_free(&req) == FLY_OK, "wait");
        } else {
            CHECK(fly_start(again) == FLY_OK && fly_wait(again, NULL) == FLY_OK, "again");
        }
        uint64_t now = __atomic_load_n(&entered, __ATOMIC_SEQ_CST);
        CHECK(now >= n * size, "rank %d left barrier %lu when %lu of %lu had entered", boot->rank,
              (unsigned long)n, (unsigned long)now, (unsigned long)(n * size));
    }
    CHECK(fly_req_free(&again) == FLY_OK, "free");
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    return 0;
}

int main(int count, char **words) {
    if (count == 1) {
        check_schedules();
        check_model();
        printf("barrier_test: P = 1 to %d, all n\n", RANKS_MOST);
        return 0;
    }
    CHECK(count > 3, "barrier_test [TRANSPORTS RANKS ROUNDS]");
    struct options options = {words[1], argument(count, words, 3, 50)};
    int size = atoi(words[2]);
    for (int n = 0; n < size; n = n < 4 ? n + 1 : n * 2) {
        char choice[64];
        snprintf(choice, sizeof choice, n == 0 ? "barrier=tree" : "barrier=dissemination:%d", n);
        setenv("FLYLOOM_COLL", choice, 1);
        entered = 0;
        CHECK(run_threads(size, body, &options) == 0, "%s", choice);
    }
    printf("barrier_test: %s, %d ranks\n", words[1], size);
    return 0;
}
