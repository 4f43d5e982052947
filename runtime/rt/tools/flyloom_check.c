/* flyloom-check: which transports work on this machine, what each can do, and the reason where one
   does not. Every transport is tried with two processes of its own. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "perf.h"

enum { WORDS = 256, NOTES = 2000, TURNS = 2000, LIMIT_S = 20, TIMEOUT_MS = 5000 };
enum { LANDING_LIMIT_MS = 1000 };
enum { TAG_LANDED = 1, TAG_TURN = 2, TAG_SERIES = 3 };
/* Offsets in the window: what the sleeping target looks at, what it answers, where turns go. */
enum { AT_DATA = 0, AT_SEEN = 8, AT_TURN = 16, WINDOW = 64 };

static const char USAGE[] =
    "flyloom-check [--json]\n"
    "\n"
    "Tries every transport between two processes of this machine: whether it works and why not,\n"
    "the largest tag, bytes inside a notification, credits, whether notifications of one origin\n"
    "keep their order, whether data lands while the target is outside the library, half a\n"
    "round trip of 8 bytes (median), and how bytes travel, and what the provider cannot do.\n";

/* What is tried: a transport and, for libfabric, a provider. */
static const struct try {
    const char *transport, *provider;
} TRIES[] = {
    {"shm", NULL},  {"ofi", NULL},  {"ofi", "tcp"},  {"ofi", "verbs"}, {"ofi", "efa"},
    {"ofi", "cxi"}, {"ofi", "psm2"}, {"ofi", "psm3"}, {"ofi", "opx"},
    {"ofi", "shm"}, {"ofi", "udp;ofi_rxd"},
};

struct result {
    bool works, ordered, lands, lands_by_thread;
    int64_t tag_ub, inline_bytes, credits, onesided;
    double latency_ns;
    char path[2 * WORDS]; /* how bytes travel */
    char why[WORDS];
};

static int failed(struct result *r, const char *text) {
    snprintf(r->why, sizeof r->why, "%s", text);
    return 1;
}

#define TRY(call)                                                        \
    do {                                                                 \
        if ((call) != FLY_OK) return failed(r, fly_last_error(NULL));    \
    } while (0)

/* Checks that a request of any tag takes one origin's notifications in the order they were sent.
 */
static int order(fly_win *win, int rank, struct result *r) {
    fly_req *req;
    fly_status status;
    r->ordered = true;
    if (rank == 0) {
        for (int i = 0; i < NOTES; i++) TRY(fly_put_notify(win, NULL, 0, 1, 0, TAG_SERIES + i % 7));
    } else {
        TRY(fly_notify_init(win, 0, FLY_ANY_TAG, 1, &req));
        for (int i = 0; i < NOTES; i++) {
            TRY(fly_start(req));
            TRY(fly_wait(req, &status));
            if (status.tag != TAG_SERIES + i % 7) r->ordered = false;
        }
        TRY(fly_req_free(&req));
        uint64_t seen = r->ordered;
        TRY(fly_put_notify(win, &seen, sizeof seen, 0, AT_SEEN, TAG_LANDED));
    }
    return 0;
}

/* Waits for the one notification of this tag. */
static int one(fly_win *win, int source, int tag, struct result *r) {
    fly_req *req;
    TRY(fly_notify_init(win, source, tag, 1, &req));
    TRY(fly_start(req));
    TRY(fly_wait(req, NULL));
    TRY(fly_req_free(&req));
    return 0;
}

static void nap(void) {
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Rank 1 stays outside the library and looks at its memory until data is there, or for a second:
   does it land? Rank 0 puts when rank 1 says that it is outside, in memory that they share beside
   any transport: moments agreed on beforehand pass on a busy machine. */
static int landing(fly_rt *rt, fly_win *win, int rank, const unsigned char *base,
                   atomic_bool *outside, bool *lands, struct result *r) {
    const uint64_t data = 42;
    uint64_t seen = 0;
    TRY(fly_fence(win));
    if (rank == 0) {
        for (double began = perf_now_ns(); !atomic_load(outside); nap()) {
            TRY(fly_progress(rt)); /* rank 1 may wait for this before it leaves the fence */
            if (perf_now_ns() - began > TIMEOUT_MS * 1e6)
                return failed(r, "rank 1 did not come out of the fence");
        }
        TRY(fly_put(win, &data, sizeof data, 1, AT_DATA));
        TRY(fly_flush(win, 1));
        if (one(win, 1, TAG_LANDED, r) != 0) return 1;
        memcpy(&seen, base + AT_SEEN, sizeof seen);
        *lands = seen == data;
        return 0;
    }
    atomic_store(outside, true);
    for (int looks = 0; seen != data && looks < LANDING_LIMIT_MS; looks++, nap())
        seen = __atomic_load_n((const uint64_t *)(const void *)(base + AT_DATA), __ATOMIC_ACQUIRE);
    TRY(fly_put_notify(win, &seen, sizeof seen, 0, AT_SEEN, TAG_LANDED));
    return 0;
}

static int turns(fly_win *win, int rank, struct result *r) {
    static double times[TURNS];
    const uint64_t data = 7;
    fly_req *req;
    TRY(fly_notify_init(win, 1 - rank, TAG_TURN, 1, &req));
    for (int i = 0; i < TURNS; i++) {
        double began = perf_now_ns();
        TRY(fly_start(req));
        if (rank == 0) TRY(fly_put_notify(win, &data, sizeof data, 1, AT_TURN, TAG_TURN));
        TRY(fly_wait(req, NULL));
        if (rank == 1) TRY(fly_put_notify(win, &data, sizeof data, 0, AT_TURN, TAG_TURN));
        times[i] = (perf_now_ns() - began) / 2;
    }
    TRY(fly_req_free(&req));
    perf_sort(times, TURNS);
    r->latency_ns = times[TURNS / 2];
    return 0;
}

static int inside(fly_rt *rt, int rank, bool by_thread, atomic_bool *outside, struct result *r) {
    fly_win *win;
    void *base;
    TRY(fly_win_allocate(fly_world(rt), WINDOW, 1, 0, &base, &win));
    TRY(fly_win_query(win, FLY_Q_TAG_UB, 1 - rank, &r->tag_ub));
    TRY(fly_win_query(win, FLY_Q_INLINE, 1 - rank, &r->inline_bytes));
    TRY(fly_win_query(win, FLY_Q_CREDITS, 1 - rank, &r->credits));
    TRY(fly_win_query(win, FLY_Q_ONESIDED, 1 - rank, &r->onesided));
    TRY(fly_win_path(win, 1 - rank, r->path, sizeof r->path));
    bool *lands = by_thread ? &r->lands_by_thread : &r->lands;
    int code = landing(rt, win, rank, base, outside, lands, r);
    if (code == 0 && !by_thread) {
        code = order(win, rank, r);
        if (code == 0 && rank == 0) {
            uint64_t seen;
            code = one(win, 1, TAG_LANDED, r);
            memcpy(&seen, (unsigned char *)base + AT_SEEN, sizeof seen);
            r->ordered = seen == 1;
        }
        if (code == 0) code = turns(win, rank, r);
    }
    if (code != 0) return code;
    TRY(fly_win_free(&win));
    return 0;
}

/* Memory that the processes of a trial share. */
struct common {
    struct result found;
    atomic_bool outside; /* rank 1 is outside the library */
};

struct trial {
    const struct try *what;
    bool by_thread;
    struct common *common;
};

static int as_rank(const fly_boot *boot, void *context) {
    const struct trial *trial = context;
    struct result own = {0};
    fly_rt *rt;
    fly_config config = {.transports = trial->what->transport, .provider = trial->what->provider,
                         .timeout_ms = TIMEOUT_MS};
    if (trial->by_thread) config.progress = FLY_PROGRESS_THREAD;
    perf_apart(boot->rank);
    int code = fly_init(boot, &config, &rt) == FLY_OK ? 0 : failed(&own, fly_last_error(NULL));
    if (code == 0) {
        code = inside(rt, boot->rank, trial->by_thread, &trial->common->outside, &own);
        if (code == 0 && fly_finalize(&rt) != FLY_OK) code = failed(&own, fly_last_error(NULL));
    }
    own.works = code == 0;
    if (boot->rank == 0) trial->common->found = own;
    return 0;
}

/* Tries it with two processes; rank 0 reports what it found. */
static void with_processes(const struct try *what, bool by_thread, struct result *r) {
    struct common *shared = perf_shared("flyloom-check", sizeof *shared);
    struct trial trial = {what, by_thread, shared};
    if (shared == NULL) {
        failed(r, "no memory");
        return;
    }
    failed(&shared->found, "the processes did not come to their end within 20 s, or died");
    perf_start("flyloom-check", 2, LIMIT_S, as_rank, &trial);
    *r = shared->found;
    munmap(shared, sizeof *shared);
}

static void check(const struct try *what, struct result *r) {
    *r = (struct result){0};
    with_processes(what, false, r);
    if (!r->works || r->lands) return;
    struct result again = {0};
    with_processes(what, true, &again);
    r->lands_by_thread = again.works && again.lands_by_thread;
}

static void quoted(const char *text) {
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') putchar('\\');
        putchar(c < ' ' || c > '~' ? '?' : c);
    }
    putchar('"');
}

static const char *landing_words(const struct result *r) {
    return r->lands ? "always" : r->lands_by_thread ? "with a progress thread" : "no";
}

static void tell(const struct try *what, const struct result *r, bool json, bool first) {
    if (json) {
        printf("%s{\"transport\": \"%s\", \"provider\": ", first ? "" : ",\n ", what->transport);
        if (what->provider != NULL) quoted(what->provider); else printf("null");
        printf(", \"works\": %s", r->works ? "true" : "false");
        if (!r->works) {
            printf(", \"why\": ");
            quoted(r->why);
        } else {
            printf(", \"path\": ");
            quoted(r->path);
            printf(", \"tag_ub\": %lld, \"inline_bytes\": %lld, \"credits\": %lld, "
                   "\"ordered\": %s, \"lands\": \"%s\", \"latency_ns\": %.1f",
                   (long long)r->tag_ub, (long long)r->inline_bytes, (long long)r->credits,
                   r->ordered ? "true" : "false", landing_words(r), r->latency_ns);
        }
        printf("}");
        return;
    }
    printf("%s%s%s: ", what->transport, what->provider ? " by " : "",
           what->provider ? what->provider : "");
    if (!r->works) {
        printf("no: %s\n", r->why);
        return;
    }
    printf("works; tags to %lld, %lld B inside a notification, %lld credits, %s;\n    data lands "
           "while the target is elsewhere: %s; half a round trip of 8 B: %.0f ns;\n    %s\n",
           (long long)r->tag_ub, (long long)r->inline_bytes, (long long)r->credits,
           r->ordered ? "in order" : "NOT in order", landing_words(r), r->latency_ns, r->path);
}

int main(int count, char **words) {
    bool json = false, any = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--help") == 0) {
            fputs(USAGE, stdout);
            return 0;
        }
        if (strcmp(words[i], "--json") != 0) {
            fprintf(stderr, "flyloom-check: \"%s\" is no option\n%s", words[i], USAGE);
            return 2;
        }
        json = true;
    }
    if (json) printf("{\"abi\": %d, \"transports\": [\n ", FLY_ABI);
    for (size_t i = 0; i < sizeof TRIES / sizeof *TRIES; i++) {
        struct result r;
        check(&TRIES[i], &r);
        any = any || r.works;
        tell(&TRIES[i], &r, json, i == 0);
    }
    if (json)
        printf("\n]}\n");
    else
        printf("loop: threads of one process, for tests; msg: in programs of MPI, by "
               "flyloom_mpi.h\n");
    return any ? 0 : 1;
}
