/* Windows of transport "shm": their memory and the table of members, mapped by all ranks of a
   node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "error.h"
#include "shm.h"
#include "team.h"

/* What a process has mapped of the other ranks' memory, for one window. */
struct mappings {
    void *table;
    size_t table_bytes;
    int count;
    struct {
        void *base;
        size_t bytes;
    } of[];
};

static struct mappings *shown_new(int count) {
    struct mappings *shown = calloc(1, sizeof *shown + (size_t)count * sizeof shown->of[0]);
    if (shown != NULL) shown->count = count;
    return shown;
}

/* The rank that owns the table: the member on the node with the lowest rank in the team. */
static int leader_of(const struct fly_shm_carrier *shm, const struct fly_team *team) {
    for (int r = 0; r < team->size; r++) {
        int local = shm->local[fly_world_rank(team, r)];
        if (local >= 0) return local;
    }
    return -1;
}

static bool alone(const struct fly_shm_carrier *shm, const struct fly_team *team) {
    int near = 0;
    for (int r = 0; r < team->size; r++) near += shm->local[fly_world_rank(team, r)] >= 0;
    return near <= 1;
}

static int make_table(struct fly_win *win) {
    size_t bytes = (size_t)win->object.team->size * sizeof *win->table;
    size_t page = 4096;
    int code = fly_shm_file((bytes + page - 1) / page * page, &win->table_memory);
    if (code != FLY_OK) return code;
    memcpy(win->table_memory.base, win->table, bytes);
    free(win->table);
    win->table = win->table_memory.base;
    win->table_shared = true;
    return FLY_OK;
}

static int tell_all(struct fly_shm_carrier *shm, struct fly_win *win, bool leads, bool whole) {
    const struct fly_team *team = win->object.team;
    struct fly_note_sent note = {.id = win->object.id, .whole = whole};
    int files[2] = {win->memory.file, leads ? win->table_memory.file : -1};
    note.rank = team->rank;
    note.address = (uint64_t)(uintptr_t)win->base;
    note.mapped = win->memory.mapped;
    note.table = leads ? (uint64_t)(uintptr_t)win->table : 0;
    note.table_mapped = win->table_memory.mapped;
    note.pieces = (files[0] >= 0 ? 1 : 0) | (files[1] >= 0 ? 2 : 0);
    int code = FLY_OK;
    for (int r = 0; r < team->size; r++) {
        int local = shm->local[fly_world_rank(team, r)];
        if (local < 0 || local == shm->me) continue;
        int this_one = fly_shm_tell(shm, local, &note, files);
        if (code == FLY_OK) code = this_one;
    }
    return code;
}

static int map_memory(struct fly_win *win, struct mappings *shown,
                      const struct fly_segment *segment, int local,
                      const struct fly_note_sent *note, int file) {
    struct fly_member *member = &win->members[note->rank];
    if (segment->same_process || win->table[note->rank].bytes == 0) {
        member->base = (unsigned char *)(uintptr_t)note->address;
        member->reach = FLY_DIRECT;
        return FLY_OK;
    }
    if (win->created) {
        member->reach = FLY_KERNEL;
        return FLY_OK;
    }
    void *base;
    int code = file < 0 ? fly_fail(FLY_ERR_TRANSPORT, "shm: no file came with a window")
                        : fly_shm_map(file, note->mapped, win->table[note->rank].bytes,
                                      &base);
    if (code != FLY_OK) return code;
    shown->of[local].base = base;
    shown->of[local].bytes = note->mapped;
    member->base = base;
    member->reach = FLY_DIRECT;
    return FLY_OK;
}

static int map_table(struct fly_win *win, struct mappings *shown, const struct fly_segment *segment,
                     const struct fly_note_sent *note, int file) {
    void *table = (void *)(uintptr_t)note->table;
    size_t least = (size_t)win->object.team->size * sizeof *win->table;
    if (!segment->same_process) {
        int code = file < 0 ? fly_fail(FLY_ERR_TRANSPORT, "shm: no file came with a table")
                            : fly_shm_map(file, note->table_mapped, least, &table);
        if (code != FLY_OK) return code;
        shown->table = table;
        shown->table_bytes = note->table_mapped;
    }
    free(win->table);
    win->table = table;
    win->table_shared = true;
    return FLY_OK;
}

/* Takes the message of one member. The caller takes those of all before it reports an error. */
static int hear_one(struct fly_shm_carrier *shm, struct fly_win *win, struct mappings *shown,
                    int rank, bool leads, bool whole) {
    int local = shm->local[fly_world_rank(win->object.team, rank)];
    const struct fly_segment *segment = &shm->segments[local];
    struct fly_note_sent note;
    int files[2];
    int code = fly_shm_hear(shm, local, win->object.id, &note, files);
    if (code != FLY_OK) return code;
    if (whole && note.whole && note.rank == rank) {
        code = map_memory(win, shown, segment, local, &note, files[0]);
        if (leads && code == FLY_OK) code = map_table(win, shown, segment, &note, files[1]);
    } else if (whole) {
        code = fly_fail(FLY_ERR_NOMEM, "rank %d could not make its part of the window", rank);
    }
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0) close(files[i]);
    return code;
}

int fly_shm_expose(struct fly_carrier *c, struct fly_win *win, bool whole) {
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    const struct fly_team *team = win->object.team;
    int leader = leader_of(shm, team), code = FLY_OK;
    struct mappings *shown = shown_new(shm->count);
    if (shown == NULL) code = fly_fail(FLY_ERR_NOMEM, "shm: no memory for a window");
    win->shown = shown;
    bool leads = leader == shm->me;
    if (win->created) fly_shm_permit(shm);
    if (code == FLY_OK && whole && leads && !alone(shm, team)) code = make_table(win);
    int sent = tell_all(shm, win, leads && win->table_shared, whole && code == FLY_OK);
    if (code == FLY_OK) code = sent;
    for (int r = 0; r < team->size; r++) {
        int local = shm->local[fly_world_rank(team, r)];
        if (local < 0) continue;
        if (local != shm->me) {
            int heard = hear_one(shm, win, shown, r, local == leader, whole && code == FLY_OK);
            if (code == FLY_OK) code = heard;
        } else if (win->members != NULL) {
            win->members[r].base = win->base;
            win->members[r].reach = FLY_DIRECT;
        }
        if (win->members != NULL) win->members[r].entry_shared = true;
    }
    for (int i = 0; i < 2; i++) {
        struct fly_memory *memory = i == 0 ? &win->memory : &win->table_memory;
        if (memory->file >= 0) close(memory->file);
        memory->file = -1;
    }
    if (!win->created) return code;
    int made = fly_shm_copies(shm, win, whole && code == FLY_OK);
    return code == FLY_OK ? made : code;
}

void fly_shm_hide(struct fly_carrier *c, struct fly_win *win) {
    struct mappings *shown = win->shown;
    (void)c;
    if (shown == NULL) return;
    for (int i = 0; i < shown->count; i++)
        if (shown->of[i].base != NULL) munmap(shown->of[i].base, shown->of[i].bytes);
    if (shown->table != NULL) munmap(shown->table, shown->table_bytes);
    free(shown);
    win->shown = NULL;
}

int fly_shm_reach_in(struct fly_carrier *c, int peer, void *here, uint64_t there, size_t bytes,
                     bool write) {
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    pid_t pid = shm->segments[shm->local[peer]].pid;
    unsigned char *at = here;
    while (bytes != 0) {
        struct iovec ours = {at, bytes}, theirs = {(void *)(uintptr_t)there, bytes};
        ssize_t moved = write ? process_vm_writev(pid, &ours, 1, &theirs, 1, 0)
                              : process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
        if (moved <= 0 && errno == ESRCH)
            return fly_fail_dead(c->rt, "memory", peer);
        if (moved <= 0)
            return fly_fail(FLY_ERR_TRANSPORT, "the memory of rank %d, of fly_win_create, cannot "
                            "be reached any more: %s", peer, strerror(errno));
        at += moved;
        there += (uint64_t)moved;
        bytes -= (size_t)moved;
    }
    return FLY_OK;
}
