/* Fence, post-start-complete-wait and locks: what was written before is there afterwards, and locks
 * exclude each other.
 *
 *   sync_test TRANSPORTS threads|processes RANKS [ROUNDS [SEED]]
 */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "ranks.h"

#define OK(call)                                                                            \
    do {                                                                                    \
        int code_ = (call);                                                                 \
        CHECK(code_ == FLY_OK, "rank %d: %d: %s", s->rank, code_, fly_last_error(NULL));    \
    } while (0)

enum { RANKS_MAX = 64, WORDS = 12 };

struct options {
    const char *transports;
    uint64_t rounds, seed;
};

struct state {
    int rank, size;
    uint64_t rounds, common, own; /* streams: the same at all ranks, and this rank's */
    fly_win *win;
    uint64_t *base;
};

/* Each round every rank writes a word at every other; after the fence all are there. */
static void fences(struct state *s) {
    for (uint64_t round = 1; round <= s->rounds; round++) {
        for (int r = 0; r < s->size; r++) {
            uint64_t value = round * 1000 + (uint64_t)s->rank;
            OK(fly_put(s->win, &value, 8, r, (uint64_t)s->rank));
            OK(fly_flush_local(s->win, r));
        }
        OK(fly_fence(s->win));
        for (int r = 0; r < s->size; r++)
            CHECK(s->base[r] == round * 1000 + (uint64_t)r, "rank %d round %lu: %lu from %d",
                  s->rank, (unsigned long)round, (unsigned long)s->base[r], r);
        OK(fly_fence(s->win));
    }
}

/* A random graph of who writes to whom; all ranks know it. */
static void draw_graph(struct state *s, bool edge[RANKS_MAX][RANKS_MAX]) {
    for (int from = 0; from < s->size; from++)
        for (int to = 0; to < s->size; to++) edge[from][to] = below(&s->common, 3) == 0;
}

static void groups(struct state *s) {
    static _Thread_local bool edge[RANKS_MAX][RANKS_MAX];
    for (uint64_t round = 1; round <= s->rounds; round++) {
        int to[RANKS_MAX], from[RANKS_MAX], to_count = 0, from_count = 0, flag = 0;
        draw_graph(s, edge);
        for (int r = 0; r < s->size; r++) {
            if (edge[s->rank][r]) to[to_count++] = r;
            if (edge[r][s->rank]) from[from_count++] = r;
            s->base[r] = 0;
        }
        OK(fly_win_post(s->win, from_count, from));
        CHECK(fly_win_post(s->win, 0, NULL) == FLY_ERR_STATE, "posted already");
        OK(fly_win_start(s->win, to_count, to));
        CHECK(fly_fence(s->win) == FLY_ERR_STATE, "an epoch is open");
        CHECK(fly_lock(s->win, FLY_SHARED, 0) == FLY_ERR_STATE, "an epoch is open");
        for (int i = 0; i < to_count; i++) {
            uint64_t value = round << 8 | (uint64_t)s->rank;
            OK(fly_put(s->win, &value, 8, to[i], (uint64_t)s->rank));
        }
        OK(fly_win_complete(s->win));
        CHECK(fly_win_complete(s->win) == FLY_ERR_STATE, "no start");
        if (round % 2 == 0) OK(fly_win_wait(s->win));
        while (round % 2 != 0 && !flag) OK(fly_win_test(s->win, &flag));
        CHECK(fly_win_wait(s->win) == FLY_ERR_STATE, "no post");
        for (int r = 0; r < s->size; r++) {
            uint64_t wanted = edge[r][s->rank] ? round << 8 | (uint64_t)r : 0;
            CHECK(s->base[r] == wanted, "rank %d round %lu: %lx from %d", s->rank,
                  (unsigned long)round, (unsigned long)s->base[r], r);
        }
    }
}

/* What one rank does in an epoch to its words at another, drawn alike at both: writes of few and of
   many words, reads, sums, flushes. `words` is the expected content at the end. The origin executes
   it and reads back its own writes. */
static void in_epoch(struct state *s, uint64_t round, int from, int to, uint64_t words[WORDS]) {
    uint64_t dice = round * 7919 + (uint64_t)(from * RANKS_MAX + to) + 1;
    bool mine = from == s->rank;
    uint64_t place = RANKS_MAX + (uint64_t)from * WORDS;
    memset(words, 0, WORDS * sizeof *words);
    for (uint64_t left = below(&dice, 6); left > 0; left--) {
        uint64_t kind = below(&dice, 6), at = below(&dice, WORDS), value = below(&dice, 1000) + 1;
        uint64_t n = kind == 0 ? 1 + below(&dice, WORDS - at) : 1, found[WORDS];
        for (uint64_t i = 0; i < n; i++) found[i] = value + i;
        switch (kind) {
        case 0: case 1: case 2:
            memcpy(&words[at], found, n * 8);
            if (mine) OK(fly_put(s->win, found, n * 8, to, place + at));
            if (mine && n > 1) OK(fly_flush_local(s->win, to));
            break;
        case 3:
            if (!mine) break;
            OK(fly_get(s->win, found, 8, to, place + at));
            OK(fly_flush_local(s->win, to));
            CHECK(found[0] == words[at], "rank %d read %lu, not %lu", from,
                  (unsigned long)found[0], (unsigned long)words[at]);
            break;
        case 4:
            words[at] += value;
            if (mine) OK(fly_fetch_add(s->win, NULL, value, to, place + at, FLY_NO_TAG));
            break;
        default:
            if (mine) OK(fly_flush(s->win, value % 2 == 0 ? to : FLY_ALL));
        }
    }
}

/* The last put of an epoch may travel with its end; everything before it must arrive before it. */
static void mixed(struct state *s) {
    static _Thread_local bool edge[RANKS_MAX][RANKS_MAX];
    uint64_t words[WORDS];
    for (uint64_t round = 1; round <= s->rounds; round++) {
        int to[RANKS_MAX], from[RANKS_MAX], to_count = 0, from_count = 0;
        draw_graph(s, edge);
        for (int r = 0; r < s->size; r++) {
            if (edge[s->rank][r]) to[to_count++] = r;
            if (edge[r][s->rank]) from[from_count++] = r;
        }
        memset(&s->base[RANKS_MAX], 0, (size_t)s->size * WORDS * 8);
        OK(fly_win_post(s->win, from_count, from));
        OK(fly_win_start(s->win, to_count, to));
        for (int i = 0; i < to_count; i++) in_epoch(s, round, s->rank, to[i], words);
        OK(fly_win_complete(s->win));
        OK(fly_win_wait(s->win));
        for (int i = 0; i < from_count; i++) {
            if (from[i] == s->rank) continue; /* it was done above */
            in_epoch(s, round, from[i], s->rank, words);
            CHECK(memcmp(words, &s->base[RANKS_MAX + from[i] * WORDS], sizeof words) == 0,
                  "rank %d round %lu: what %d wrote", s->rank, (unsigned long)round, from[i]);
        }
    }
}

/* Under a lock of its target a rank finds a pair of words equal, or makes it so. */
static void look_or_change(struct state *s, int target, bool change) {
    uint64_t pair[2];
    OK(fly_get(s->win, pair, 16, target, 0));
    OK(fly_flush_local(s->win, target));
    CHECK(pair[0] == pair[1], "rank %d saw half of a change at %d: %lu %lu", s->rank, target,
          (unsigned long)pair[0], (unsigned long)pair[1]);
    if (!change) return;
    for (int half = 0; half < 2; half++) {
        pair[half]++;
        OK(fly_put(s->win, &pair[half], 8, target, (uint64_t)half));
        OK(fly_flush(s->win, target));
    }
}

static void locks(struct state *s) {
    uint64_t changes[RANKS_MAX] = {0};
    memset(s->base, 0, RANKS_MAX * 8);
    OK(fly_fence(s->win));
    for (uint64_t round = 0; round < s->rounds * 3; round++) {
        int target = (int)below(&s->own, (uint64_t)s->size), dice = (int)below(&s->own, 8);
        if (dice == 0) {
            OK(fly_lock_all(s->win));
            CHECK(fly_lock(s->win, FLY_SHARED, target) == FLY_ERR_STATE, "all are locked");
            CHECK(fly_unlock(s->win, target) == FLY_ERR_STATE, "not this one alone");
            for (int r = 0; r < s->size; r++) look_or_change(s, r, false);
            OK(fly_unlock_all(s->win));
            CHECK(fly_unlock_all(s->win) == FLY_ERR_STATE, "unlocked");
        } else if (dice < 4) {
            OK(fly_lock(s->win, FLY_SHARED, target));
            look_or_change(s, target, false);
            OK(fly_unlock(s->win, target));
        } else if (dice < 7 || target + 1 == s->size) {
            OK(fly_lock(s->win, FLY_EXCLUSIVE, target));
            CHECK(fly_lock(s->win, FLY_EXCLUSIVE, target) == FLY_ERR_STATE, "locked");
            CHECK(fly_lock_all(s->win) == FLY_ERR_STATE, "one is locked");
            look_or_change(s, target, true);
            changes[target]++;
            OK(fly_unlock(s->win, target));
            CHECK(fly_unlock(s->win, target) == FLY_ERR_STATE, "unlocked");
        } else { /* two locks at once, in the order of ranks */
            for (int r = target; r < target + 2; r++) OK(fly_lock(s->win, FLY_EXCLUSIVE, r));
            for (int r = target; r < target + 2; r++) look_or_change(s, r, true);
            for (int r = target; r < target + 2; r++) OK(fly_unlock(s->win, r));
            changes[target]++;
            changes[target + 1]++;
        }
    }
    OK(fly_fence(s->win));
    for (int r = 0; r < s->size; r++) /* the changes of all ranks, counted separately */
        OK(fly_fetch_add(s->win, NULL, changes[r], r, 2, FLY_NO_TAG));
    OK(fly_fence(s->win));
    CHECK(s->base[0] == s->base[2] && s->base[1] == s->base[2], "rank %d: %lu changes, not %lu",
          s->rank, (unsigned long)s->base[0], (unsigned long)s->base[2]);
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    struct state whole = {.rank = boot->rank, .size = boot->size}, *s = &whole;
    fly_config config = {.transports = options->transports};
    fly_rt *rt;
    s->rounds = options->rounds;
    s->common = options->seed;
    s->own = options->seed * 1000 + (uint64_t)s->rank;
    OK(fly_init(boot, &config, &rt));
    size_t bytes = RANKS_MAX * (1 + WORDS) * 8;
    OK(fly_win_allocate(fly_world(rt), bytes, 8, 0, (void **)&s->base, &s->win));
    fences(s);
    groups(s);
    mixed(s);
    locks(s);
    if (s->rank == 0) OK(fly_lock(s->win, FLY_SHARED, s->size - 1));
    CHECK(fly_win_free(&s->win) == FLY_ERR_STATE && s->win != NULL, "a lock is held");
    if (s->rank == 0) OK(fly_unlock(s->win, s->size - 1));
    OK(fly_win_free(&s->win));
    OK(fly_finalize(&rt));
    return 0;
}

int main(int count, char **words) {
    CHECK(count > 3, "sync_test TRANSPORTS threads|processes RANKS [ROUNDS [SEED]]");
    struct options options = {words[1], argument(count, words, 4, 100),
                              argument(count, words, 5, 1)};
    int ranks = atoi(words[3]);
    CHECK(ranks >= 1 && ranks <= RANKS_MAX, "1 to %d ranks", RANKS_MAX);
    int result = strcmp(words[2], "threads") == 0 ? run_threads(ranks, body, &options)
                                                  : run_processes(ranks, body, &options);
    CHECK(result == 0, "result %d", result);
    printf("sync_test: %s, %s, %d ranks, %lu rounds\n", words[1], words[2], ranks,
           (unsigned long)options.rounds);
    return 0;
}
