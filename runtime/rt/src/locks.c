/* Locks of windows: shared, exclusive, all. The words are in lock_words.h.
 *
 * Without contention, a shared lock takes one step at the target; an exclusive one takes one at the
 * master and one at the target; lock_all takes one at the master (after Gerstenberger, Besta,
 * Hoefler: Enabling highly-scalable remote memory access programming with MPI-3 one sided, 2013,
 * section 2.3). What differs from that paper: writers that found the target taken queue up; readers
 * yield to the queue, but for those that came while a writer held the lock; and lock_all yields to
 * writers that yielded to it, once a phase. So each process overtakes a writer at most once for
 * every writer before it.
 */
#include <stddef.h>
#include <stdlib.h>

#include "access.h"
#include "alive.h"
#include "error.h"
#include "flush.h"
#include "lock_words.h"
#include "progress.h"
#include "state.h"
#include "sync.h"
#include "team.h"

#define FIELD(word, name) \
    ((word) >> FLY_##name##_SHIFT & ((UINT64_C(1) << FLY_##name##_BITS) - 1))
#define ONE(name) (UINT64_C(1) << FLY_##name##_SHIFT)
#define X_HELD(word) (((word) & ONE(LOCK_X)) != 0)
#define SERVED(word) ((word) >> FLY_LOCK_SERVED_SHIFT & 0xFFFF)
#define NEXT(word) ((word) >> FLY_LOCK_NEXT_SHIFT & 0xFFFF)

enum { PATIENCE_MOST = 6 };

struct lock_attempt {
    struct fly_win *win;
    int target; /* the rank that has the word */
    size_t field;
    unsigned patience;
};

static int step(const struct lock_attempt *ask, uint64_t add, uint64_t *was) {
    return fly_control(ask->win, ask->target, FLY_ATOMIC_ADD, ask->field, add, 0, was);
}

static int look(const struct lock_attempt *ask, uint64_t *word) { return step(ask, 0, word); }

/* Waits by exponential back-off with jitter. A holder that has died looks like one that is slow, so
   once a member of the team has died nobody waits for a lock. */
static int back_off(struct lock_attempt *ask) {
    struct fly_win *win = ask->win;
    const struct fly_team *team = win->object.team;
    uint64_t *random = &win->sync->random;
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t turns = (UINT64_C(1) << ask->patience) + (*random >> 33) % (1U << ask->patience);
    if (ask->patience < PATIENCE_MOST) ask->patience++;
    struct fly_pause pause = {.rt = win->rt};
    for (uint64_t i = 0; i < turns; i++) {
        if (ask->patience == PATIENCE_MOST) pause.turns = 100; /* others may need it: yield */
        fly_wait_more(&pause);
    }
    for (int r = 0; win->rt->unheard && r < team->size; r++) /* any member may hold the lock */
        win->peers[fly_world_rank(team, r)].wanted = true;
    return fly_member_died(win);
}

/* Waits while any bit of `mask` is set. */
static int wait_clear(struct lock_attempt *ask, uint64_t mask) {
    uint64_t word;
    int code = look(ask, &word);
    while (code == FLY_OK && (word & mask) != 0) {
        code = back_off(ask);
        if (code == FLY_OK) code = look(ask, &word);
    }
    return code;
}

static struct lock_attempt at_target(struct fly_win *win, int target) {
    return (struct lock_attempt){win, target, offsetof(struct fly_entry, lock), 0};
}

static struct lock_attempt at_master(struct fly_win *win) {
    return (struct lock_attempt){win, 0, offsetof(struct fly_entry, master), 0};
}

static int lock_shared(struct fly_win *win, int target) {
    struct lock_attempt ask = at_target(win, target);
    uint64_t reader = ONE(LOCK_READER), word;
    int code = step(&ask, reader, &word);
    if (code != FLY_OK) return code;
    uint64_t before = SERVED(word);
    bool entitled = false;
    while (!X_HELD(word) && NEXT(word) != SERVED(word) && !entitled) {
        code = step(&ask, 0 - reader, NULL);
        /* Waits until the queue is empty, or moves, or somebody holds the lock. */
        do {
            if (code == FLY_OK) code = back_off(&ask);
            if (code == FLY_OK) code = look(&ask, &word);
        } while (code == FLY_OK && !X_HELD(word) && NEXT(word) != SERVED(word) &&
                 SERVED(word) == before);
        entitled = SERVED(word) != before;
        if (code == FLY_OK) code = step(&ask, reader, &word);
        if (code != FLY_OK) return code;
    }
    if (X_HELD(word)) code = wait_clear(&ask, ONE(LOCK_X));
    if (code != FLY_OK) step(&ask, 0 - reader, NULL);
    return code;
}

/* Joins the writers at the master word, which keeps lock_all out. */
static int enter_writers(struct fly_win *win) {
    struct lock_attempt ask = at_master(win);
    uint64_t writer = ONE(MASTER_WRITER), waits = ONE(MASTER_WAITS), word;
    int code = step(&ask, writer, &word);
    while (code == FLY_OK && FIELD(word, MASTER_ALL) != 0) {
        code = step(&ask, waits - writer, NULL);
        do {
            if (code == FLY_OK) code = back_off(&ask);
            if (code == FLY_OK) code = look(&ask, &word);
        } while (code == FLY_OK && FIELD(word, MASTER_ALL) != 0);
        if (code != FLY_OK) {
            step(&ask, 0 - waits, NULL);
            return code;
        }
        code = step(&ask, writer - waits + ONE(MASTER_PHASE), &word);
    }
    return code;
}

static bool is_free(uint64_t word) {
    return !X_HELD(word) && FIELD(word, LOCK_READER) == 0 && NEXT(word) == SERVED(word);
}

/* Queues up until it is this writer's turn and the readers have gone. */
static int stand_in_line(struct lock_attempt *ask) {
    uint64_t word, was;
    int code = step(ask, ONE(LOCK_NEXT), &word);
    if (code != FLY_OK) return code;
    uint64_t ticket = NEXT(word);
    for (;;) {
        code = look(ask, &word);
        if (code != FLY_OK) return code;
        if (SERVED(word) == ticket && !X_HELD(word) && FIELD(word, LOCK_READER) == 0) {
            code = fly_control(ask->win, ask->target, FLY_ATOMIC_SWAP, ask->field, word,
                               word | ONE(LOCK_X), &was);
            if (code != FLY_OK || was == word) return code;
        } else {
            code = back_off(ask);
            if (code != FLY_OK) return code;
        }
    }
}

/* The compare-and-swap guesses the word as it was when last free; at first, 0. */
static int lock_exclusive(struct fly_win *win, int target, bool *in_line) {
    struct lock_attempt ask = at_target(win, target);
    int slot = target % 8;
    uint64_t guess = win->sync->seen[slot].target == target ? win->sync->seen[slot].word : 0, was;
    for (int tries = 0; tries < 2; tries++) {
        int code = fly_control(win, target, FLY_ATOMIC_SWAP, ask.field, guess,
                               guess | ONE(LOCK_X), &was);
        if (code != FLY_OK) return code;
        if (was == guess) {
            win->sync->seen[slot].target = target;
            win->sync->seen[slot].word = guess;
            return FLY_OK;
        }
        if (!is_free(was)) break;
        guess = was;
    }
    *in_line = true;
    return stand_in_line(&ask);
}

/* A writer that queued up lets the next one proceed: only the holder changes SERVED, so it can
   account for the field's carry. One that did not queue found the queue empty; it may have
   grown. */
static int unlock_exclusive(struct fly_win *win, int target, bool in_line) {
    struct lock_attempt ask = at_target(win, target);
    uint64_t word, add = 0 - ONE(LOCK_X);
    if (in_line) {
        int code = look(&ask, &word);
        if (code != FLY_OK) return code;
        uint64_t served = SERVED(word), next = (served + 1) & 0xFFFF;
        add += (next - served) * ONE(LOCK_SERVED);
    }
    return step(&ask, add, NULL);
}

static int find_held(const struct fly_sync *sync, int target) {
    for (size_t i = 0; i < sync->held_count; i++)
        if (sync->held[i].target == target) return (int)i;
    return -1;
}

static int room_for_held(struct fly_sync *sync) {
    if (sync->held_count < sync->held_room) return FLY_OK;
    size_t room = sync->held_room == 0 ? 4 : sync->held_room * 2;
    struct fly_held_lock *held = realloc(sync->held, room * sizeof *held);
    if (held == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_lock: no memory");
    sync->held = held;
    sync->held_room = room;
    return FLY_OK;
}

static int leave_writers(struct fly_win *win) {
    struct lock_attempt master = at_master(win);
    return step(&master, 0 - ONE(MASTER_WRITER), NULL);
}

static int take(struct fly_win *win, int kind, int target, bool *in_line) {
    struct fly_sync *sync = win->sync;
    if (kind == FLY_SHARED) return lock_shared(win, target);
    int code = sync->exclusive == 0 ? enter_writers(win) : FLY_OK;
    if (code != FLY_OK) return code;
    code = lock_exclusive(win, target, in_line);
    if (code == FLY_OK)
        sync->exclusive++;
    else if (sync->exclusive == 0)
        leave_writers(win);
    return code;
}

int fly_lock(fly_win *win, int kind, int target) {
    int code = fly_target(win, "fly_lock", target);
    if (code != FLY_OK) return code == FLY_NOTHING ? FLY_OK : code;
    if (kind != FLY_SHARED && kind != FLY_EXCLUSIVE)
        return fly_fail(FLY_ERR_ARG, "fly_lock: kind: %d must be FLY_SHARED or FLY_EXCLUSIVE",
                        kind);
    fly_enter(win->rt);
    struct fly_sync *sync = win->sync;
    if (fly_sync_groups(sync) || sync->all)
        code = fly_fail(FLY_ERR_STATE, "fly_lock: win: an epoch of another kind is open");
    else if (find_held(sync, target) >= 0)
        code = fly_fail(FLY_ERR_STATE, "fly_lock: target: %d is locked by this process", target);
    else
        code = room_for_held(sync);
    bool in_line = false;
    if (code == FLY_OK) code = take(win, kind, target, &in_line);
    if (code == FLY_OK)
        sync->held[sync->held_count++] = (struct fly_held_lock){target, kind, in_line};
    fly_fence_all();
    fly_leave(win->rt);
    return code;
}

int fly_unlock(fly_win *win, int target) {
    int code = fly_target(win, "fly_unlock", target);
    if (code != FLY_OK) return code == FLY_NOTHING ? FLY_OK : code;
    fly_enter(win->rt);
    struct fly_sync *sync = win->sync;
    int index = find_held(sync, target);
    if (index < 0) {
        code = fly_fail(FLY_ERR_STATE, "fly_unlock: target: %d is not locked by this process",
                        target);
    } else {
        struct fly_held_lock held = sync->held[index];
        sync->held[index] = sync->held[--sync->held_count];
        code = fly_complete(win, target);
        int given;
        if (held.kind == FLY_SHARED) {
            struct lock_attempt ask = at_target(win, target);
            given = step(&ask, 0 - ONE(LOCK_READER), NULL);
        } else {
            given = unlock_exclusive(win, target, held.in_line);
            if (--sync->exclusive == 0) leave_writers(win);
        }
        if (code == FLY_OK) code = given;
    }
    fly_leave(win->rt);
    return code;
}

static int enter_all(struct fly_win *win) {
    struct lock_attempt ask = at_master(win);
    uint64_t all = ONE(MASTER_ALL), word;
    int code = step(&ask, all, &word);
    if (code != FLY_OK) return code;
    if (FIELD(word, MASTER_WRITER) == 0 && FIELD(word, MASTER_WAITS) != 0) {
        uint64_t before = FIELD(word, MASTER_PHASE);
        code = step(&ask, 0 - all, NULL);
        /* Waits once, until no writer yields any more or one has come in. */
        do {
            if (code == FLY_OK) code = back_off(&ask);
            if (code == FLY_OK) code = look(&ask, &word);
        } while (code == FLY_OK && FIELD(word, MASTER_WRITER) == 0 &&
                 FIELD(word, MASTER_WAITS) != 0 && FIELD(word, MASTER_PHASE) == before);
        if (code == FLY_OK) code = step(&ask, all, &word);
        if (code != FLY_OK) return code;
    }
    uint64_t writers = ((UINT64_C(1) << FLY_MASTER_WRITER_BITS) - 1) << FLY_MASTER_WRITER_SHIFT;
    if ((word & writers) != 0) code = wait_clear(&ask, writers);
    if (code != FLY_OK) step(&ask, 0 - all, NULL);
    return code;
}

int fly_lock_all(fly_win *win) {
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "fly_lock_all: win is NULL");
    fly_enter(win->rt);
    fly_heed_members(win);
    int code;
    if (fly_sync_open(win))
        code = fly_fail(FLY_ERR_STATE, "fly_lock_all: win: an epoch is open");
    else
        code = fly_member_died(win); /* lock_all needs every member alive */
    if (code == FLY_OK) code = enter_all(win);
    if (code == FLY_OK) win->sync->all = true;
    fly_fence_all();
    fly_leave(win->rt);
    return code;
}

int fly_unlock_all(fly_win *win) {
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "fly_unlock_all: win is NULL");
    fly_enter(win->rt);
    int code;
    if (!win->sync->all) {
        code = fly_fail(FLY_ERR_STATE, "fly_unlock_all: win: fly_lock_all comes first");
    } else {
        struct lock_attempt ask = at_master(win);
        code = fly_complete_all(win);
        win->sync->all = false;
        int given = step(&ask, 0 - ONE(MASTER_ALL), NULL);
        if (code == FLY_OK) code = given;
    }
    fly_leave(win->rt);
    return code;
}
