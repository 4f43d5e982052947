/* Windows: memory that every member exposes to all; made and freed collectively. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agree.h"
#include "boot_files.h"
#include "error.h"
#include "flush.h"
#include "objects.h"
#include "progress.h"
#include "record.h"
#include "request.h"
#include "state.h"
#include "sync.h"
#include "team.h"
#include "window.h"

/* What each member sends to the others about its part of the window. */
struct part {
    int32_t code, tag_ub;
    uint32_t flags, created, next_object, spare;
    uint64_t bytes, unit, address, loan[FLY_LOAN_WORDS];
};

static int check(const char *call, bool created, const void *base, size_t bytes, size_t unit,
                 unsigned flags) {
    if (unit == 0) return fly_fail(FLY_ERR_ARG, "%s: unit: 0 must be 1 or more bytes", call);
    if ((flags & ~(unsigned)FLY_UNORDERED) != 0)
        return fly_fail(FLY_ERR_ARG, "%s: flags: %#x must be 0 or FLY_UNORDERED", call, flags);
    if (created && base == NULL && bytes != 0)
        return fly_fail(FLY_ERR_ARG, "%s: base is NULL, bytes %zu", call, bytes);
    return FLY_OK;
}

static size_t pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Whether memory exceeds the machine's; the kernel would refuse it only when it is touched. */
static bool too_much(size_t bytes) {
    uint64_t there = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes > there;
}

int fly_memory_get(struct fly_rt *rt, size_t bytes, struct fly_memory *memory) {
    *memory = (struct fly_memory){NULL, 0, -1};
    if (bytes == 0) return FLY_OK;
    if (too_much(bytes))
        return fly_fail(FLY_ERR_NOMEM, "bytes: %zu is more than this machine's memory", bytes);
    for (int i = 0; i < rt->carrier_count; i++)
        if (rt->carriers[i]->ops->allocate != NULL)
            return rt->carriers[i]->ops->allocate(rt->carriers[i], pages(bytes), memory);
    void *base = mmap(NULL, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
    if (base == MAP_FAILED) return fly_fail(FLY_ERR_NOMEM, "no memory for %zu bytes", bytes);
    memory->base = base;
    memory->mapped = pages(bytes);
    return FLY_OK;
}

void fly_memory_free(struct fly_memory *memory) {
    if (memory->base != NULL) munmap(memory->base, memory->mapped);
    if (memory->file >= 0) close(memory->file);
    *memory = (struct fly_memory){NULL, 0, -1};
}

/* Whether all parts go together: an error at one member is an error at all. */
static int judge(const char *call, const struct fly_team *team, const struct part *parts,
                 const struct part *mine) {
    if (mine->code != FLY_OK) return mine->code;
    for (int r = 0; r < team->size; r++) {
        if (parts[r].code != FLY_OK)
            return fly_fail(parts[r].code, "%s: rank %d: %s", call, r,
                            fly_strerror(parts[r].code));
        if (parts[r].flags != mine->flags || parts[r].created != mine->created)
            return fly_fail(FLY_ERR_ARG, "%s: flags: %#x here, %#x at rank %d; all must give the "
                            "same flags and make the same call", call, mine->flags, parts[r].flags,
                            r);
    }
    return FLY_OK;
}

static int smallest_tag(const struct fly_rt *rt) {
    int least = INT32_MAX;
    for (int i = 0; i < rt->carrier_count; i++)
        if (rt->carriers[i]->ops->tag_ub < least) least = rt->carriers[i]->ops->tag_ub;
    return least;
}

static int fill(struct fly_win *win, const struct part *parts) {
    struct fly_team *team = win->object.team;
    size_t members = (size_t)(unsigned)team->size;
    win->members = calloc(members, sizeof *win->members);
    win->table = calloc(members, sizeof *win->table);
    if (win->members == NULL || win->table == NULL)
        return fly_fail(FLY_ERR_NOMEM, "no memory for a window of %d ranks", team->size);
    win->tag_ub = INT32_MAX;
    for (int r = 0; r < team->size; r++) {
        win->table[r].bytes = parts[r].bytes;
        win->table[r].unit = parts[r].unit;
        win->table[r].address = parts[r].address;
        memcpy(win->table[r].loan, parts[r].loan, sizeof parts[r].loan);
        if (parts[r].tag_ub < win->tag_ub) win->tag_ub = parts[r].tag_ub;
    }
    win->members[team->rank].entry_shared = true;
    int code = fly_agree_init(&win->object.agree, team->size);
    return code == FLY_OK ? fly_sync_init(win) : code;
}

/* Exposes the window on every transport, even if one failed here, because the peers wait for it. */
static int expose(struct fly_win *win, int code) {
    struct fly_rt *rt = win->rt;
    for (int i = 0; i < rt->carrier_count; i++) {
        const struct fly_carrier_ops *ops = rt->carriers[i]->ops;
        if (ops->expose == NULL) continue;
        int this_one = ops->expose(rt->carriers[i], win, code == FLY_OK);
        if (code == FLY_OK) code = this_one;
    }
    return code;
}

static void undo(struct fly_win *win) {
    struct fly_rt *rt = win->rt;
    for (int i = 0; i < rt->carrier_count; i++) {
        const struct fly_carrier_ops *ops = rt->carriers[i]->ops;
        if (ops->reclaim != NULL && win->lent != NULL) ops->reclaim(rt->carriers[i], win);
        if (ops->hide != NULL) ops->hide(rt->carriers[i], win);
    }
    if (!win->table_shared) free(win->table);
    fly_memory_free(&win->table_memory);
    fly_memory_free(&win->memory);
    free(win->members);
    free(win->held);
    fly_agree_end(&win->object.agree);
    fly_sync_end(win);
    fly_match_end(&win->match);
    free(win);
}

static uint32_t largest_id(const struct fly_team *team, const struct part *parts) {
    uint32_t id = 0;
    for (int r = 0; r < team->size; r++)
        if (parts[r].next_object > id) id = parts[r].next_object;
    return id;
}

/* Builds the window, once the parts of all members are known and go together. */
static int build(struct fly_win *win, const struct part *parts) {
    struct fly_rt *rt = win->rt;
    win->object.id = largest_id(win->object.team, parts);
    rt->next_object = win->object.id + 1;
    int code = expose(win, fill(win, parts));
    if (code == FLY_OK) code = fly_object_add(rt, &win->object);
    uint64_t worst = (uint64_t)code;
    int together = fly_agree(rt, &win->object.team->object, &worst);
    if (together != FLY_OK) code = together;
    if (code == FLY_OK && worst != 0)
        code = fly_fail((int)worst, "another rank could not make the window: %s",
                        fly_strerror((int)worst));
    if (code != FLY_OK && win->object.id != 0) fly_object_remove(rt, &win->object);
    return code;
}

static void record_took(void *win, struct fly_want *want, int source, int tag) {
    fly_record_took(win, (struct fly_req *)want, source, tag); /* `want` is its first member */
}

static int make(const char *call, fly_team *team, bool created, void *base, size_t bytes,
                size_t unit, unsigned flags, fly_win **out) {
    struct fly_rt *rt = team->rt;
    struct fly_win *win = calloc(1, sizeof *win);
    struct part *parts = calloc((size_t)team->size, sizeof *parts);
    struct part mine = {.flags = flags, .created = created, .bytes = bytes, .unit = unit};
    mine.code = check(call, created, base, bytes, unit, flags);
    if (win == NULL || parts == NULL) {
        free(win);
        free(parts);
        return fly_fail(FLY_ERR_NOMEM, "%s: no memory for a window", call);
    }
    fly_enter(rt);
    uint64_t value = 0;
    int code = fly_agree(rt, &team->object, &value);
    *win = (struct fly_win){
        .rt = rt, .peers = rt->peers, .flags = flags, .bytes = bytes, .unit = unit};
    win->object = (struct fly_object){.kind = FLY_IS_WINDOW, .team = team};
    win->memory.file = win->table_memory.file = -1;
    win->created = created;
    fly_match_init(&win->match);
    if (rt->record != NULL) {
        win->match.took = record_took;
        win->match.took_context = win;
    }
    if (code == FLY_OK && mine.code == FLY_OK && !created)
        mine.code = fly_memory_get(rt, bytes, &win->memory);
    win->base = created ? base : win->memory.base;
    mine.address = (uint64_t)(uintptr_t)win->base;
    for (int i = 0; code == FLY_OK && mine.code == FLY_OK && i < rt->carrier_count; i++)
        if (rt->carriers[i]->ops->lend != NULL)
            rt->carriers[i]->ops->lend(rt->carriers[i], win, mine.loan);
    mine.tag_ub = smallest_tag(rt);
    mine.next_object = rt->next_object;
    fly_leave(rt);
    if (code == FLY_OK) code = fly_boot_gather(&team->boot, call, &mine, parts, sizeof mine);
    if (code == FLY_OK) code = judge(call, team, parts, &mine);
    fly_record_skip(rt);
    fly_enter(rt);
    if (code == FLY_OK) code = build(win, parts);
    if (code == FLY_OK) {
        team->windows++;
        rt->windows++;
        *out = win;
    } else {
        undo(win);
    }
    fly_leave(rt);
    free(parts);
    return code;
}

int fly_win_allocate(fly_team *team, size_t bytes, size_t unit, unsigned flags, void **base,
                     fly_win **win) {
    if (team == NULL || base == NULL || win == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_win_allocate: team, base or win is NULL");
    *base = NULL;
    *win = NULL;
    int code = make("fly_win_allocate", team, false, NULL, bytes, unit, flags, win);
    if (code == FLY_OK) *base = (*win)->base;
    return code;
}

int fly_win_create(fly_team *team, void *base, size_t bytes, size_t unit, unsigned flags,
                   fly_win **win) {
    if (team == NULL || win == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_win_create: team or win is NULL");
    *win = NULL;
    return make("fly_win_create", team, true, base, bytes, unit, flags, win);
}

int fly_win_inner(struct fly_team *team, size_t bytes, void **base, struct fly_win **win) {
    int code = make("the first collective", team, false, NULL, bytes, 1, 0, win);
    if (code != FLY_OK) return code;
    *base = (*win)->base;
    fly_enter(team->rt);
    team->windows--;
    team->rt->windows--;
    fly_leave(team->rt);
    return FLY_OK;
}

void fly_win_drop(struct fly_win *win) {
    fly_object_remove(win->rt, &win->object);
    undo(win);
}

int fly_win_free(fly_win **out) {
    if (out == NULL || *out == NULL) return fly_fail(FLY_ERR_ARG, "fly_win_free: win is NULL");
    struct fly_win *win = *out;
    struct fly_rt *rt = win->rt;
    int code = FLY_OK;
    fly_enter(rt);
    size_t active = 0;
    for (const struct fly_req *req = win->requests; req != NULL; req = req->next)
        active += req->active;
    if (active != 0)
        code = fly_fail(FLY_ERR_STATE, "fly_win_free: %zu requests are active", active);
    else if (fly_sync_open(win))
        code = fly_fail(FLY_ERR_STATE, "fly_win_free: an epoch is open");
    else
        fly_complete_all(win); /* fly_agree below reports a death */
    uint64_t value = (uint64_t)code;
    int together = fly_agree(rt, &win->object, &value);
    if (value != 0) {
        fly_leave(rt);
        if (code != FLY_OK) return code;
        return fly_fail(FLY_ERR_STATE, "fly_win_free: a request is active or an epoch open at "
                        "another rank");
    }
    while (win->requests != NULL) {
        struct fly_req *req = win->requests;
        win->requests = req->next;
        if (req->next != NULL) req->next->prev = NULL;
        fly_req_orphan(req);
    }
    for (size_t i = 0; i < win->held_count; i++)
        fly_give_back(rt, win->held[(win->held_first + i) % win->held_room], FLY_CLASS_NOTE);
    fly_object_remove(rt, &win->object);
    win->object.team->windows--;
    rt->windows--;
    undo(win);
    fly_leave(rt);
    *out = NULL;
    return together;
}

int fly_win_shared(fly_win *win, int rank, void **base, size_t *bytes) {
    if (win == NULL || base == NULL || bytes == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_win_shared: win, base or bytes is NULL");
    if (rank < 0 || rank >= win->object.team->size)
        return fly_fail(FLY_ERR_RANK, "fly_win_shared: rank: %d must be 0 to %d", rank,
                        win->object.team->size - 1);
    bool own = rank == win->object.team->rank;
    bool near = win->members[rank].reach == FLY_DIRECT && win->table[rank].bytes != 0;
    *bytes = win->table[rank].bytes;
    *base = own ? win->base : near ? win->members[rank].base : NULL;
    return FLY_OK;
}

int fly_win_query(fly_win *win, int what, int rank, int64_t *value) {
    if (win == NULL || value == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_win_query: %s is NULL", win == NULL ? "win" : "value");
    if (rank < 0 || rank >= win->object.team->size)
        return fly_fail(FLY_ERR_RANK, "fly_win_query: rank: %d must be 0 to %d", rank,
                        win->object.team->size - 1);
    int world = fly_world_rank(win->object.team, rank);
    const struct fly_peer *peer = &win->rt->peers[world];
    fly_enter(win->rt);
    int code = FLY_OK;
    switch (what) {
    case FLY_Q_TAG_UB: *value = win->tag_ub; break;
    case FLY_Q_ONESIDED: *value = win->members[rank].reach == FLY_DIRECT; break;
    case FLY_Q_CREDITS: *value = (int64_t)peer->quota[FLY_CLASS_NOTE].limit; break;
    case FLY_Q_UNEXPECTED: *value = (int64_t)win->match.unmatched; break;
    case FLY_Q_INLINE:
        *value = peer->via->ops->inside == NULL ? FLY_INLINE : (int64_t)peer->via->ops->inside(
                                                                   peer->via, world);
        break;
    case FLY_Q_TRANSPORT: *value = peer->via->ops->code; break;
    default:
        code = fly_fail(FLY_ERR_ARG, "fly_win_query: what: %d must be FLY_Q_TAG_UB to "
                        "FLY_Q_TRANSPORT", what);
    }
    fly_leave(win->rt);
    return code;
}

int fly_win_path(fly_win *win, int rank, char *text, size_t room) {
    if (win == NULL || (text == NULL && room != 0))
        return fly_fail(FLY_ERR_ARG, "fly_win_path: %s is NULL", win == NULL ? "win" : "text");
    if (rank < 0 || rank >= win->object.team->size)
        return fly_fail(FLY_ERR_RANK, "fly_win_path: rank: %d must be 0 to %d", rank,
                        win->object.team->size - 1);
    static const char *const SAID[] = {
        [FLY_REMOTE] = "packets, which the target copies",
        [FLY_DIRECT] = "loads and stores",
        [FLY_KERNEL] = "copies by the kernel",
    };
    int world = fly_world_rank(win->object.team, rank);
    const struct fly_carrier *via = win->rt->peers[world].via;
    if (win->members[rank].reach == FLY_REMOTE && via->ops->tell != NULL)
        via->ops->tell(via, world, text, room);
    else
        snprintf(text, room, "%s: %s", via->ops->name, SAID[win->members[rank].reach]);
    return FLY_OK;
}
