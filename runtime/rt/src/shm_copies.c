/* Transport "shm": packets with bytes behind them, between processes that cannot access each
 * other's memory.
 *
 * Each slot of the two rings between them then has a place for bytes, in memory that both map:
 * whoever may use the slot may use its place. The memory is created with the first window that
 * needs it, by the rank that cannot reach the other; by the lower rank where neither can.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "error.h"
#include "shm.h"
#include "team.h"
#include "window.h"

/* Marks the number of a window in the second message about it. */
static const uint32_t SECOND = UINT32_C(1) << 31;

struct place {
    uint64_t bytes;
    unsigned char data[FLY_SHM_MOST];
};

/* Begins the memory: how many of the other's puts each of the two has executed. */
struct front {
    fly_word done[2];
    uint64_t line[6];
};

static size_t depth(const struct fly_ring *ring) { return (size_t)ring->mask + 1; }

static const struct fly_ring *ring_to(const struct fly_shm_carrier *shm, int local) {
    return &shm->base.rt->peers[shm->segments[local].world].inlet.ring;
}

static size_t bytes_of(const struct fly_shm_carrier *shm, int local) {
    size_t places = depth(ring_to(shm, local)) + depth(&shm->from[local].ring), page = 4096;
    size_t bytes = sizeof(struct front) + places * sizeof(struct place);
    return (bytes + page - 1) / page * page;
}

/* Starts to use the memory; the lower rank's words and places come first. */
static void use(struct fly_shm_carrier *shm, int local, struct fly_memory memory) {
    struct fly_segment *segment = &shm->segments[local];
    struct fly_peer *peer = &shm->base.rt->peers[segment->world];
    struct front *front = memory.base;
    struct place *first = (struct place *)(void *)(front + 1);
    bool lower = shm->me < local;
    fly_memory_free(&segment->copies);
    segment->copies = memory;
    segment->out = lower ? first : first + depth(&shm->from[local].ring);
    segment->in = lower ? first + depth(ring_to(shm, local)) : first;
    peer->done_at = &front->done[lower ? 1 : 0];
    peer->tell_done = &front->done[lower ? 0 : 1];
}

/* Lets processes of the same user read and write here, where the kernel demands it (Yama, as on
   Ubuntu). The kernel takes one process: that of the other rank, or any. */
static void permit(const struct fly_shm_carrier *shm) {
    unsigned long who = PR_SET_PTRACER_ANY;
    if (shm->count == 2) who = (unsigned long)shm->segments[1 - shm->me].pid;
    prctl(PR_SET_PTRACER, who, 0, 0, 0);
}

void fly_shm_permit(struct fly_shm_carrier *shm) {
    for (int i = 0; i < shm->count; i++) {
        if (shm->segments[i].same_process) continue;
        permit(shm);
        return;
    }
}

/* Whether the kernel lets this process read and write a peer's memory; writes nothing. */
static bool may_reach(const struct fly_segment *segment, uint64_t address) {
    char byte;
    struct iovec ours = {&byte, 1}, theirs = {(void *)(uintptr_t)address, 1};
    return process_vm_readv(segment->pid, &ours, 1, &theirs, 1, 0) == 1 &&
           process_vm_writev(segment->pid, &ours, 0, &theirs, 0, 0) == 0;
}

static int tell(struct fly_shm_carrier *shm, struct fly_win *win, int rank, bool whole) {
    int local = shm->local[fly_world_rank(win->object.team, rank)], code = FLY_OK;
    struct fly_segment *segment = &shm->segments[local];
    struct fly_note_sent note = {.id = win->object.id | SECOND, .rank = win->object.team->rank};
    int files[2] = {-1, -1};
    struct fly_memory memory = {NULL, 0, -1};
    if (whole && win->members[rank].reach == FLY_KERNEL &&
        !may_reach(segment, win->table[rank].address)) {
        win->members[rank].reach = FLY_REMOTE;
        if (segment->copies.base == NULL) code = fly_shm_file(bytes_of(shm, local), &memory);
    }
    files[0] = memory.file;
    note.whole = whole && code == FLY_OK;
    note.mapped = memory.mapped;
    note.pieces = files[0] >= 0 ? 1 : 0;
    int sent = fly_shm_tell(shm, local, &note, files);
    if (memory.base != NULL) {
        close(memory.file);
        memory.file = -1;
        use(shm, local, memory);
    }
    return code == FLY_OK ? sent : code;
}

static int hear(struct fly_shm_carrier *shm, struct fly_win *win, int rank) {
    int local = shm->local[fly_world_rank(win->object.team, rank)], files[2];
    struct fly_note_sent note;
    int code = fly_shm_hear(shm, local, win->object.id | SECOND, &note, files);
    if (code != FLY_OK) return code;
    bool mine_first = shm->segments[local].copies.base != NULL && shm->me < local;
    struct fly_memory memory = {NULL, note.mapped, -1};
    if (!note.whole)
        code = fly_fail(FLY_ERR_NOMEM, "rank %d could not make its part of the window", rank);
    else if (files[0] >= 0 && !mine_first && note.mapped == bytes_of(shm, local))
        code = fly_shm_map(files[0], note.mapped, note.mapped, &memory.base);
    if (memory.base != NULL) use(shm, local, memory);
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0) close(files[i]);
    return code;
}

int fly_shm_copies(struct fly_shm_carrier *shm, struct fly_win *win, bool whole) {
    const struct fly_team *team = win->object.team;
    int code = FLY_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < team->size; r++) {
            int local = shm->local[fly_world_rank(team, r)];
            if (local < 0 || local == shm->me) continue;
            int this_one = pass == 0 ? tell(shm, win, r, whole) : hear(shm, win, r);
            if (code == FLY_OK) code = this_one;
        }
    }
    return code;
}

void fly_shm_bring(const struct fly_segment *to, const struct fly_ring *ring, const void *data,
                   size_t bytes) {
    struct place *place = (struct place *)to->out + (ring->next & ring->mask);
    place->bytes = bytes;
    memcpy(place->data, data, bytes);
}

const void *fly_shm_brought(const struct fly_segment *from, const struct fly_ring *ring,
                            size_t *bytes) {
    const struct place *place = (const struct place *)from->in + (ring->next & ring->mask);
    *bytes = place->bytes <= FLY_SHM_MOST ? (size_t)place->bytes : 0;
    return place->data;
}
