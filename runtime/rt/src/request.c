/* Requests: made, started, tested, waited for, cancelled, freed. */
#include <stdint.h>
#include <stdlib.h>

#include "coll/call.h"
#include "coll/engine.h"
#include "error.h"
#include "outlet.h"
#include "progress.h"
#include "record.h"
#include "remote.h"
#include "request.h"
#include "state.h"
#include "team.h"

struct fly_req *fly_req_new(struct fly_win *win, enum fly_req_kind kind) {
    struct fly_req *req = calloc(1, sizeof *req);
    if (req == NULL) return NULL;
    req->kind = kind;
    req->win = win;
    req->rt = win->rt;
    req->next = win->requests;
    if (req->next != NULL) req->next->prev = req;
    win->requests = req;
    return req;
}

void fly_req_drop(struct fly_req *req) {
    if (req->kind == FLY_R_SCHEDULE) {
        fly_coll_release(req);
        return;
    }
    if (req->win != NULL) {
        if (req->kind == FLY_R_NOTIFY && req->want.home != NULL)
            fly_match_unbind(&req->win->match, &req->want);
        if (req->prev != NULL)
            req->prev->next = req->next;
        else
            req->win->requests = req->next;
        if (req->next != NULL) req->next->prev = req->prev;
    }
    free(req);
}

void fly_req_orphan(struct fly_req *req) {
    if (req->kind == FLY_R_NOTIFY && req->want.home != NULL)
        fly_match_unbind(&req->win->match, &req->want);
    req->win = NULL;
    req->rt = NULL;
    req->active = req->quick = false;
    req->next = req->prev = NULL;
}

static int check_source(const struct fly_win *win, const char *call, int source, bool null_too) {
    int size = win->object.team->size;
    if ((source < 0 || source >= size) && source != FLY_ANY_SOURCE &&
        !(null_too && source == FLY_PROC_NULL))
        return fly_fail(FLY_ERR_RANK, "%s: source: %d must be 0 to %d, or FLY_ANY_SOURCE", call,
                        source, size - 1);
    return FLY_OK;
}

static int check_tag(const struct fly_win *win, const char *call, int tag) {
    if ((tag < 0 || tag > win->tag_ub) && tag != FLY_ANY_TAG)
        return fly_fail(FLY_ERR_TAG, "%s: tag: %d must be 0 to %d, or FLY_ANY_TAG", call, tag,
                        win->tag_ub);
    return FLY_OK;
}

int fly_notify_init(fly_win *win, int source, int tag, uint64_t expected, fly_req **req) {
    static const char CALL[] = "fly_notify_init";
    if (req == NULL) return fly_fail(FLY_ERR_ARG, "%s: req is NULL", CALL);
    *req = NULL;
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "%s: win is NULL", CALL);
    int code = check_source(win, CALL, source, true);
    if (code == FLY_OK) code = check_tag(win, CALL, tag);
    if (code != FLY_OK) return code;
    fly_enter(win->rt);
    struct fly_req *made = fly_req_new(win, FLY_R_NOTIFY);
    if (made != NULL) {
        made->null_source = source == FLY_PROC_NULL;
        made->want.source = made->null_source ? FLY_MATCH_ANY : source;
        made->want.tag = tag;
        made->want.expected = made->null_source ? 0 : expected;
        made->recorded = fly_record_request(win->rt);
        made->quick = made->want.expected != 0 && !win->rt->locked && win->rt->deaths == 0 &&
                      win->rt->from != NULL;
        if (!fly_match_bind(&win->match, &made->want)) {
            fly_req_drop(made);
            made = NULL;
        }
    }
    fly_leave(win->rt);
    if (made == NULL) return fly_fail(FLY_ERR_NOMEM, "%s: no memory for a request", CALL);
    *req = made;
    return FLY_OK;
}

/* True also where an operation or a schedule has ended, and where it ended with an error. */
static inline bool is_complete(const struct fly_req *req) {
    return fly_match_complete(&req->want);
}

static bool source_is_dead(const struct fly_req *req) {
    const struct fly_win *win = req->win;
    if (win->rt->deaths == 0 || req->want.source < 0) return false;
    return win->rt->peers[fly_world_rank(win->object.team, req->want.source)].dead;
}

static FLY_APART int start(fly_req *req) {
    if (req == NULL) return fly_fail(FLY_ERR_ARG, "fly_start: req is NULL");
    if (req->kind == FLY_R_SCHEDULE) return fly_coll_restart(req);
    if (req->kind != FLY_R_NOTIFY)
        return fly_fail(FLY_ERR_STATE, "fly_start: req: an operation's request starts once");
    struct fly_win *win = req->win;
    if (win == NULL) return fly_fail(FLY_ERR_STATE, "fly_start: req: its window is gone");
    int code = FLY_OK;
    fly_enter(win->rt);
    if (req->active) {
        code = fly_fail(FLY_ERR_STATE, "fly_start: req: it is active; test, wait or cancel first");
    } else {
        req->active = true;
        if (!req->null_source) {
            fly_match_post(&win->match, &req->want);
            if (win->held_count != 0) fly_held_release(win);
        }
        if (!is_complete(req) && source_is_dead(req)) {
            fly_match_give_up(&win->match, &req->want);
            req->error = FLY_ERR_PEER;
        }
    }
    fly_leave(win->rt);
    return code;
}

/* Here and in fly_wait the usual case is written out, without calls except at its end, since each
   message comes through both. */
int fly_start(fly_req *req) {
    if (req == NULL || !req->quick || req->active) return start(req);
    if (req->win->held_count != 0 || !fly_match_post_alone(&req->win->match, &req->want))
        return start(req);
    req->active = true;
    return FLY_OK;
}

static void nothing(fly_status *status) {
    if (status == NULL) return;
    *status = (fly_status){FLY_ANY_SOURCE, FLY_ANY_TAG, FLY_OK, 0};
}

static void tell(const struct fly_req *req, fly_status *status) {
    if (status == NULL) return;
    nothing(status);
    if (req->kind == FLY_R_NOTIFY) {
        status->count = fly_match_found(&req->want);
        if (req->null_source) {
            status->source = FLY_PROC_NULL;
        } else if (status->count != 0) {
            status->source = req->want.last_source;
            status->tag = req->want.last_tag;
        }
    }
    status->error = req->error;
}

/* Makes a complete request inactive, and returns its error. */
static int finish(struct fly_req *req, fly_status *status) {
    tell(req, status);
    fly_record_done(req);
    req->active = false;
    if (req->kind == FLY_R_SCHEDULE) req->win->collectives--;
    int error = req->error;
    req->error = FLY_OK;
    if (error == FLY_OK) return FLY_OK;
    if (error != FLY_ERR_PEER) return fly_fail(error, "the request: %s", fly_strerror(error));
    int peer = -1;
    if (req->kind == FLY_R_NOTIFY && req->want.source >= 0 && req->win != NULL)
        peer = fly_world_rank(req->win->object.team, req->want.source);
    return fly_fail_dead(req->rt, "the request", peer);
}

int fly_test(fly_req *req, int *flag, fly_status *status) {
    if (req == NULL || flag == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_test: %s is NULL", req == NULL ? "req" : "flag");
    struct fly_rt *rt = req->rt;
    int code = FLY_OK;
    if (rt != NULL) fly_enter(rt);
    if (!req->active) {
        *flag = 1;
        nothing(status);
    } else {
        if (!is_complete(req)) fly_turn(rt);
        *flag = is_complete(req);
        if (*flag) {
            code = finish(req, status);
        } else if (status != NULL) {
            nothing(status);
            status->count = req->kind == FLY_R_NOTIFY ? fly_match_found(&req->want) : 0;
        }
    }
    if (rt != NULL) fly_leave(rt);
    return code;
}

static FLY_APART void await(const struct fly_req *req) {
    struct fly_pause pause = {.rt = req->rt, .until = &req->want};
    if (req->kind == FLY_R_NOTIFY && req->want.source >= 0)
        pause.awaited = 1 + fly_world_rank(req->win->object.team, req->want.source);
    while (!is_complete(req)) fly_wait_more(&pause);
}

static FLY_APART int wait_for(fly_req *req, fly_status *status) {
    if (req == NULL) return fly_fail(FLY_ERR_ARG, "fly_wait: req is NULL");
    if (!req->active) {
        nothing(status);
        return FLY_OK;
    }
    struct fly_rt *rt = req->rt;
    fly_enter(rt);
    fly_look_after(rt);
    if (req->kind == FLY_R_SCHEDULE)
        fly_coll_await(req);
    else
        await(req);
    int code = finish(req, status);
    fly_leave(rt);
    return code;
}

/* Continues a wait after a notification was taken; `tell`: credits go back to its sender now. */
static FLY_APART int taken(fly_req *req, fly_status *status, bool tell) {
    struct fly_outlet *from = req->rt->from;
    if (tell) {
        fly_give_now(req->rt, from->peer);
        req->rt->from = from->next;
    }
    return wait_for(req, status);
}

/* Ends a plain request that is complete. */
static inline int end_plain(fly_req *req, fly_status *status) {
    req->active = false;
    if (status != NULL)
        *status = (fly_status){req->want.last_source, req->want.last_tag, FLY_OK,
                               req->want.expected};
    return FLY_OK;
}

/* Continues a wait with an unusual packet: sorts in packets as long as they are of this window. */
static FLY_APART int sorted(fly_req *req, fly_status *status, const struct fly_packet *packet) {
    while (fly_outlet_sort(req->rt, packet, req->win)) {
        if (is_complete(req)) return end_plain(req, status);
        packet = fly_outlet_await(req->rt);
        if (packet == NULL) break;
    }
    return wait_for(req, status);
}

/* Makes the compiler lay out the code so that this outcome has the straight path. */
#define USUALLY(what) __builtin_expect(what, 1)

int fly_wait(fly_req *req, fly_status *status) {
    if (req == NULL || !req->quick || !req->active || fly_look_is_due(req->rt))
        return wait_for(req, status);
    req->rt->turns++;
    if (USUALLY(!is_complete(req))) {
        const struct fly_packet *packet = fly_outlet_await(req->rt);
        if (packet == NULL) return wait_for(req, status);
        if (!USUALLY(fly_outlet_hand(packet, req->win, &req->want)))
            return sorted(req, status, packet);
        bool tell = fly_outlet_noted(req->rt);
        if (tell || !is_complete(req)) return taken(req, status, tell);
    }
    return end_plain(req, status);
}

/* Ends the complete request of lowest index, if any; true also where no request is active. */
static bool any(size_t n, fly_req *const reqs[], size_t *index, fly_status *status, int *code,
                struct fly_rt **rt) {
    bool active = false;
    *index = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (reqs[i] == NULL || !reqs[i]->active) continue;
        active = true;
        *rt = reqs[i]->rt;
        if (!is_complete(reqs[i])) continue;
        *index = i;
        *code = finish(reqs[i], status);
        return true;
    }
    if (!active) nothing(status);
    return !active;
}

static struct fly_rt *runtime_of(size_t n, fly_req *const reqs[]) {
    for (size_t i = 0; i < n; i++)
        if (reqs[i] != NULL && reqs[i]->rt != NULL) return reqs[i]->rt;
    return NULL;
}

static int find_any(const char *call, size_t n, fly_req *const reqs[], size_t *index, int *flag,
                    fly_status *status, bool wait) {
    if (index == NULL || flag == NULL || (n != 0 && reqs == NULL))
        return fly_fail(FLY_ERR_ARG, "%s: index, flag or reqs is NULL", call);
    struct fly_rt *first = runtime_of(n, reqs), *rt = first;
    int code = FLY_OK;
    *flag = 1;
    if (first == NULL) {
        *index = SIZE_MAX;
        nothing(status);
        return FLY_OK;
    }
    struct fly_pause pause = {.rt = first};
    bool turned = false;
    fly_enter(first);
    while (!any(n, reqs, index, status, &code, &rt)) {
        if (!wait && turned) {
            *flag = 0;
            break;
        }
        if (wait)
            fly_wait_more(&pause);
        else
            fly_turn(rt);
        turned = true;
    }
    fly_leave(first);
    return code;
}

int fly_testany(size_t n, fly_req *const reqs[], size_t *index, int *flag, fly_status *status) {
    return find_any("fly_testany", n, reqs, index, flag, status, false);
}

int fly_waitany(size_t n, fly_req *const reqs[], size_t *index, fly_status *status) {
    int flag;
    return find_any("fly_waitany", n, reqs, index, &flag, status, true);
}

int fly_waitall(size_t n, fly_req *const reqs[], fly_status statuses[]) {
    if (n != 0 && reqs == NULL) return fly_fail(FLY_ERR_ARG, "fly_waitall: reqs is NULL");
    int first = FLY_OK;
    for (size_t i = 0; i < n; i++) {
        fly_status *status = statuses == NULL ? NULL : &statuses[i];
        if (reqs[i] == NULL) {
            nothing(status);
            continue;
        }
        int code = fly_wait(reqs[i], status);
        if (first == FLY_OK) first = code;
    }
    return first;
}

int fly_probe(fly_win *win, int source, int tag, int *flag, fly_status *status) {
    static const char CALL[] = "fly_probe";
    if (win == NULL || flag == NULL)
        return fly_fail(FLY_ERR_ARG, "%s: %s is NULL", CALL, win == NULL ? "win" : "flag");
    int code = check_source(win, CALL, source, false);
    if (code == FLY_OK) code = check_tag(win, CALL, tag);
    if (code != FLY_OK) return code;
    fly_enter(win->rt);
    fly_turn(win->rt);
    const struct fly_note *note = fly_match_probe(&win->match, source, tag);
    *flag = note != NULL;
    nothing(status);
    if (note != NULL && status != NULL)
        *status = (fly_status){note->source, note->tag, FLY_OK, 1};
    if (note == NULL && source >= 0) {
        struct fly_peer *peer = &win->peers[fly_world_rank(win->object.team, source)];
        peer->wanted = true;
        if (peer->dead)
            code = fly_fail_dead(win->rt, CALL, fly_world_rank(win->object.team, source));
    }
    fly_leave(win->rt);
    return code;
}

const void *fly_inline(const fly_req *req, size_t *bytes) {
    size_t there = req == NULL || req->kind != FLY_R_NOTIFY ? 0 : req->want.inline_bytes;
    if (bytes != NULL) *bytes = there;
    return there == 0 ? NULL : req->want.inline_data;
}

int fly_cancel(fly_req *req, fly_status *status) {
    if (req == NULL) return fly_fail(FLY_ERR_ARG, "fly_cancel: req is NULL");
    if (req->kind != FLY_R_NOTIFY)
        return fly_fail(FLY_ERR_STATE, "fly_cancel: req: an operation cannot be cancelled");
    if (req->rt == NULL) {
        nothing(status);
        return FLY_OK;
    }
    struct fly_rt *rt = req->rt;
    fly_enter(rt);
    if (req->active) {
        fly_match_withdraw(&req->win->match, &req->want);
        req->error = FLY_OK;
        finish(req, status);
    } else {
        nothing(status);
    }
    fly_leave(rt);
    return FLY_OK;
}

int fly_req_free(fly_req **req) {
    if (req == NULL || *req == NULL) return fly_fail(FLY_ERR_ARG, "fly_req_free: req is NULL");
    struct fly_rt *rt = (*req)->rt;
    int code = FLY_OK;
    if (rt != NULL) fly_enter(rt);
    if ((*req)->active) {
        code = fly_fail(FLY_ERR_STATE, "fly_req_free: req: it is active; test, wait or cancel "
                        "first");
    } else {
        fly_req_drop(*req);
        *req = NULL;
    }
    if (rt != NULL) fly_leave(rt);
    return code;
}
