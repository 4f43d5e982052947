/* Completion of operations: at the origin, at the target, for one or all. */
#include "access.h"
#include "alive.h"
#include "error.h"
#include "flush.h"
#include "progress.h"
#include "record.h"
#include "state.h"
#include "sync.h"
#include "team.h"

static bool awaits(const struct fly_win *win, int peer) {
    const struct fly_rt *rt = win->rt;
    for (uint32_t i = 0; win->operations != 0 && i < rt->pending_room; i++)
        if (rt->pending[i].used && rt->pending[i].win == win &&
            (peer < 0 || rt->pending[i].peer == peer))
            return true;
    return false;
}

/* Waits for answers from a peer, or from all (-1); dead peers' answers were given up before. */
void fly_answers(struct fly_win *win, int peer) {
    struct fly_pause pause = {.rt = win->rt, .awaited = peer + 1};
    while (awaits(win, peer)) fly_wait_more(&pause);
}

static uint64_t done(struct fly_peer *to) {
    if (to->done_at != NULL) to->puts_done = fly_load_acquire(to->done_at);
    return to->puts_done;
}

static int ask(struct fly_rt *rt, int peer) {
    const struct fly_peer *to = &rt->peers[peer];
    if (to->puts == done(&rt->peers[peer]) || to->done_at != NULL) return FLY_OK;
    return fly_ask(rt, peer);
}

static int acknowledged(struct fly_rt *rt, int peer) {
    struct fly_peer *to = &rt->peers[peer];
    uint64_t wanted = to->puts;
    struct fly_pause pause = {.rt = rt, .awaited = peer + 1};
    while (!to->dead && done(to) < wanted) fly_wait_more(&pause);
    return to->dead ? fly_fail_dead(rt, "a flush", peer) : FLY_OK;
}

/* Returns once the error of a target that could not answer. */
static int refused(struct fly_win *win, int code) {
    int why = win->refused;
    if (code != FLY_OK || why == FLY_OK) return code;
    win->refused = FLY_OK;
    return fly_fail(why, "a rank of the window could not answer: %s", fly_strerror(why));
}

int fly_complete(struct fly_win *win, int rank) {
    int peer = fly_world_rank(win->object.team, rank);
    fly_heed_peer(win->rt, peer);
    int code = fly_sync_hurry(win, rank);
    if (win->members[rank].reach == FLY_REMOTE) {
        if (code == FLY_OK) code = ask(win->rt, peer);
        if (code == FLY_OK) code = acknowledged(win->rt, peer);
    }
    fly_answers(win, peer);
    fly_record_flush(win, peer);
    if (code == FLY_OK && win->rt->peers[peer].dead)
        code = fly_fail_dead(win->rt, "a flush", peer);
    fly_fence_all();
    return refused(win, code);
}

int fly_member_died(const struct fly_win *win) {
    const struct fly_team *team = win->object.team;
    for (int rank = 0; win->rt->deaths != 0 && rank < team->size; rank++)
        if (win->rt->peers[fly_world_rank(team, rank)].dead)
            return fly_fail_dead(win->rt, "the window", fly_world_rank(team, rank));
    return FLY_OK;
}

static int complete_all(struct fly_win *win, bool asks) {
    int size = win->object.team->size;
    fly_heed_members(win);
    int code = fly_sync_hurry(win, FLY_ALL);
    for (int pass = 0; asks && pass < 2; pass++) {
        for (int rank = 0; rank < size; rank++) {
            if (win->members[rank].reach != FLY_REMOTE) continue;
            int peer = fly_world_rank(win->object.team, rank);
            int this_one = pass == 0 ? ask(win->rt, peer) : acknowledged(win->rt, peer);
            if (this_one != FLY_OK) code = this_one;
        }
    }
    fly_answers(win, -1);
    if (asks)
        fly_record_flush(win, -1);
    else
        fly_record_answers(win, -1);
    int died = fly_member_died(win);
    fly_fence_all();
    return refused(win, died != FLY_OK ? died : code);
}

int fly_complete_all(struct fly_win *win) { return complete_all(win, true); }

int fly_complete_before_barrier(struct fly_win *win) {
    return complete_all(win, win->object.team->size > 2);
}

static int flush(const char *call, fly_win *win, int target, bool local) {
    int code = target == FLY_ALL && win != NULL ? FLY_OK : fly_target(win, call, target);
    if (code != FLY_OK) return code == FLY_NOTHING ? FLY_OK : code;
    fly_enter(win->rt);
    if (local) {
        int peer = target == FLY_ALL ? -1 : fly_world_rank(win->object.team, target);
        if (peer < 0)
            fly_heed_members(win);
        else
            fly_heed_peer(win->rt, peer);
        fly_answers(win, peer);
        fly_record_answers(win, peer);
        if (peer < 0)
            code = fly_member_died(win);
        else if (win->rt->peers[peer].dead)
            code = fly_fail_dead(win->rt, call, peer);
        code = refused(win, code);
    } else {
        code = target == FLY_ALL ? fly_complete_all(win) : fly_complete(win, target);
    }
    fly_leave(win->rt);
    return code;
}

int fly_flush(fly_win *win, int target) { return flush("fly_flush", win, target, false); }

int fly_flush_local(fly_win *win, int target) {
    return flush("fly_flush_local", win, target, true);
}

int fly_win_sync(fly_win *win) {
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "fly_win_sync: win is NULL");
    fly_fence_all();
    return FLY_OK;
}
