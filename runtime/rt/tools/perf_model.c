/* flyloom-perf model: measures what each call costs by size, processes and neighbours, by rank 0's
   clock. If only the call's own cost is measured, what it needs of others is there before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flyloom_coll.h"
#include "perf.h"
#include "perf_model.h"
#include "perf_parts.h"

enum { LIMIT_S = 120, RANKS_MOST = 64, LISTED_MOST = 16, BYTES_MOST = 1 << 20, TAG = 7, WARM = 20 };

static const char PROGRAM[] = "flyloom-perf model";

struct wanted {
    const char *transports;
    size_t ranks[LISTED_MOST];
    int rank_counts;
    uint64_t repetitions;
    struct model_question question;
    bool json, sizes; /* sizes: this run measures sizes */
    struct model_samples *samples; /* the processes share them */
};

struct run {
    struct wanted *wanted;
    fly_rt *rt;
    fly_win *win;
    fly_team *team;
    int rank, ranks, neighbours;
    int before[RANKS_MOST], behind[RANKS_MOST];
    size_t bytes;
    unsigned char *mine;
    fly_req *note;
    double began, clock_ns;
    uint64_t count;
    double *times;
};

static void begin(struct run *r) { r->began = perf_now_ns(); }

/* The time since `begin`, minus what the clock itself takes. */
static double passed(struct run *r) {
    return perf_now_ns() - r->began - r->clock_ns;
}

/* The mean of the middle half: clocks that tick in tens of nanoseconds make medians coarse. */
static double middle(double *times, uint64_t count) {
    uint64_t from = count / 4, to = count - count / 4;
    double sum = 0;
    perf_sort(times, count);
    for (uint64_t i = from; i < to; i++) sum += times[i];
    return sum / (double)(to - from);
}

static void keep(struct run *r, const char *call, double *times, uint64_t count) {
    struct model_samples *all = r->wanted->samples;
    double ns = middle(times, count);
    if (r->rank != 0 || all->count == MODEL_SAMPLES) return;
    all->at[all->count++] = (struct model_sample){
        call, r->bytes, r->ranks, r->neighbours,
        r->ranks > perf_processors(), ns > 1 ? ns : 1};
}

static void clock_cost(struct run *r) {
    for (uint64_t i = 0; i < r->count; i++) {
        begin(r);
        r->times[i] = perf_now_ns() - r->began;
    }
    r->clock_ns = middle(r->times, r->count);
}

/* Measures one call, or two together, at rank 0. */
#define EACH(r, call, before_it, it, after_it)                          \
    do {                                                                \
        for (uint64_t i_ = 0; i_ < (r)->count; i_++) {                  \
            before_it;                                                  \
            begin(r);                                                   \
            it;                                                         \
            (r)->times[i_] = passed(r);                                 \
            after_it;                                                   \
        }                                                               \
        keep(r, call, (r)->times, (r)->count);                          \
    } while (0)

static void moves(struct run *r) {
    EACH(r, "put, flush", , CHECKED(fly_put(r->win, r->mine, r->bytes, 1, 0));
         CHECKED(fly_flush(r->win, 1)), );
    EACH(r, "get, flush_local", , CHECKED(fly_get(r->win, r->mine, r->bytes, 1, 0));
         CHECKED(fly_flush_local(r->win, 1)), );
}

static void single(struct run *r) {
    uint64_t old, *word = &old;
    fly_req *req;
    EACH(r, "flush", CHECKED(fly_put(r->win, r->mine, 8, 1, 0)), CHECKED(fly_flush(r->win, 1)), );
    EACH(r, "win_sync", , CHECKED(fly_win_sync(r->win)), );
    EACH(r, "fetch_add", , CHECKED(fly_fetch_add(r->win, word, 1, 1, 0, FLY_NO_TAG));
         CHECKED(fly_flush_local(r->win, 1)), );
    EACH(r, "compare_swap", , CHECKED(fly_compare_swap(r->win, word, 1, 2, 1, 0, FLY_NO_TAG));
         CHECKED(fly_flush_local(r->win, 1)), );
    EACH(r, "lock, shared", , CHECKED(fly_lock(r->win, FLY_SHARED, 1)),
         CHECKED(fly_unlock(r->win, 1)));
    EACH(r, "lock, exclusive", , CHECKED(fly_lock(r->win, FLY_EXCLUSIVE, 1)),
         CHECKED(fly_unlock(r->win, 1)));
    EACH(r, "unlock, shared", CHECKED(fly_lock(r->win, FLY_SHARED, 1)),
         CHECKED(fly_unlock(r->win, 1)), );
    EACH(r, "unlock, exclusive", CHECKED(fly_lock(r->win, FLY_EXCLUSIVE, 1)),
         CHECKED(fly_unlock(r->win, 1)), );
    EACH(r, "lock_all", , CHECKED(fly_lock_all(r->win)), CHECKED(fly_unlock_all(r->win)));
    EACH(r, "unlock_all", CHECKED(fly_lock_all(r->win)), CHECKED(fly_unlock_all(r->win)), );
    EACH(r, "notify_init", , CHECKED(fly_notify_init(r->win, 1, TAG, 1, &req)),
         CHECKED(fly_req_free(&req)));
    EACH(r, "start", CHECKED(fly_notify_init(r->win, 1, TAG, 1, &req)), CHECKED(fly_start(req)),
         CHECKED(fly_cancel(req, NULL)); CHECKED(fly_req_free(&req)));
    EACH(r, "req_free", CHECKED(fly_notify_init(r->win, 1, TAG, 1, &req)),
         CHECKED(fly_req_free(&req)), );
}

/* Measures half round trips between ranks 0 and 1, with matching. */
static void notified(struct run *r) {
    CHECKED(fly_notify_init(r->win, 1 - r->rank, TAG, 1, &r->note));
    CHECKED(fly_start(r->note));
    for (uint64_t i = 0; i < r->count; i++) {
        begin(r);
        if (r->rank == 0) CHECKED(fly_put_notify(r->win, r->mine, r->bytes, 1, 0, TAG));
        CHECKED(fly_wait(r->note, NULL));
        CHECKED(fly_start(r->note));
        if (r->rank == 1) CHECKED(fly_put_notify(r->win, r->mine, r->bytes, 0, 0, TAG));
        r->times[i] = passed(r) / 2;
    }
    CHECKED(fly_cancel(r->note, NULL));
    CHECKED(fly_req_free(&r->note));
    keep(r, "put_notify, matched", r->times, r->count);
}

/* Measures powers of two from 8 B on; the other ranks wait in a barrier. */
static void sizes(struct run *r) {
    for (size_t power = 8; power <= BYTES_MOST; power *= 2) {
        r->bytes = power;
        r->count = power > 65536 ? r->wanted->repetitions / 8 + 9 : r->wanted->repetitions;
        if (r->rank == 0) moves(r);
        CHECKED(fly_barrier(r->team));
        if (r->rank < 2) notified(r);
        CHECKED(fly_barrier(r->team));
    }
    r->bytes = 8;
}

/* Measures post, start, complete and wait when there is nothing to wait for. */
static void own_costs(struct run *r) {
    static const char *const CALLS[] = {"win_post", "win_start", "win_complete", "win_wait"};
    double *times[4];
    for (int c = 0; c < 4; c++) {
        times[c] = malloc(r->count * sizeof *times[c]);
        if (times[c] == NULL) exit(3);
    }
    for (uint64_t i = 0; i < r->count; i++) {
        begin(r);
        CHECKED(fly_win_post(r->win, r->neighbours, r->before));
        times[0][i] = passed(r);
        CHECKED(fly_barrier(r->team)); /* after it all have posted */
        begin(r);
        CHECKED(fly_win_start(r->win, r->neighbours, r->behind));
        times[1][i] = passed(r);
        begin(r);
        CHECKED(fly_win_complete(r->win));
        times[2][i] = passed(r);
        CHECKED(fly_barrier(r->team));
        begin(r);
        CHECKED(fly_win_wait(r->win));
        times[3][i] = passed(r);
    }
    for (int c = 0; c < 4; c++) {
        keep(r, CALLS[c], times[c], r->count);
        free(times[c]);
    }
}

static void puts_all(struct run *r) {
    for (int i = 0; i < r->neighbours; i++)
        CHECKED(fly_put(r->win, r->mine, 8, r->behind[i], 0));
}

/* Measures whole epochs, in which 8 bytes are put to each neighbour. */
static void epochs(struct run *r) {
    for (int i = 0; i < WARM; i++) CHECKED(fly_fence(r->win));
    EACH(r, "epoch of fence", , puts_all(r); CHECKED(fly_fence(r->win)), );
    CHECKED(fly_barrier(r->team));
    EACH(r, "epoch of post to wait", ,
         CHECKED(fly_win_post(r->win, r->neighbours, r->before));
         CHECKED(fly_win_start(r->win, r->neighbours, r->behind)); puts_all(r);
         CHECKED(fly_win_complete(r->win)); CHECKED(fly_win_wait(r->win)), );
    CHECKED(fly_barrier(r->team));
}

static void neighbourhoods(struct run *r) {
    for (int k = 1; k < r->ranks; k = k < 2 || k == r->ranks - 1 ? k + 1 : k * 2) {
        if (k > r->ranks - 1) k = r->ranks - 1;
        r->neighbours = k;
        for (int i = 0; i < k; i++) {
            r->behind[i] = (r->rank + i + 1) % r->ranks;
            r->before[i] = (r->rank - i - 1 + r->ranks) % r->ranks;
        }
        own_costs(r);
        epochs(r);
    }
    r->neighbours = 0;
}

static int as_rank(const fly_boot *boot, void *context) {
    struct wanted *wanted = context;
    struct run run = {.wanted = wanted, .rank = boot->rank, .ranks = boot->size}, *r = &run;
    fly_config config = {.transports = wanted->transports};
    void *base;
    int processors = perf_processors();
    bool crowded = r->ranks > processors;
    if (!crowded) perf_apart(r->rank);
    if (fly_init(boot, &config, &r->rt) != FLY_OK) {
        if (r->rank == 0) fprintf(stderr, "%s: %s\n", PROGRAM, fly_last_error(NULL));
        return 2;
    }
    r->team = fly_world(r->rt);
    r->bytes = 8;
    r->count = crowded ? wanted->repetitions / 4 + 9 : wanted->repetitions;
    r->mine = calloc(BYTES_MOST, 1);
    r->times = malloc((wanted->repetitions + 9) * sizeof *r->times);
    if (r->mine == NULL || r->times == NULL) {
        free(r->mine);
        free(r->times);
        return 3;
    }
    CHECKED(fly_win_allocate(r->team, BYTES_MOST, 1, 0, &base, &r->win));
    clock_cost(r);
    CHECKED(fly_barrier(r->team));
    if (r->rank == 0) single(r);
    CHECKED(fly_barrier(r->team));
    neighbourhoods(r);
    if (wanted->sizes) sizes(r);
    CHECKED(fly_win_free(&r->win));
    CHECKED(fly_finalize(&r->rt));
    free(r->mine);
    free(r->times);
    return 0;
}

static int read_question(const char *text, struct model_question *question) {
    size_t numbers[3];
    int count = 0;
    int code = perf_read_list(PROGRAM, "--ask", text, 0, 1 << 30, numbers, 3, &count);
    if (code != 0) return code;
    if (count != 3 || numbers[0] < 2 || numbers[1] < 1 || numbers[1] >= numbers[0])
        return perf_refuse(PROGRAM, "--ask", text, "RANKS,NEIGHBOURS,BYTES with 2 ranks or more "
                           "and 1 to RANKS - 1 neighbours");
    *question = (struct model_question){numbers[0], numbers[1], numbers[2]};
    return 0;
}

static int read_options(int count, char **words, struct wanted *wanted) {
    for (int i = 0; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        int code = 0;
        if (strcmp(words[i], "--json") == 0) {
            wanted->json = true;
            continue;
        }
        if (strcmp(words[i], "--transports") == 0)
            wanted->transports = value;
        else if (strcmp(words[i], "--ranks") == 0)
            code = perf_read_list(PROGRAM, "--ranks", value, 2, RANKS_MOST, wanted->ranks,
                                  LISTED_MOST, &wanted->rank_counts);
        else if (strcmp(words[i], "--repetitions") == 0)
            code = perf_read_number(PROGRAM, "--repetitions", value, 1, 1000000,
                                    &wanted->repetitions);
        else if (strcmp(words[i], "--ask") == 0)
            code = read_question(value, &wanted->question);
        else
            code = perf_refuse(PROGRAM, "option", words[i],
                               "--transports, --ranks, --repetitions, --ask or --json");
        if (code != 0) return code;
        i++;
    }
    return 0;
}

int perf_model(int count, char **words) {
    struct wanted wanted = {.transports = "shm", .ranks = {2, 3, 4, 6, 8}, .rank_counts = 5,
                            .repetitions = 1000};
    int code = read_options(count, words, &wanted);
    if (code != 0) return code;
    wanted.samples = perf_shared(PROGRAM, sizeof *wanted.samples);
    if (wanted.samples == NULL) return 3;
    for (int i = 0; i < wanted.rank_counts && code == 0; i++) {
        wanted.sizes = i == 0;
        code = perf_start(PROGRAM, (int)wanted.ranks[i], LIMIT_S, as_rank, &wanted);
    }
    if (code == 0) code = model_print(wanted.samples, &wanted.question, wanted.json);
    munmap(wanted.samples, sizeof *wanted.samples);
    return code;
}
