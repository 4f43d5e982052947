/* The calls that move data: each checks, takes the lock, and hands to access.c. */
#include <stddef.h>
#include <string.h>

#include "access.h"
#include "error.h"
#include "progress.h"
#include "record.h"
#include "request.h"
#include "state.h"
#include "team.h"

static int put(const char *call, fly_win *win, const void *src, const fly_shape *from, int target,
               uint64_t disp, const fly_shape *to, int tag, bool optional) {
    struct fly_access at;
    int code = fly_access_begin(&at, call, win, target, disp, to, tag, optional);
    if (code != FLY_OK) return code == FLY_NOTHING ? FLY_OK : code;
    fly_enter(at.rt);
    code = fly_access_put(&at, src, from, to, NULL);
    if (code == FLY_OK) fly_record_put(win, at.peer, tag, to->blocks * to->block_bytes);
    fly_leave(at.rt);
    return code;
}

static uint64_t record_get(const struct fly_access *at, uint64_t bytes) {
    return fly_record_ask(at->win, at->peer, at->tag, false, 1, bytes);
}

static int get(const char *call, fly_win *win, void *dst, const fly_shape *to, int target,
               uint64_t disp, const fly_shape *from, int tag, bool optional) {
    struct fly_access at;
    int code = fly_access_begin(&at, call, win, target, disp, from, tag, optional);
    if (code != FLY_OK) return code == FLY_NOTHING ? FLY_OK : code;
    fly_enter(at.rt);
    code = fly_access_get(&at, dst, to, from, NULL);
    if (code == FLY_OK) record_get(&at, to->blocks * to->block_bytes);
    fly_leave(at.rt);
    return code;
}

static fly_shape whole(size_t bytes) { return (fly_shape){1, bytes, 0}; }

int fly_put(fly_win *win, const void *src, size_t bytes, int target, uint64_t disp) {
    fly_shape shape = whole(bytes);
    return put("fly_put", win, src, &shape, target, disp, &shape, FLY_NO_TAG, true);
}

int fly_get(fly_win *win, void *dst, size_t bytes, int target, uint64_t disp) {
    fly_shape shape = whole(bytes);
    return get("fly_get", win, dst, &shape, target, disp, &shape, FLY_NO_TAG, true);
}

/* A function of its own, so that the usual case reserves no stack for it. */
static FLY_APART int put_notify(fly_win *win, const void *src, size_t bytes, int target,
                                uint64_t disp, int tag) {
    fly_shape shape = whole(bytes);
    return put("fly_put_notify", win, src, &shape, target, disp, &shape, tag, false);
}

/* Writes bytes and notification, where the ring has a slot for it. */
static FLY_APART int put_in(const struct fly_win *win, struct fly_inlet *inlet, unsigned char *to,
                            const void *src, size_t bytes, int tag) {
    if (bytes != 0) memmove(to, src, bytes);
    return fly_note_here(inlet, win, tag, src, bytes);
}

/* The usual case, a near peer and a credit at hand, is inlined whole: every message comes here. */
int fly_put_notify(fly_win *win, const void *src, size_t bytes, int target, uint64_t disp,
                   int tag) {
    if (win == NULL || (unsigned)target >= (unsigned)win->object.team->size ||
        (unsigned)tag > (unsigned)win->tag_ub)
        return put_notify(win, src, bytes, target, disp, tag);
    const struct fly_entry *entry = &win->table[target];
    const struct fly_member *member = &win->members[target];
    struct fly_peer *to = &win->peers[fly_world_rank(win->object.team, target)];
    struct fly_quota *quota = &to->quota[FLY_CLASS_NOTE];
    uint64_t offset = disp * entry->unit;
    if (member->reach != FLY_DIRECT || !to->quick || quota->sent == quota->may ||
        (disp | entry->unit) > UINT32_MAX || offset > entry->bytes ||
        bytes > entry->bytes - offset)
        return put_notify(win, src, bytes, target, disp, tag);
    quota->sent++;
    if (bytes != 8) return put_in(win, &to->inlet, member->base + offset, src, bytes, tag);
    memcpy(member->base + offset, src, 8);
    return fly_note_here(&to->inlet, win, tag, src, 8);
}

int fly_get_notify(fly_win *win, void *dst, size_t bytes, int target, uint64_t disp, int tag) {
    fly_shape shape = whole(bytes);
    return get("fly_get_notify", win, dst, &shape, target, disp, &shape, tag, false);
}

static int totals(const char *call, const fly_shape *from, const fly_shape *to) {
    size_t left, right;
    if (from == NULL || to == NULL)
        return fly_fail(FLY_ERR_ARG, "%s: a shape is NULL", call);
    if (__builtin_mul_overflow(from->blocks, from->block_bytes, &left) ||
        __builtin_mul_overflow(to->blocks, to->block_bytes, &right) || left != right)
        return fly_fail(FLY_ERR_ARG, "%s: from has %zu x %zu bytes, to %zu x %zu: the totals must "
                        "be equal", call, from->blocks, from->block_bytes, to->blocks,
                        to->block_bytes);
    return FLY_OK;
}

int fly_put_shape(fly_win *win, const void *src, const fly_shape *from, int target, uint64_t disp,
                  const fly_shape *to, int tag) {
    int code = totals("fly_put_shape", from, to);
    if (code != FLY_OK) return code;
    return put("fly_put_shape", win, src, from, target, disp, to, tag, true);
}

int fly_get_shape(fly_win *win, void *dst, const fly_shape *to, int target, uint64_t disp,
                  const fly_shape *from, int tag) {
    int code = totals("fly_get_shape", from, to);
    if (code != FLY_OK) return code;
    return get("fly_get_shape", win, dst, to, target, disp, from, tag, true);
}

/* Makes an active request for an operation; it counts as done unless the operation adds to it. */
static int with_request(const char *call, fly_win *win, fly_req **req) {
    if (req == NULL) return fly_fail(FLY_ERR_ARG, "%s: req is NULL", call);
    *req = NULL;
    if (win == NULL) return fly_fail(FLY_ERR_ARG, "%s: win is NULL", call);
    return FLY_OK;
}

static int moved(const char *call, fly_win *win, void *local, size_t bytes, int target,
                 uint64_t disp, int tag, fly_req **req, bool write) {
    int code = with_request(call, win, req);
    if (code != FLY_OK) return code;
    struct fly_access at;
    fly_shape shape = whole(bytes);
    code = fly_access_begin(&at, call, win, target, disp, &shape, tag, true);
    if (code != FLY_OK && code != FLY_NOTHING) return code;
    fly_enter(win->rt);
    struct fly_req *made = fly_req_new(win, FLY_R_OPERATION);
    if (made == NULL) {
        fly_leave(win->rt);
        return fly_fail(FLY_ERR_NOMEM, "%s: no memory for a request", call);
    }
    made->active = true; /* it counts as complete, since nothing is left */
    if (code == FLY_NOTHING)
        code = FLY_OK;
    else if (write)
        code = fly_access_put(&at, local, &shape, &shape, made);
    else
        code = fly_access_get(&at, local, &shape, &shape, made);
    if (code != FLY_OK) {
        made->active = false;
        fly_req_drop(made);
        made = NULL;
    } else if (target != FLY_PROC_NULL && write) {
        fly_record_put(win, at.peer, tag, bytes);
    } else if (target != FLY_PROC_NULL) {
        made->recorded = record_get(&at, bytes);
    }
    fly_leave(win->rt);
    *req = made;
    return code;
}

int fly_rput(fly_win *win, const void *src, size_t bytes, int target, uint64_t disp, int tag,
             fly_req **req) {
    return moved("fly_rput", win, (void *)(uintptr_t)src, bytes, target, disp, tag, req, true);
}

int fly_rget(fly_win *win, void *dst, size_t bytes, int target, uint64_t disp, int tag,
             fly_req **req) {
    return moved("fly_rget", win, dst, bytes, target, disp, tag, req, false);
}

static int atomic(const char *call, fly_win *win, uint64_t *old, int operation, uint64_t first,
                  uint64_t second, int target, uint64_t disp, int tag) {
    struct fly_access at;
    fly_shape shape = whole(8);
    int code = fly_access_begin(&at, call, win, target, disp, &shape, tag, true);
    if (code != FLY_OK) return code == FLY_NOTHING ? FLY_OK : code;
    if ((win->table[target].address + at.offset) % 8 != 0)
        return fly_fail(FLY_ERR_ARG, "%s: disp: %llu is not 8-byte aligned at rank %d", call,
                        (unsigned long long)disp, target);
    fly_enter(at.rt);
    code = fly_access_atomic(&at, operation, first, second, old, NULL, false);
    if (code == FLY_OK)
        fly_record_ask(win, at.peer, tag, true, operation == FLY_ATOMIC_SWAP ? 16 : 8, 8);
    fly_leave(at.rt);
    return code;
}

int fly_fetch_add(fly_win *win, uint64_t *old, uint64_t add, int target, uint64_t disp, int tag) {
    return atomic("fly_fetch_add", win, old, FLY_ATOMIC_ADD, add, 0, target, disp, tag);
}

int fly_compare_swap(fly_win *win, uint64_t *old, uint64_t expect, uint64_t desired, int target,
                     uint64_t disp, int tag) {
    return atomic("fly_compare_swap", win, old, FLY_ATOMIC_SWAP, expect, desired, target, disp,
                  tag);
}
