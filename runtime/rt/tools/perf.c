/* Measurements between two ranks: latency beside a ring written by hand, rate, bandwidth. */
#include "perf.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 250, RAW_SLOTS = PERF_DATA / 64, TAG = 3, TAG_DONE = 4, TAG_OTHERS = 1000 };

/* The reference: a slot of one cache line, whose number is written after its data. */
struct raw_slot {
    uint64_t number;
    unsigned char data[56];
};

static fly_req *ready; /* the request of the measurement that runs now */
static bool started;

double perf_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static unsigned char pattern[1 << 22];

static void raw_send(struct perf *p, uint64_t n, size_t bytes) {
    struct raw_slot *slot = (struct raw_slot *)(void *)p->other + n % RAW_SLOTS;
    unsigned char *data = p->other + PERF_DATA;
    memcpy(data, pattern, bytes);
    if (bytes <= 40) memcpy(slot->data, pattern, bytes);
    __atomic_store_n(&slot->number, n, __ATOMIC_RELEASE);
}

static void raw_wait(struct perf *p, uint64_t n, size_t bytes) {
    const struct raw_slot *slot = (struct raw_slot *)(void *)p->base + n % RAW_SLOTS;
    unsigned turns = 0;
    (void)bytes;
    while (__atomic_load_n(&slot->number, __ATOMIC_ACQUIRE) != n)
        if (++turns > 1000) sched_yield();
}

/* Starts the request again after the put that the other rank waits for, as programs post a receive
   after a send: nobody waits for what this takes. */
static void start_again(void) {
    if (!started) CHECKED(fly_start(ready));
    started = true;
}

static void notified_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    CHECKED(fly_put_notify(p->win, pattern, bytes, 1 - p->rank, PERF_DATA, TAG));
    start_again();
}

static void notified_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)n;
    (void)bytes;
    (void)p;
    start_again();
    CHECKED(fly_wait(ready, NULL));
    started = false;
}

const struct perf_method perf_raw = {"raw ring", raw_send, raw_wait, 0, 0};
const struct perf_method perf_notified = {"put_notify", notified_send, notified_wait, 0, 0};

/* Checks a number that the sender writes each time and the receiver reads. */
static void right(uint64_t n, const void *came) {
    uint64_t got;
    memcpy(&got, came, sizeof got);
    if (got == n) return;
    fprintf(stderr, "flyloom-perf: number %llu came as %llu\n", (unsigned long long)n,
            (unsigned long long)got);
    exit(3);
}

static void raw_used_send(struct perf *p, uint64_t n, size_t bytes) {
    memcpy(pattern, &n, sizeof n);
    raw_send(p, n, bytes);
}

static void raw_used_wait(struct perf *p, uint64_t n, size_t bytes) {
    raw_wait(p, n, bytes);
    right(n, ((struct raw_slot *)(void *)p->base + n % RAW_SLOTS)->data);
}

static void notified_used_send(struct perf *p, uint64_t n, size_t bytes) {
    memcpy(pattern, &n, sizeof n);
    notified_send(p, n, bytes);
}

static void notified_used_wait(struct perf *p, uint64_t n, size_t bytes) {
    size_t inside;
    (void)bytes;
    start_again();
    CHECKED(fly_wait(ready, NULL));
    const void *came = fly_inline(ready, &inside);
    right(n, came != NULL ? came : p->base + PERF_DATA);
    started = false;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void perf_sort(double *values, size_t count) { qsort(values, count, sizeof *values, by_size); }

static void block(struct perf *p, struct perf_method *method, size_t bytes, double *samples) {
    for (int i = 0; i < BLOCK; i++) {
        double began = perf_now_ns();
        if (p->rank == 0) {
            method->send(p, ++method->sent, bytes);
            method->wait(p, ++method->got, bytes);
        } else {
            method->wait(p, ++method->got, bytes);
            method->send(p, ++method->sent, bytes);
        }
        samples[i] = (perf_now_ns() - began) / 2;
    }
}

void perf_latency(struct perf *p, struct perf_method *methods, int count, size_t bytes,
                  struct perf_times *times) {
    uint64_t blocks = (p->repetitions + BLOCK - 1) / BLOCK, all = blocks * BLOCK;
    double *samples = malloc((size_t)all * (size_t)count * sizeof *samples);
    if (samples == NULL) exit(3);
    for (uint64_t b = 0; b < blocks; b++)
        for (int w = 0; w < count; w++)
            block(p, &methods[w], bytes, samples + (uint64_t)w * all + b * BLOCK);
    for (int w = 0; w < count; w++) {
        double *mine = samples + (uint64_t)w * all;
        perf_sort(mine, all);
        times[w] = (struct perf_times){mine[all / 2], mine[all * 99 / 100]};
    }
    free(samples);
}

void perf_row(struct perf *p, const char *what, size_t bytes, const struct perf_times *times,
              double raw_ns) {
    if (p->rank != 0) return;
    if (p->json) {
        printf("%s{\"what\": \"%s\", \"bytes\": %zu, \"median_ns\": %.1f, \"p99_ns\": %.1f",
               p->first ? "[" : ",\n ", what, bytes, times->median_ns, times->p99_ns);
        if (raw_ns > 0) printf(", \"of_raw\": %.3f", times->median_ns / raw_ns);
        printf("}");
    } else {
        if (p->first) printf("%-38s %9s %12s %12s %8s\n", "what", "bytes", "median ns", "p99 ns",
                             "x raw");
        printf("%-38s %9zu %12.1f %12.1f", what, bytes, times->median_ns, times->p99_ns);
        if (raw_ns > 0) printf(" %8.2f", times->median_ns / raw_ns);
        printf("\n");
    }
    p->first = false;
}

static void latency_row(struct perf *p, const char *what) {
    struct perf_method methods[] = {perf_notified, p->raw != NULL ? *p->raw : perf_raw};
    struct perf_times times[2];
    int count = p->raw != NULL ? 2 : 1;
    methods[1].sent = methods[1].got = p->raw_numbers;
    CHECKED(fly_fence(p->win));
    perf_latency(p, methods, count, 8, times);
    p->raw_numbers = methods[1].sent;
    perf_row(p, what, 8, &times[0], count == 2 ? times[1].median_ns : 0);
}

void perf_used(struct perf *p) {
    struct perf_method methods[] = {
        {"put_notify, written and read", notified_used_send, notified_used_wait, 0, 0},
        {"raw ring, written and read", raw_used_send, raw_used_wait, p->raw_numbers,
         p->raw_numbers}};
    struct perf_times times[2];
    perf_latency(p, methods, 2, 8, times);
    p->raw_numbers = methods[1].sent;
    for (int w = 0; w < 2; w++) {
        char what[64];
        snprintf(what, sizeof what, "latency: %s", methods[w].name);
        perf_row(p, what, 8, &times[w], times[1].median_ns);
    }
}

void perf_posted(struct perf *p, int requests) {
    char what[64];
    fly_req **posted = calloc((size_t)requests, sizeof *posted);
    if (posted == NULL) exit(3);
    for (int i = 0; i < requests; i++) {
        CHECKED(fly_notify_init(p->win, FLY_ANY_SOURCE, TAG_OTHERS + i, 1, &posted[i]));
        CHECKED(fly_start(posted[i]));
    }
    snprintf(what, sizeof what, "latency: %d posted", requests);
    latency_row(p, what);
    for (int i = 0; i < requests; i++) {
        CHECKED(fly_cancel(posted[i], NULL));
        CHECKED(fly_req_free(&posted[i]));
    }
    free(posted);
}

void perf_unmatched(struct perf *p, int notifications) {
    char what[64];
    for (int i = 0; i < notifications; i++)
        CHECKED(fly_put_notify(p->win, NULL, 0, 1 - p->rank, 0, TAG_OTHERS + i % 100));
    snprintf(what, sizeof what, "latency: %d unmatched", notifications);
    latency_row(p, what);
}

/* Rank 0 sends without a break; rank 1 takes all by one counting request, then reports it. */
static double flood_ns(struct perf *p, size_t bytes, uint64_t messages) {
    fly_req *done;
    double began = perf_now_ns();
    CHECKED(fly_notify_init(p->win, 1 - p->rank, TAG_DONE, p->rank == 0 ? 1 : messages, &done));
    CHECKED(fly_start(done));
    if (p->rank == 0) {
        for (uint64_t i = 0; i < messages; i++)
            CHECKED(fly_put_notify(p->win, pattern, bytes, 1, PERF_DATA, TAG_DONE));
        CHECKED(fly_wait(done, NULL));
    } else {
        CHECKED(fly_wait(done, NULL));
        CHECKED(fly_put_notify(p->win, NULL, 0, 0, 0, TAG_DONE));
    }
    CHECKED(fly_req_free(&done));
    return (perf_now_ns() - began) / (double)messages;
}

static void flood(struct perf *p, const char *what, size_t bytes, uint64_t messages) {
    enum { ROUNDS = 15 };
    double samples[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) samples[i] = flood_ns(p, bytes, messages);
    perf_sort(samples, ROUNDS);
    struct perf_times times = {samples[ROUNDS / 2], samples[ROUNDS - 1]};
    perf_row(p, what, bytes, &times, 0);
}

void perf_rate(struct perf *p, size_t bytes) { flood(p, "rate: a message", bytes, 5000); }

void perf_bandwidth(struct perf *p, size_t bytes) {
    flood(p, "bandwidth: a message", bytes, 1 + (64 << 20) / (bytes + 4096));
}

int perf_processors(void) {
    static int count; /* counted before this process chose any */
    cpu_set_t allowed;
    if (count == 0)
        count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    return count;
}

/* Puts each rank on its own processor, if there are two; else the scheduler decides what is
   timed. */
bool perf_apart(int rank) {
    cpu_set_t allowed, one;
    if (perf_processors() < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || seen++ != rank) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        return sched_setaffinity(0, sizeof one, &one) == 0;
    }
    return false;
}

int perf_open(const fly_boot *boot, const char *transports, struct perf *p) {
    fly_config config = {.transports = transports};
    void *base, *other;
    size_t bytes;
    int code = fly_init(boot, &config, &p->rt);
    if (code != FLY_OK) return code;
    p->first = true;
    CHECKED(fly_win_allocate(fly_world(p->rt), p->bytes_most + PERF_DATA, 1, 0, &base,
                             &p->win));
    p->base = base;
    p->rank = boot != NULL ? boot->rank : atoi(getenv("FLYLOOM_RANK"));
    CHECKED(fly_win_shared(p->win, 1 - p->rank, &other, &bytes));
    p->other = other;
    p->raw = other != NULL ? &perf_raw : NULL;
    memset(pattern, 0x5A, sizeof pattern);
    CHECKED(fly_notify_init(p->win, 1 - p->rank, TAG, 1, &ready));
    start_again();
    CHECKED(fly_fence(p->win));
    return FLY_OK;
}

int perf_close(struct perf *p) {
    if (p->rank == 0 && p->json) printf("]\n");
    start_again();
    CHECKED(fly_cancel(ready, NULL));
    CHECKED(fly_req_free(&ready));
    CHECKED(fly_win_free(&p->win));
    return fly_finalize(&p->rt);
}
