/* Random programs: in each step one rank moves data and notifies, or all work on their requests.
 *
 * Between steps all ranks meet, so that the order of arrivals is known, and a model of the rules
 * predicts every status and byte.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "program.h"
#include "rule_model.h"

enum { WINDOWS = 3, BYTES = 8192, RANKS_MAX = 8, TAGS = 5 };

#define OK(call)                                                                            \
    do {                                                                                    \
        int code_ = (call);                                                                 \
        CHECK(code_ == FLY_OK, "rank %d step %d: %d: %s", s->rank, s->step, code_,          \
              fly_last_error(NULL));                                                        \
    } while (0)

struct state {
    const struct program *program;
    int rank, size, step;
    fly_rt *rt;
    uint64_t random; /* the same at all ranks */
    fly_win *wins[WINDOWS];
    unsigned char *base[WINDOWS];
    fly_req *requests[WINDOWS][RULE_REQUESTS];
    struct rule *rules;                 /* rank * WINDOWS + window */
    unsigned char (*memory)[BYTES];     /* index: rank * WINDOWS + window */
};

static const size_t UNITS[WINDOWS] = {1, 8, 3};

/* Ranks have different sizes: the last one has less, and the first window of rank 1 is empty. */
static size_t bytes_of(int rank, int window) {
    if (rank == 1 && window == 0) return 0;
    return BYTES - (size_t)rank * 504;
}

static struct rule *rule_of(struct state *s, int rank, int window) {
    return &s->rules[rank * WINDOWS + window];
}

static unsigned char *memory_of(struct state *s, int rank, int window) {
    return s->memory[rank * WINDOWS + window];
}

static int pick(struct state *s, int count) { return (int)below(&s->random, (uint64_t)count); }

static size_t size_drawn(struct state *s) {
    static const size_t SIZES[] = {0, 1, 7, 8, 39, 40, 41, 64, 200, 1000, 4096};
    return SIZES[pick(s, 11)];
}

static void arrived(struct state *s, int origin, int target, int window, int tag,
                    const unsigned char *data, size_t bytes, bool put) {
    struct rule_note note = {origin, tag, -1, {0}};
    if (put && bytes <= sizeof note.data) {
        note.bytes = (int)bytes;
        memcpy(note.data, data, bytes);
    }
    rule_arrive(rule_of(s, target, window), &note);
}

struct move {
    int window, target, tag;
    size_t bytes;
    uint64_t disp;
    unsigned char data[BYTES];
};

/* Draws where a move goes, alike at all ranks; false: the target's memory is too small. */
static bool draw_move(struct state *s, struct move *move, size_t bytes) {
    move->window = pick(s, WINDOWS);
    move->target = pick(s, s->size);
    move->tag = pick(s, TAGS);
    move->bytes = bytes;
    for (size_t i = 0; i < bytes; i++) move->data[i] = (unsigned char)draw(&s->random);
    size_t room = bytes_of(move->target, move->window), unit = UNITS[move->window];
    uint64_t dice = draw(&s->random);
    if (bytes > room) return false;
    move->disp = dice % ((room - bytes) / unit + 1);
    return true;
}

static void do_put(struct state *s, int origin, int kind) {
    static struct move move_of[RANKS_MAX];
    struct move *m = &move_of[s->rank];
    if (!draw_move(s, m, size_drawn(s))) return;
    bool silent = kind == 1;
    int tag = silent ? FLY_NO_TAG : m->tag;
    if (m->bytes != 0)
        memcpy(memory_of(s, m->target, m->window) + m->disp * UNITS[m->window], m->data, m->bytes);
    if (!silent) arrived(s, origin, m->target, m->window, m->tag, m->data, m->bytes, true);
    if (origin != s->rank) return;
    fly_win *win = s->wins[m->window];
    const void *from = m->bytes == 0 ? NULL : m->data;
    if (kind == 0) {
        OK(fly_put_notify(win, from, m->bytes, m->target, m->disp, tag));
    } else if (kind == 1) {
        OK(fly_put(win, from, m->bytes, m->target, m->disp));
    } else {
        fly_req *req;
        fly_status status;
        OK(fly_rput(win, from, m->bytes, m->target, m->disp, tag, &req));
        CHECK(fly_req_free(&req) == FLY_ERR_STATE, "active");
        OK(fly_wait(req, &status));
        CHECK(status.count == 0 && status.source == FLY_ANY_SOURCE, "operation");
        CHECK(fly_start(req) == FLY_ERR_STATE, "an operation starts once");
        OK(fly_req_free(&req));
    }
    OK(fly_flush_local(win, m->target));
    memset(m->data, 0xEE, m->bytes); /* the buffer is ours again */
}

static void do_get(struct state *s, int origin, int kind) {
    static struct move move_of[RANKS_MAX];
    struct move *m = &move_of[s->rank];
    if (!draw_move(s, m, size_drawn(s))) return;
    bool silent = kind == 1;
    if (!silent) arrived(s, origin, m->target, m->window, m->tag, NULL, 0, false);
    if (origin != s->rank) return;
    fly_win *win = s->wins[m->window];
    void *into = m->bytes == 0 ? NULL : m->data;
    memset(m->data, 0xCC, m->bytes);
    if (kind == 0) {
        OK(fly_get_notify(win, into, m->bytes, m->target, m->disp, m->tag));
        OK(fly_flush_local(win, m->target));
    } else if (kind == 1) {
        OK(fly_get(win, into, m->bytes, m->target, m->disp));
        OK(fly_flush_local(win, FLY_ALL));
    } else {
        fly_req *req;
        OK(fly_rget(win, into, m->bytes, m->target, m->disp, m->tag, &req));
        OK(fly_wait(req, NULL));
        OK(fly_req_free(&req));
    }
    CHECK(memcmp(m->data, memory_of(s, m->target, m->window) + m->disp * UNITS[m->window],
                 m->bytes) == 0,
          "rank %d step %d: got other bytes", s->rank, s->step);
}

/* Moves blocks of different lengths at both ends; the model moves byte after byte. */
static void do_shape(struct state *s, int origin, bool put) {
    static unsigned char local_of[RANKS_MAX][2048];
    unsigned char *local = local_of[s->rank];
    static const size_t FACTORS[] = {1, 2, 3, 4, 6, 12};
    int window = pick(s, WINDOWS), target = pick(s, s->size), tag = pick(s, TAGS);
    size_t near = FACTORS[pick(s, 6)], far = FACTORS[pick(s, 6)], unit = (size_t)pick(s, 5);
    fly_shape here = {12 / near, near * unit, (ptrdiff_t)(near * unit + (size_t)pick(s, 30))};
    fly_shape there = {12 / far, far * unit, (ptrdiff_t)(far * unit + (size_t)pick(s, 30))};
    bool backwards = pick(s, 3) == 0;
    uint64_t start = (700 + (uint64_t)pick(s, 300)) / UNITS[window];
    for (int i = 0; i < 2048; i++) local[i] = (unsigned char)draw(&s->random);
    if (bytes_of(target, window) == 0) return;
    if (backwards) there.stride_bytes = -there.stride_bytes;
    unsigned char *memory = memory_of(s, target, window);
    unsigned char expected[2048], packed[12 * 5];
    memcpy(expected, local, sizeof expected);
    for (size_t i = 0; i < 12 * unit; i++) {
        size_t at = i / here.block_bytes * (size_t)here.stride_bytes + i % here.block_bytes;
        ptrdiff_t to = (ptrdiff_t)(start * UNITS[window]) +
                       (ptrdiff_t)(i / there.block_bytes) * there.stride_bytes +
                       (ptrdiff_t)(i % there.block_bytes);
        packed[i] = local[at];
        if (put)
            memory[to] = local[at];
        else
            expected[at] = memory[to];
    }
    arrived(s, origin, target, window, tag, packed, 12 * unit, put);
    if (origin != s->rank) return;
    if (put)
        OK(fly_put_shape(s->wins[window], local, &here, target, start, &there, tag));
    else
        OK(fly_get_shape(s->wins[window], local, &here, target, start, &there, tag));
    OK(fly_flush_local(s->wins[window], target));
    CHECK(put || memcmp(local, expected, sizeof expected) == 0, "rank %d step %d: blocks", s->rank,
          s->step);
}

static void do_atomic(struct state *s, int origin, bool add) {
    int window = pick(s, WINDOWS), target = pick(s, s->size), tag = pick(s, TAGS + 1);
    uint64_t disp = (uint64_t)pick(s, 20), first = draw(&s->random), old = 1, was;
    bool hit = pick(s, 2) == 0;
    if (bytes_of(target, window) == 0) return;
    disp = window == 1 ? disp : disp * 8; /* aligned whatever the unit */
    unsigned char *at = memory_of(s, target, window) + disp * UNITS[window];
    memcpy(&was, at, 8);
    uint64_t expect = hit ? was : first ^ 1;
    uint64_t now = add ? was + first : was == expect ? first : was;
    memcpy(at, &now, 8);
    if (tag < TAGS) arrived(s, origin, target, window, tag, NULL, 0, false);
    if (tag == TAGS) tag = FLY_NO_TAG;
    if (origin != s->rank) return;
    if (add)
        OK(fly_fetch_add(s->wins[window], &old, first, target, disp, tag));
    else
        OK(fly_compare_swap(s->wins[window], &old, expect, first, target, disp, tag));
    OK(fly_flush_local(s->wins[window], target));
    CHECK(old == was, "rank %d step %d: the word was another", s->rank, s->step);
}

static void do_nothing(struct state *s, int origin) {
    if (origin != s->rank) return;
    fly_req *req;
    char byte = 0;
    OK(fly_put_notify(s->wins[0], &byte, 1, FLY_PROC_NULL, 99, 1));
    OK(fly_rget(s->wins[0], &byte, 1, FLY_PROC_NULL, 99, 1, &req));
    OK(fly_wait(req, NULL));
    OK(fly_req_free(&req));
    CHECK(fly_put_notify(s->wins[1], NULL, 0, s->size, 0, 1) == FLY_ERR_RANK, "rank");
    CHECK(fly_put_notify(s->wins[1], NULL, 0, 0, 0, -7) == FLY_ERR_TAG, "tag");
    CHECK(fly_put_notify(s->wins[1], &byte, 1, 0, BYTES / 8, 1) == FLY_ERR_RANGE, "range");
    CHECK(fly_put_notify(s->wins[1], &byte, 1, 0, UINT64_MAX / 4, 1) == FLY_ERR_RANGE, "range");
}

static void one_move(struct state *s, int origin, int dice) {
    if (dice < 7)
        do_put(s, origin, 0);
    else if (dice < 10)
        do_put(s, origin, dice < 9 ? 1 : 2);
    else if (dice < 13)
        do_get(s, origin, dice - 10);
    else if (dice < 15)
        do_shape(s, origin, dice == 13);
    else if (dice < 19)
        do_atomic(s, origin, dice < 17);
    else
        do_nothing(s, origin);
}

static void move_step(struct state *s) {
    int origin = pick(s, s->size), count = 1 + pick(s, 12);
    for (int i = 0; i < count; i++) one_move(s, origin, pick(s, 20));
    if (origin == s->rank)
        for (int w = 0; w < WINDOWS; w++) OK(fly_flush(s->wins[w], FLY_ALL));
}

static void same(const struct state *s, const fly_status *got, const fly_status *wanted) {
    CHECK(got->source == wanted->source && got->tag == wanted->tag &&
              got->count == wanted->count && got->error == wanted->error,
          "rank %d step %d: status (%d, %d, %llu, %d), not (%d, %d, %llu, %d)", s->rank, s->step,
          got->source, got->tag, (unsigned long long)got->count, got->error, wanted->source,
          wanted->tag, (unsigned long long)wanted->count, wanted->error);
}

static void same_inline(const struct state *s, int window, int r) {
    const struct rule_request *request = &s->rules[s->rank * WINDOWS + window].requests[r];
    size_t bytes;
    const void *data = fly_inline(s->requests[window][r], &bytes);
    if (data == NULL) return;
    CHECK((int)bytes == request->last.bytes && memcmp(data, request->last.data, bytes) == 0,
          "rank %d step %d: other bytes inside", s->rank, s->step);
}

static int any_or(struct state *s, int count) { return pick(s, 3) == 0 ? -1 : pick(s, count); }

static void make_request(struct state *s, int rank, int window, int r) {
    struct rule *rule = rule_of(s, rank, window);
    int source = any_or(s, s->size), tag = any_or(s, TAGS);
    uint64_t expected = (uint64_t)pick(s, 4);
    if (pick(s, 12) == 0) source = FLY_PROC_NULL;
    if (pick(s, 10) == 0) expected = 80;
    if (rank == s->rank) {
        if (s->requests[window][r] != NULL) OK(fly_req_free(&s->requests[window][r]));
        OK(fly_notify_init(s->wins[window], source, tag, expected, &s->requests[window][r]));
    }
    rule_make(rule, r, source, tag, expected);
}

static void test_request(struct state *s, int rank, int window, int r, bool wait) {
    struct rule *rule = rule_of(s, rank, window);
    bool complete = !rule->requests[r].active || rule_complete(rule, r);
    fly_status wanted = {FLY_ANY_SOURCE, FLY_ANY_TAG, FLY_OK, rule->requests[r].found};
    bool active = rule->requests[r].active;
    if (complete) wanted = rule_finish(rule, r);
    if (rank != s->rank) return;
    fly_status got;
    int flag = 1;
    if (wait && complete)
        OK(fly_wait(s->requests[window][r], &got));
    else
        OK(fly_test(s->requests[window][r], &flag, &got));
    CHECK(flag == complete, "rank %d step %d: flag %d", s->rank, s->step, flag);
    same(s, &got, &wanted);
    if (complete && active) same_inline(s, window, r);
}

static void test_any(struct state *s, int rank, int window, bool wait) {
    struct rule *rule = rule_of(s, rank, window);
    size_t wanted_index = SIZE_MAX, index = 0;
    bool active = false;
    for (int r = RULE_REQUESTS - 1; r >= 0; r--) {
        if (!rule->requests[r].made || !rule->requests[r].active) continue;
        active = true;
        if (rule_complete(rule, r)) wanted_index = (size_t)r;
    }
    bool flag_wanted = wanted_index != SIZE_MAX || !active;
    fly_status wanted = {FLY_ANY_SOURCE, FLY_ANY_TAG, FLY_OK, 0}, got;
    if (wanted_index != SIZE_MAX) wanted = rule_finish(rule, (int)wanted_index);
    if (rank != s->rank || (wait && !flag_wanted)) return;
    int flag = 1;
    if (wait)
        OK(fly_waitany(RULE_REQUESTS, s->requests[window], &index, &got));
    else
        OK(fly_testany(RULE_REQUESTS, s->requests[window], &index, &flag, &got));
    CHECK(flag == flag_wanted, "rank %d step %d: any: flag %d", s->rank, s->step, flag);
    CHECK(index == wanted_index, "rank %d step %d: any: index %zu, not %zu", s->rank, s->step,
          index, wanted_index);
    if (flag) same(s, &got, &wanted);
}

static void wait_all(struct state *s, int rank, int window) {
    struct rule *rule = rule_of(s, rank, window);
    for (int r = 0; r < RULE_REQUESTS; r++)
        if (rule->requests[r].active && !rule_complete(rule, r)) return;
    fly_status wanted[RULE_REQUESTS], got[RULE_REQUESTS];
    for (int r = 0; r < RULE_REQUESTS; r++) wanted[r] = rule_finish(rule, r);
    if (rank != s->rank) return;
    OK(fly_waitall(RULE_REQUESTS, s->requests[window], got));
    for (int r = 0; r < RULE_REQUESTS; r++) same(s, &got[r], &wanted[r]);
}

static void probe(struct state *s, int rank, int window) {
    int source = any_or(s, s->size), tag = any_or(s, TAGS);
    const struct rule_note *note = rule_probe(rule_of(s, rank, window), source, tag);
    fly_status wanted = {FLY_ANY_SOURCE, FLY_ANY_TAG, FLY_OK, 0}, got;
    if (note != NULL) wanted = (fly_status){note->source, note->tag, FLY_OK, 1};
    if (rank != s->rank) return;
    int flag;
    int64_t unmatched;
    OK(fly_probe(s->wins[window], source, tag, &flag, &got));
    CHECK(flag == (note != NULL), "rank %d step %d: probe", s->rank, s->step);
    same(s, &got, &wanted);
    OK(fly_win_query(s->wins[window], FLY_Q_UNEXPECTED, 0, &unmatched));
    CHECK(unmatched == rule_of(s, rank, window)->count, "rank %d step %d: %d unmatched, not %d",
          s->rank, s->step, (int)unmatched, rule_of(s, rank, window)->count);
}

static void start_or_cancel(struct state *s, int rank, int window, int r, bool cancel) {
    struct rule *rule = rule_of(s, rank, window);
    if (cancel) {
        fly_status wanted = rule_cancel(rule, r), got;
        if (rank != s->rank) return;
        OK(fly_cancel(s->requests[window][r], &got));
        same(s, &got, &wanted);
    } else if (rule->requests[r].active) {
        if (rank != s->rank) return;
        CHECK(fly_start(s->requests[window][r]) == FLY_ERR_STATE, "active already");
        CHECK(fly_req_free(&s->requests[window][r]) == FLY_ERR_STATE, "active still");
    } else {
        rule_start(rule, r);
        if (rank == s->rank) OK(fly_start(s->requests[window][r]));
    }
}

static void one_request(struct state *s, int rank, int window, int r, int dice) {
    const struct rule_request *request = &rule_of(s, rank, window)->requests[r];
    if (dice == 0)
        test_any(s, rank, window, false);
    else if (dice == 1)
        test_any(s, rank, window, true);
    else if (dice == 2)
        wait_all(s, rank, window);
    else if (dice < 5)
        probe(s, rank, window);
    else if (!request->made || (dice == 5 && !request->active))
        make_request(s, rank, window, r);
    else if (dice < 16)
        start_or_cancel(s, rank, window, r, dice >= 14);
    else
        test_request(s, rank, window, r, dice % 2 == 0);
}

static void request_step(struct state *s) {
    int count = 4 + pick(s, 20);
    for (int i = 0; i < count; i++) {
        int rank = pick(s, s->size), window = pick(s, WINDOWS), r = pick(s, RULE_REQUESTS);
        one_request(s, rank, window, r, pick(s, 24));
    }
}

static void compare_memory(struct state *s) {
    for (int w = 0; w < WINDOWS; w++) {
        size_t bytes = bytes_of(s->rank, w);
        CHECK(bytes == 0 || memcmp(s->base[w], memory_of(s, s->rank, w), bytes) == 0,
              "rank %d step %d: window %d has other bytes", s->rank, s->step, w);
    }
}

static void open_windows(struct state *s) {
    for (int w = 0; w < WINDOWS; w++) {
        size_t bytes = bytes_of(s->rank, w);
        if (s->program->create) {
            s->base[w] = bytes == 0 ? NULL : calloc(1, bytes);
            OK(fly_win_create(fly_world(s->rt), s->base[w], bytes, UNITS[w], 0, &s->wins[w]));
        } else {
            OK(fly_win_allocate(fly_world(s->rt), bytes, UNITS[w], 0, (void **)&s->base[w],
                                &s->wins[w]));
        }
    }
}

static void close_windows(struct state *s) {
    for (int w = 0; w < WINDOWS; w++) {
        for (int r = 0; r < RULE_REQUESTS; r++) {
            if (s->requests[w][r] == NULL) continue;
            OK(fly_cancel(s->requests[w][r], NULL));
            if (r % 2 == 0) OK(fly_req_free(&s->requests[w][r]));
        }
        OK(fly_win_free(&s->wins[w]));
        CHECK(s->wins[w] == NULL, "freed");
        for (int r = 1; r < RULE_REQUESTS; r += 2) {
            if (s->requests[w][r] == NULL) continue;
            CHECK(fly_start(s->requests[w][r]) == FLY_ERR_STATE, "its window is gone");
            OK(fly_req_free(&s->requests[w][r]));
        }
        if (s->program->create) free(s->base[w]);
    }
}

int program_run(const fly_boot *boot, const struct program *program, program_meet *meet,
                void *context) {
    fly_config config = {.transports = program->transports, .credits = program->credits,
                         .progress = program->progress, .threads = program->threads};
    struct state whole = {.program = program, .rank = boot->rank, .size = boot->size}, *s = &whole;
    size_t sides = (size_t)(boot->size * WINDOWS);
    s->rules = calloc(sides, sizeof *s->rules);
    s->memory = calloc(sides, sizeof *s->memory);
    s->random = program->seed;
    OK(fly_init(boot, &config, &s->rt));
    open_windows(s);
    for (s->step = 0; s->step < program->steps; s->step++) {
        bool moves = pick(s, 2) == 0;
        if (moves) move_step(s);
        meet(context, s->rt);
        for (int i = 0; i < 40; i++) OK(fly_progress(s->rt));
        if (moves) compare_memory(s);
        if (!moves) request_step(s);
        meet(context, s->rt);
    }
    CHECK(fly_finalize(&s->rt) == FLY_ERR_STATE, "windows are alive");
    close_windows(s);
    OK(fly_finalize(&s->rt));
    free(s->rules);
    free(s->memory);
    return 0;
}
