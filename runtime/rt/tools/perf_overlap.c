/* flyloom-perf overlap: how much of an operation's time is hidden by computation, for each
   transport, with progress by calls and by a thread.

   Two ranks do the same at once: they begin an operation, compute, and end it. Computation is a
   number of steps that takes as long as the operation alone, not a time by the clock, so that
   processor time taken by a progress thread shows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flyloom_coll.h"
#include "perf.h"
#include "perf_parts.h"

enum { LIMIT_S = 120, TAG = 1, ROUNDS_MOST = 100000, SIZES_MOST = 16, TRANSPORTS_MOST = 8 };
enum { CALIBRATION = 200000, WARM = 5 };

static const char PROGRAM[] = "flyloom-perf overlap";

struct wanted {
    const char *transports[TRANSPORTS_MOST];
    size_t bytes[SIZES_MOST];
    int transport_count, byte_count;
    uint64_t rounds;
    bool json, first;
    /* for the processes that run now */
    const char *transport;
    bool by_thread;
    bool *printed; /* whether they printed rows; the processes share it */
};

struct half {
    fly_rt *rt;
    fly_win *win;
    fly_team *team;
    int rank;
    size_t bytes;
    unsigned char *mine, *got;
    fly_req *note, *req;
};

static void put_begin(struct half *h) {
    CHECKED(fly_put(h->win, h->mine, h->bytes, 1 - h->rank, 0));
}

static void put_end(struct half *h) { CHECKED(fly_flush(h->win, 1 - h->rank)); }

static void get_begin(struct half *h) {
    CHECKED(fly_get(h->win, h->got, h->bytes, 1 - h->rank, 0));
}

static void get_end(struct half *h) { CHECKED(fly_flush_local(h->win, 1 - h->rank)); }

static void note_begin(struct half *h) {
    CHECKED(fly_start(h->note));
    CHECKED(fly_put_notify(h->win, h->mine, h->bytes, 1 - h->rank, 0, TAG));
}

static void note_end(struct half *h) { CHECKED(fly_wait(h->note, NULL)); }

static void fold_begin(struct half *h) {
    static const fly_fold SUM = {.type = FLY_DOUBLE, .op = FLY_SUM};
    CHECKED(fly_iallreduce(h->team, h->mine, h->got, h->bytes / sizeof(double), &SUM, &h->req));
}

static void fold_end(struct half *h) {
    CHECKED(fly_wait(h->req, NULL));
    CHECKED(fly_req_free(&h->req));
}

static const struct operation {
    const char *name;
    void (*begin)(struct half *h);
    void (*end)(struct half *h);
} OPERATIONS[] = {
    {"put, flush", put_begin, put_end},
    {"get, flush_local", get_begin, get_end},
    {"put_notify, duplex", note_begin, note_end},
    {"iallreduce", fold_begin, fold_end},
};

static void compute(uint64_t steps) {
    volatile uint64_t sink;
    uint64_t x = steps;
    for (uint64_t i = 0; i < steps; i++) x = x * UINT64_C(6364136223846793005) + (x >> 33);
    sink = x;
    (void)sink;
}

static double step_ns(void) {
    double times[9];
    for (int i = 0; i < 9; i++) {
        double began = perf_now_ns();
        compute(CALIBRATION);
        times[i] = (perf_now_ns() - began) / CALIBRATION;
    }
    perf_sort(times, 9);
    return times[4];
}

/* The time of a round, with or without the operation; both ranks begin together. */
static double go(struct half *h, const struct operation *op, uint64_t steps) {
    CHECKED(fly_fence(h->win));
    double began = perf_now_ns();
    if (op != NULL) op->begin(h);
    if (steps != 0) compute(steps);
    if (op != NULL) op->end(h);
    return perf_now_ns() - began;
}

/* Finds how many steps take as long as the operation alone, by rank 0's clock, for both ranks. */
static uint64_t steps_of(struct half *h, const struct operation *op) {
    double times[2 * WARM + 1], step = step_ns();
    for (int i = 0; i < WARM; i++) go(h, op, 0);
    for (int i = 0; i < 2 * WARM + 1; i++) times[i] = go(h, op, 0);
    perf_sort(times, 2 * WARM + 1);
    uint64_t steps = (uint64_t)(times[WARM] / step) + 1;
    CHECKED(fly_bcast(h->team, &steps, sizeof steps, 0));
    return steps;
}

struct found {
    double alone_ns, work_ns, both_ns;
};

static struct found measure(struct half *h, const struct operation *op, uint64_t rounds) {
    double *times = malloc(3 * rounds * sizeof *times);
    if (times == NULL) exit(3);
    uint64_t steps = steps_of(h, op);
    for (uint64_t i = 0; i < rounds; i++) { /* alternates, so that load disturbs both alike */
        times[i] = go(h, op, 0);
        times[rounds + i] = go(h, NULL, steps);
        times[2 * rounds + i] = go(h, op, steps);
    }
    for (int i = 0; i < 3; i++) perf_sort(times + (uint64_t)i * rounds, rounds);
    struct found found = {times[rounds / 2], times[rounds + rounds / 2],
                          times[2 * rounds + rounds / 2]};
    free(times);
    return found;
}

static const char *progress_name(bool by_thread) { return by_thread ? "thread" : "calls"; }

static void row(const struct wanted *wanted, const char *name, size_t bytes,
                const struct found *f, bool first) {
    double hidden = (f->alone_ns + f->work_ns - f->both_ns) / f->alone_ns;
    if (wanted->json)
        printf("%s{\"transport\": \"%s\", \"progress\": \"%s\", \"what\": \"%s\", \"bytes\": %zu, "
               "\"alone_ns\": %.1f, \"computation_ns\": %.1f, \"both_ns\": %.1f, "
               "\"hidden_fraction\": %.3f}", first ? "" : ",\n ", wanted->transport,
               progress_name(wanted->by_thread), name, bytes, f->alone_ns, f->work_ns, f->both_ns,
               hidden);
    else
        printf("%-6s %-8s %-22s %9zu %12.1f %12.1f %12.1f %7.0f %%\n", wanted->transport,
               progress_name(wanted->by_thread), name, bytes, f->alone_ns, f->work_ns, f->both_ns,
               hidden * 100);
}

static int as_rank(const fly_boot *boot, void *context) {
    struct wanted *wanted = context;
    fly_config config = {.transports = wanted->transport};
    struct half half = {.rank = boot->rank}, *h = &half;
    size_t most = sizeof(double);
    void *base;
    if (wanted->by_thread) config.progress = FLY_PROGRESS_THREAD;
    if (fly_init(boot, &config, &h->rt) != FLY_OK) {
        if (h->rank == 0) fprintf(stderr, "%s: %s\n", PROGRAM, fly_last_error(NULL));
        return 2;
    }
    perf_apart(h->rank); /* the progress thread may run anywhere */
    for (int i = 0; i < wanted->byte_count; i++)
        if (wanted->bytes[i] > most) most = wanted->bytes[i];
    h->team = fly_world(h->rt);
    h->mine = calloc(most, 1);
    h->got = calloc(most, 1);
    if (h->mine == NULL || h->got == NULL) {
        free(h->mine);
        free(h->got);
        return 3;
    }
    CHECKED(fly_win_allocate(h->team, most, 1, 0, &base, &h->win));
    CHECKED(fly_notify_init(h->win, 1 - h->rank, TAG, 1, &h->note));
    bool first = wanted->first;
    for (size_t k = 0; k < sizeof OPERATIONS / sizeof *OPERATIONS; k++) {
        for (int i = 0; i < wanted->byte_count; i++) {
            h->bytes = wanted->bytes[i];
            if (OPERATIONS[k].begin == fold_begin) h->bytes = (h->bytes + 7) / 8 * 8;
            struct found found = measure(h, &OPERATIONS[k], wanted->rounds);
            if (h->rank == 0) row(wanted, OPERATIONS[k].name, h->bytes, &found, first);
            first = false;
        }
    }
    if (h->rank == 0) *wanted->printed = true;
    CHECKED(fly_req_free(&h->note));
    CHECKED(fly_win_free(&h->win));
    CHECKED(fly_finalize(&h->rt));
    free(h->mine);
    free(h->got);
    return 0;
}

/* Measures all transports, with progress by calls and by a thread; one that does not work is
   skipped, with its reason. */
static int run_all(struct wanted *wanted) {
    int result = 0, worked = 0;
    if (wanted->json)
        printf("[");
    else
        printf("%-6s %-8s %-22s %9s %12s %12s %12s %9s\n", "over", "progress", "what", "bytes",
               "alone ns", "computes ns", "both ns", "hidden");
    wanted->first = true;
    for (int t = 0; t < wanted->transport_count; t++) {
        for (int thread = 0; thread < 2; thread++) {
            wanted->transport = wanted->transports[t];
            wanted->by_thread = thread;
            *wanted->printed = false;
            int code = perf_start(PROGRAM, 2, LIMIT_S, as_rank, wanted);
            if (code > result) result = code;
            worked += *wanted->printed;
            if (*wanted->printed) wanted->first = false;
        }
    }
    if (wanted->json) printf("]\n");
    if (worked == 2 * wanted->transport_count) return result;
    return result != 0 ? result : 3;
}

static int read_transports(char *text, struct wanted *wanted) {
    wanted->transport_count = 0;
    for (char *one = strtok(text, ","); one != NULL; one = strtok(NULL, ",")) {
        if (wanted->transport_count == TRANSPORTS_MOST)
            return perf_refuse(PROGRAM, "--transports", one, "one of at most 8");
        wanted->transports[wanted->transport_count++] = one;
    }
    if (wanted->transport_count > 0) return 0;
    return perf_refuse(PROGRAM, "--transports", "", "names with commas between, such as shm,ofi");
}

int perf_overlap(int count, char **words) {
    struct wanted wanted = {{"shm"}, {8, 4096, 65536, 1 << 20}, 1, 4, 200, false, true, NULL,
                            false, NULL};
    for (int i = 0; i < count; i++) {
        char *value = i + 1 < count ? words[i + 1] : (char[]){""};
        int code;
        if (strcmp(words[i], "--json") == 0) {
            wanted.json = true;
            continue;
        }
        if (strcmp(words[i], "--transports") == 0)
            code = read_transports(value, &wanted);
        else if (strcmp(words[i], "--bytes") == 0)
            code = perf_read_list(PROGRAM, "--bytes", value, 0, 1 << 22, wanted.bytes, SIZES_MOST,
                                  &wanted.byte_count);
        else if (strcmp(words[i], "--repetitions") == 0)
            code = perf_read_number(PROGRAM, "--repetitions", value, 1, ROUNDS_MOST,
                                    &wanted.rounds);
        else
            code = perf_refuse(PROGRAM, "option", words[i],
                               "--transports, --bytes, --repetitions or --json");
        if (code != 0) return code;
        i++;
    }
    wanted.printed = perf_shared(PROGRAM, sizeof *wanted.printed);
    if (wanted.printed == NULL) return 3;
    int code = run_all(&wanted);
    munmap(wanted.printed, sizeof *wanted.printed);
    return code;
}
