/* Epochs of windows: fence, and post-start-complete-wait.
 *
 * Post and complete are packets, matched like notifications: a rank needs memory for the k ranks it
 * works with, not for all. Completion needs no answer, since its packet follows the operations.
 */
#include "sync.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "error.h"
#include "flush.h"
#include "progress.h"
#include "record.h"
#include "state.h"
#include "team.h"

/* The most ranks of a start whose small puts may be delayed. */
enum { LATE_RANKS = 32 };

int fly_sync_init(struct fly_win *win) {
    struct fly_sync *sync = calloc(1, sizeof *sync);
    if (sync == NULL) return fly_fail(FLY_ERR_NOMEM, "no memory for a window");
    fly_match_init(&sync->inner);
    sync->random = (uint64_t)win->rt->rank + 1;
    for (int i = 0; i < 8; i++) sync->seen[i].target = -1;
    win->sync = sync;
    return FLY_OK;
}

/* Ends an epoch. Its memory and ties stay for the next one, which usually has the same ranks. */
static void close_group(struct fly_sync *sync, struct fly_group *group) {
    for (int i = 0; i < group->n; i++) fly_match_withdraw(&sync->inner, &group->wants[i]);
    group->open = false;
}

static void drop_group(struct fly_sync *sync, struct fly_group *group) {
    for (int i = 0; i < group->n; i++) fly_match_unbind(&sync->inner, &group->wants[i]);
    free(group->ranks);
    free(group->wants);
    free(group->late);
    *group = (struct fly_group){0};
}

void fly_sync_end(struct fly_win *win) {
    struct fly_sync *sync = win->sync;
    if (sync == NULL) return;
    drop_group(sync, &sync->post);
    drop_group(sync, &sync->start);
    fly_match_end(&sync->inner);
    free(sync->held);
    free(sync);
    win->sync = NULL;
}

bool fly_sync_groups(const struct fly_sync *sync) { return sync->post.open || sync->start.open; }

bool fly_sync_open(const struct fly_win *win) {
    const struct fly_sync *sync = win->sync;
    return fly_sync_groups(sync) || sync->held_count != 0 || sync->all;
}

bool fly_sync_arrived(struct fly_win *win, int source, int kind) {
    struct fly_want *taker;
    return fly_match_arrive(&win->sync->inner, source, kind, NULL, 0, &taker);
}

int fly_fence(fly_win *win) {
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "fly_fence: win is NULL");
    fly_enter(win->rt);
    int code;
    if (fly_sync_open(win)) {
        code = fly_fail(FLY_ERR_STATE, "fly_fence: win: a lock is held, or an epoch of post or "
                        "start open");
    } else {
        uint64_t nothing = 0;
        code = fly_complete_before_barrier(win);
        int together = fly_agree(win->rt, &win->object, &nothing);
        if (code == FLY_OK) code = together;
        fly_fence_all();
    }
    fly_leave(win->rt);
    return code;
}

/* Checks a group: ranks of the team, this one allowed, each at most once. */
static int check_group(const struct fly_win *win, const char *call, int n, const int ranks[]) {
    int size = win->object.team->size;
    if (n < 0 || n > size || (n > 0 && ranks == NULL))
        return fly_fail(FLY_ERR_ARG, "%s: n: %d must be 0 to %d, with as many ranks", call, n,
                        size);
    bool *seen = calloc((size_t)size, sizeof *seen);
    if (seen == NULL) return fly_fail(FLY_ERR_NOMEM, "%s: no memory", call);
    int code = FLY_OK;
    for (int i = 0; i < n && code == FLY_OK; i++) {
        if (ranks[i] < 0 || ranks[i] >= size)
            code = fly_fail(FLY_ERR_RANK, "%s: ranks[%d]: %d must be 0 to %d", call, i, ranks[i],
                            size - 1);
        else if (seen[ranks[i]])
            code = fly_fail(FLY_ERR_ARG, "%s: ranks[%d]: %d is there twice", call, i, ranks[i]);
        else
            seen[ranks[i]] = true;
    }
    free(seen);
    return code;
}

static bool same_ranks(const struct fly_group *group, int n, const int ranks[]) {
    return group->n == n && (n == 0 || (ranks != NULL && memcmp(group->ranks, ranks,
                                                                (size_t)n * sizeof *ranks) == 0));
}

/* Ties a group to one packet of this kind from each of its ranks. */
static int tie_group(struct fly_sync *sync, struct fly_group *group, const char *call, int n,
                     const int ranks[], int kind) {
    drop_group(sync, group);
    if (n == 0) return FLY_OK;
    group->ranks = malloc((size_t)n * sizeof *group->ranks);
    group->wants = calloc((size_t)n, sizeof *group->wants);
    bool whole = group->ranks != NULL && group->wants != NULL;
    while (whole && group->n < n) {
        struct fly_want *want = &group->wants[group->n];
        want->source = group->ranks[group->n] = ranks[group->n];
        want->tag = kind;
        want->expected = 1;
        whole = fly_match_bind(&sync->inner, want);
        group->n += whole;
    }
    if (whole) return FLY_OK;
    drop_group(sync, group);
    return fly_fail(FLY_ERR_NOMEM, "%s: no memory for %d ranks", call, n);
}

static int open_group(struct fly_win *win, struct fly_group *group, const char *call, int n,
                      const int ranks[], int kind) {
    struct fly_sync *sync = win->sync;
    bool known = same_ranks(group, n, ranks);
    int code = known ? FLY_OK : check_group(win, call, n, ranks);
    if (code != FLY_OK) return code;
    if (group->open)
        return fly_fail(FLY_ERR_STATE, "%s: win: the one before has not ended", call);
    if (sync->held_count != 0 || sync->all)
        return fly_fail(FLY_ERR_STATE, "%s: win: a lock is held", call);
    if (!known) code = tie_group(sync, group, call, n, ranks, kind);
    if (code != FLY_OK) return code;
    for (int i = 0; i < n; i++) fly_match_post(&sync->inner, &group->wants[i]);
    group->open = true;
    return FLY_OK;
}

static int tell(struct fly_win *win, int rank, int kind) {
    int peer = fly_world_rank(win->object.team, rank);
    int code = fly_credit(win->rt, peer, FLY_CLASS_OTHER, true);
    if (code != FLY_OK) return code;
    struct fly_packet packet = {.kind = (uint8_t)kind, .window = win->object.id};
    packet.source = win->object.team->rank;
    fly_record_packet(win->rt, FLY_E_SEND, win->object.id, peer,
                      kind == FLY_K_POST ? FLY_TAG_POST : FLY_TAG_COMPLETE, false);
    return fly_send(win->rt, peer, &packet, NULL, 0);
}

/* Finds the delayed put to a target; a start usually has few ranks. */
static struct fly_late_put *late_of(const struct fly_group *group, int target) {
    for (int i = 0; i < group->n && i < LATE_RANKS; i++)
        if (group->ranks[i] == target) return &group->late[i];
    return NULL;
}

bool fly_sync_late(struct fly_win *win, int target, const struct fly_packet *packet,
                   const void *data, size_t bytes) {
    struct fly_group *group = &win->sync->start;
    if (!group->open || bytes > FLY_LATE_BYTES) return false;
    if (group->late == NULL) group->late = calloc((size_t)group->n + 1, sizeof *group->late);
    struct fly_late_put *late = group->late == NULL ? NULL : late_of(group, target);
    if (late == NULL) return false;
    late->packet = *packet;
    if (bytes != 0) memcpy(late->data, data, bytes);
    late->here = true;
    win->late++;
    return true;
}

static int send_late(struct fly_win *win, int rank, struct fly_late_put *late) {
    const struct fly_packet *packet = &late->packet;
    late->here = false;
    win->late--;
    return fly_send(win->rt, fly_world_rank(win->object.team, rank), packet, late->data,
                    packet->move.blocks * packet->move.block_bytes);
}

int fly_sync_hurry(struct fly_win *win, int target) {
    struct fly_group *group = &win->sync->start;
    int code = FLY_OK;
    for (int i = 0; win->late != 0 && i < group->n; i++) {
        if ((target != FLY_ALL && group->ranks[i] != target) || !group->late[i].here) continue;
        int this_one = send_late(win, group->ranks[i], &group->late[i]);
        if (code == FLY_OK) code = this_one;
    }
    return code;
}

/* Sends the end of an epoch, together with the last put where that was delayed. */
static int tell_end(struct fly_win *win, const struct fly_group *group, int i) {
    struct fly_late_put *late = group->late == NULL ? NULL : &group->late[i];
    if (late == NULL || !late->here) return tell(win, group->ranks[i], FLY_K_COMPLETE);
    late->packet.flags |= FLY_F_COMPLETE;
    fly_record_packet(win->rt, FLY_E_SEND, win->object.id,
                      fly_world_rank(win->object.team, group->ranks[i]), FLY_TAG_COMPLETE, false);
    return send_late(win, group->ranks[i], late);
}

static int tell_all(struct fly_win *win, const struct fly_group *group, int kind) {
    int code = FLY_OK;
    for (int i = 0; i < group->n; i++) {
        int this_one = kind == FLY_K_COMPLETE ? tell_end(win, group, i)
                                              : tell(win, group->ranks[i], kind);
        if (code == FLY_OK) code = this_one;
    }
    for (int i = 0; i < group->n; i++)
        fly_let_out(win->rt, fly_world_rank(win->object.team, group->ranks[i]));
    return code;
}

/* Whether all of the group have been heard, from *next on, or a dead one cannot be heard any more.
   Then the others may have given up as well, and are not waited for. */
static bool heard(const struct fly_win *win, const struct fly_group *group, int *next, int *code) {
    while (*next < group->n && fly_match_complete(&group->wants[*next])) (*next)++;
    for (int i = *next; win->rt->deaths != 0 && i < group->n; i++) {
        if (fly_match_complete(&group->wants[i]) ||
            !win->rt->peers[fly_world_rank(win->object.team, group->ranks[i])].dead)
            continue;
        *code = fly_fail_dead(win->rt, "an epoch",
                              fly_world_rank(win->object.team, group->ranks[i]));
        return true;
    }
    return *next == group->n;
}

/* Records that the whole group was heard. */
static void record_heard(const struct fly_win *win, const struct fly_group *group, uint32_t tag) {
    bool beside = false;
    for (int i = 0; i < group->n; i++) {
        int peer = fly_world_rank(win->object.team, group->ranks[i]);
        fly_record_packet(win->rt, FLY_E_RECV, win->object.id, peer, tag, beside);
        beside = beside || peer != win->rt->rank;
    }
}

static int hear_all(struct fly_win *win, const struct fly_group *group) {
    struct fly_pause pause = {.rt = win->rt}; /* fly_tend knows which ranks it waits for */
    int code = FLY_OK, next = 0;
    while (!heard(win, group, &next, &code)) fly_wait_more(&pause);
    return code;
}

int fly_win_post(fly_win *win, int n, const int ranks[]) {
    static const char CALL[] = "fly_win_post";
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "%s: win is NULL", CALL);
    fly_enter(win->rt);
    struct fly_group *group = &win->sync->post;
    int code = open_group(win, group, CALL, n, ranks, FLY_K_COMPLETE);
    if (code == FLY_OK) {
        fly_fence_all();
        code = tell_all(win, group, FLY_K_POST);
    }
    fly_leave(win->rt);
    return code;
}

int fly_win_start(fly_win *win, int n, const int ranks[]) {
    static const char CALL[] = "fly_win_start";
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "%s: win is NULL", CALL);
    fly_enter(win->rt);
    struct fly_group *group = &win->sync->start;
    int code = open_group(win, group, CALL, n, ranks, FLY_K_POST);
    if (code == FLY_OK) {
        code = hear_all(win, group);
        record_heard(win, group, FLY_TAG_POST);
        if (code != FLY_OK) close_group(win->sync, group);
    }
    fly_leave(win->rt);
    return code;
}

int fly_win_complete(fly_win *win) {
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "fly_win_complete: win is NULL");
    fly_enter(win->rt);
    struct fly_group *group = &win->sync->start;
    int code;
    if (!group->open) {
        code = fly_fail(FLY_ERR_STATE, "fly_win_complete: win: fly_win_start comes first");
    } else {
        fly_answers(win, -1);
        fly_record_answers(win, -1);
        code = tell_all(win, group, FLY_K_COMPLETE);
        close_group(win->sync, group);
    }
    fly_leave(win->rt);
    return code;
}

static int not_posted(const char *call) {
    return fly_fail(FLY_ERR_STATE, "%s: win: fly_win_post comes first", call);
}

int fly_win_wait(fly_win *win) {
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "fly_win_wait: win is NULL");
    fly_enter(win->rt);
    struct fly_group *group = &win->sync->post;
    int code = group->open ? hear_all(win, group) : not_posted("fly_win_wait");
    if (group->open) {
        record_heard(win, group, FLY_TAG_COMPLETE);
        close_group(win->sync, group);
    }
    fly_leave(win->rt);
    return code;
}

int fly_win_test(fly_win *win, int *flag) {
    if (win == NULL || flag == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_win_test: %s is NULL", win == NULL ? "win" : "flag");
    fly_enter(win->rt);
    struct fly_group *group = &win->sync->post;
    int code = group->open ? FLY_OK : not_posted("fly_win_test");
    if (group->open) {
        int next = 0;
        fly_turn(win->rt);
        *flag = heard(win, group, &next, &code);
        if (*flag) {
            record_heard(win, group, FLY_TAG_COMPLETE);
            close_group(win->sync, group);
        }
    }
    fly_leave(win->rt);
    return code;
}
