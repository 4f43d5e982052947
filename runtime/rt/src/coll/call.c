/* A collective call: it is opened and checked, then run, begun, or made into a request. */
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "call.h"
#include "engine.h"
#include "error.h"
#include "graph.h"
#include "progress.h"
#include "record.h"
#include "request.h"
#include "team.h"
#include "window.h"

static void link_in(struct fly_coll *coll) {
    coll->next_coll = coll->rt->colls;
    coll->rt->colls = coll;
}

/* Whether the kernel lets this rank read a member's memory: tries it with a byte of the heap. */
static bool may_read(const struct fly_coll *coll, int rank) {
    int peer = fly_world_rank(coll->team, rank);
    struct fly_carrier *via = coll->rt->peers[peer].via;
    unsigned char byte;
    return via->ops->reach_in != NULL &&
           via->ops->reach_in(via, peer, &byte, coll->win->table[rank].address, 1, false) == FLY_OK;
}

/* Links the lanes to and from the members that share memory. */
static void link_lanes(struct fly_coll *coll) {
    struct fly_team *team = coll->team;
    struct fly_lane *mine = (struct fly_lane *)(void *)(coll->heap + FLY_COLL_HEAP);
    for (int r = 0; r < team->size; r++) {
        const struct fly_member *member = &coll->win->members[r];
        const struct fly_peer *peer = &coll->rt->peers[fly_world_rank(team, r)];
        if (r == team->rank || member->reach != FLY_DIRECT || peer->inlet.ring.slots == NULL)
            continue;
        struct fly_lane *theirs = (struct fly_lane *)(void *)(member->base + FLY_COLL_HEAP);
        fly_lanes_link(&coll->lanes[r], &theirs[team->rank], &mine[r], &peer->inlet);
        coll->lanes[r].reads = may_read(coll, r);
    }
}

/* Runs before the window is made: a peer that is ready first may send already. */
static int make_coll(struct fly_team *team) {
    struct fly_coll *coll = calloc(1, sizeof *coll);
    void *heap = NULL;
    if (coll == NULL) return fly_fail(FLY_ERR_NOMEM, "no memory for collectives");
    coll->team = team;
    coll->rt = team->rt;
    size_t size = (size_t)team->size;
    coll->lanes = calloc(size, sizeof *coll->lanes);
    int code = fly_coll_settings_read(&coll->settings);
    if (code == FLY_OK && coll->lanes == NULL)
        code = fly_fail(FLY_ERR_NOMEM, "no memory for collectives");
    uint64_t worst = (uint64_t)code << 32 | (uint32_t)team->rt->crowd;
    fly_enter(team->rt);
    int together = fly_agree(team->rt, &team->object, &worst);
    if (code == FLY_OK) code = together;
    if (!coll->settings.measured) coll->settings.loggp = fly_loggp_near((int)(uint32_t)worst);
    worst >>= 32;
    if (code == FLY_OK && worst != 0)
        code = fly_fail((int)worst, "the first collective: settings of another rank are refused");
    uint64_t multicast = coll->settings.multicast; /* then: does any want it */
    if (code == FLY_OK) code = fly_agree(team->rt, &team->object, &multicast);
    if (code == FLY_OK) team->coll = coll;
    fly_leave(team->rt);
    if (code != FLY_OK) {
        free(coll->lanes);
        free(coll);
        return code;
    }
    code = fly_win_inner(team, FLY_COLL_HEAP + size * sizeof(struct fly_lane), &heap, &coll->win);
    fly_enter(team->rt);
    if (code == FLY_OK) {
        coll->heap = heap;
        link_lanes(coll);
        link_in(coll);
        if (multicast != 0) fly_cast_open(coll);
    } else {
        team->coll = NULL;
        fly_early_free(coll);
        free(coll->lanes);
        free(coll);
    }
    fly_leave(team->rt);
    return code;
}

bool fly_coll_busy(const struct fly_team *team) {
    return team->coll != NULL && team->coll->win != NULL && team->coll->win->collectives != 0;
}

/* The requests and graphs of users stay, and can only be freed. */
void fly_coll_end(struct fly_team *team) {
    struct fly_coll *coll = team->coll;
    if (coll == NULL) return;
    while (coll->running != NULL) fly_sched_end(coll->running, FLY_ERR_PEER);
    if (coll->to_tell > 0) coll->rt->scheds--;
    while (fly_kept_drop_oldest(coll)) continue;
    for (struct fly_req *req = coll->win->requests; req != NULL;) {
        struct fly_req *next = req->next;
        ((struct fly_sched *)req)->coll = NULL;
        fly_req_orphan(req);
        req = next;
    }
    coll->win->requests = NULL;
    fly_graphs_orphan(coll);
    struct fly_coll **at = &team->rt->colls;
    while (*at != coll) at = &(*at)->next_coll;
    *at = coll->next_coll;
    fly_cast_close(coll);
    fly_win_drop(coll->win);
    fly_early_free(coll);
    free(coll->blocks);
    free(coll->claims);
    free(coll->lanes);
    free(coll);
    team->coll = NULL;
}

int fly_call_open(struct fly_call *call, const char *name, struct fly_team *team, int operation,
                  fly_build *build) {
    if (team == NULL) return fly_fail(FLY_ERR_ARG, "%s: team is NULL", name);
    memset(call, 0, sizeof *call);
    call->name = name;
    call->team = team;
    call->rank = team->rank;
    call->size = call->parts = team->size;
    call->key.operation = operation;
    call->key.build = build;
    if (team->coll == NULL) {
        int code = make_coll(team);
        if (code != FLY_OK) return code;
    }
    call->coll = team->coll;
    return FLY_OK;
}

int fly_call_root(const struct fly_call *call, int root) {
    if (root >= 0 && root < call->size) return FLY_OK;
    return fly_fail(FLY_ERR_RANK, "%s: root: %d must be 0 to %d", call->name, root,
                    call->size - 1);
}

int fly_call_apart(const struct fly_call *call, const void *send, size_t send_bytes,
                   const void *receive, size_t receive_bytes) {
    if ((send == NULL && send_bytes != 0) || (receive == NULL && receive_bytes != 0))
        return fly_fail(FLY_ERR_ARG, "%s: %s is NULL, for %zu bytes", call->name,
                        send == NULL && send_bytes != 0 ? "send" : "receive",
                        send == NULL && send_bytes != 0 ? send_bytes : receive_bytes);
    if (receive == FLY_IN_PLACE)
        return fly_fail(FLY_ERR_ARG, "%s: receive: FLY_IN_PLACE is not for it here", call->name);
    if (send == FLY_IN_PLACE || send_bytes == 0 || receive_bytes == 0) return FLY_OK;
    uintptr_t from = (uintptr_t)send, to = (uintptr_t)receive;
    if (from < to + receive_bytes && to < from + send_bytes)
        return fly_fail(FLY_ERR_ARG, "%s: send and receive: %zu and %zu bytes overlap; in place is "
                        "FLY_IN_PLACE", call->name, send_bytes, receive_bytes);
    return FLY_OK;
}

int fly_call_times(const struct fly_call *call, const char *what, size_t count, size_t element,
                   size_t *bytes) {
    if (!__builtin_mul_overflow(count, element, bytes) && *bytes <= SIZE_MAX / 2) return FLY_OK;
    return fly_fail(FLY_ERR_ARG, "%s: %s: %zu of %zu bytes are more than memory can have",
                    call->name, what, count, element);
}

void fly_call_fold(struct fly_call *call, const fly_fold *fold) {
    fly_fold *mine = &call->key.fold;
    mine->type = fold->type;
    mine->op = fold->apply == NULL ? fold->op : 0;
    mine->bytes = fly_fold_bytes(fold);
    mine->ordered = fold->ordered != 0 || call->coll->settings.repeats;
    mine->apply = fold->apply;
    mine->context = fold->context;
}

int fly_call_about(struct fly_call *call, const void *send, void *receive, size_t bytes) {
    call->key.send = send;
    call->key.receive = receive;
    call->key.bytes = bytes;
    fly_call_choose(call, bytes);
    return FLY_OK;
}

int fly_call_folded(struct fly_call *call, const void *send, void *receive, size_t count,
                    const fly_fold *fold) {
    size_t element, bytes = 0;
    int code = fly_fold_check(call->name, fold, &element);
    if (code == FLY_OK) code = fly_call_times(call, "count", count, element, &bytes);
    if (code == FLY_OK) code = fly_call_apart(call, send, bytes, receive, bytes);
    if (code != FLY_OK) return code;
    fly_call_fold(call, fold);
    return fly_call_about(call, send, receive, bytes);
}

/* Finds an idle schedule for the call, kept or newly built; the lock is held. */
static struct fly_sched *schedule_of(struct fly_call *call, int *code) {
    struct fly_sched *s = fly_kept_take(call->coll, call);
    if (s == NULL) s = fly_sched_new(call, code);
    if (s == NULL) return NULL;
    s->persistent = false;
    s->req.win = call->coll->win;
    s->req.rt = call->coll->rt;
    s->req.active = false;
    s->req.prev = s->req.next = NULL;
    return s;
}

int fly_call_run(struct fly_call *call) {
    struct fly_rt *rt = call->team->rt;
    int code = fly_call_compare(call);
    if (code != FLY_OK) return code;
    fly_enter(rt);
    struct fly_sched *s = schedule_of(call, &code);
    if (s != NULL) {
        code = fly_sched_start(s);
        if (code == FLY_OK) fly_coll_await(&s->req);
        if (code == FLY_OK) {
            fly_record_done(&s->req);
            s->req.active = false;
            call->coll->win->collectives--;
            code = s->req.error;
            if (code == FLY_ERR_PEER)
                fly_fail_dead(rt, call->name, -1);
            else if (code != FLY_OK)
                fly_fail(code, "%s: %s", call->name, fly_strerror(code));
        }
        fly_kept_put(s);
    }
    fly_leave(rt);
    return code;
}

/* Adds a schedule to the list of those that users hold. */
static void hold(struct fly_sched *s) {
    struct fly_win *win = s->coll->win;
    s->req.next = win->requests;
    if (s->req.next != NULL) s->req.next->prev = &s->req;
    win->requests = &s->req;
}

int fly_call_begin(struct fly_call *call, struct fly_req **req, bool persistent) {
    struct fly_rt *rt = call->team->rt;
    if (req == NULL)
        return fly_call_refused(call, fly_fail(FLY_ERR_ARG, "%s: req is NULL", call->name));
    int code = fly_call_compare(call);
    if (code != FLY_OK) return code;
    fly_enter(rt);
    struct fly_sched *s = schedule_of(call, &code);
    if (s != NULL) {
        s->persistent = persistent;
        if (!persistent) code = fly_sched_start(s);
        if (code == FLY_OK) {
            hold(s);
            *req = &s->req;
        } else {
            fly_kept_put(s);
        }
    }
    fly_leave(rt);
    return code;
}

int fly_coll_restart(struct fly_req *req) {
    struct fly_sched *s = (struct fly_sched *)req;
    if (s->coll == NULL) return fly_fail(FLY_ERR_STATE, "fly_start: req: its team is gone");
    if (!s->persistent)
        return fly_fail(FLY_ERR_STATE, "fly_start: req: this collective's request starts once; "
                        "fly_..._init makes one that starts again");
    fly_enter(req->rt);
    int code;
    if (req->active)
        code = fly_fail(FLY_ERR_STATE, "fly_start: req: it is active; test or wait first");
    else
        code = fly_sched_start(s);
    fly_leave(req->rt);
    return code;
}

void fly_coll_release(struct fly_req *req) {
    struct fly_sched *s = (struct fly_sched *)req;
    if (s->coll == NULL) {
        fly_sched_free(s);
        return;
    }
    if (req->prev != NULL)
        req->prev->next = req->next;
    else
        req->win->requests = req->next;
    if (req->next != NULL) req->next->prev = req->prev;
    fly_kept_put(s);
}
