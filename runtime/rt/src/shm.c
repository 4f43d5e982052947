/* Transport "shm": packets between processes of one node, through rings in each rank's segment, one
   from each rank of the node to it. */
#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "remote.h"
#include "window.h"

/* The most packets taken in one turn, so that other transports are polled as well. */
enum { TURN_MOST = 64 };

/* Identifies kernel and network namespace: ranks that share both reach one another's sockets. */
int fly_node_tell(struct fly_hello *mine) {
    char text[64] = "";
    struct stat network, processes;
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (got <= 0 || stat("/proc/self/ns/net", &network) != 0 ||
        stat("/proc/self/ns/pid", &processes) != 0)
        return fly_fail(FLY_ERR_TRANSPORT, "shm: /proc does not tell the node");
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (ssize_t i = 0; i < got; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    uint64_t inode = (uint64_t)network.st_ino;
    memcpy(mine->node, &hash, 8);
    memcpy(mine->node + 8, &inode, 8);
    mine->pid_space = (uint64_t)processes.st_ino;
    return FLY_OK;
}

/* Registers this process, so that others can make the kernel fence it (Linux 4.16). */
static bool take_fences(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

/* Fences all registered processes: their stores before this come before the loads here after it,
   and the stores here before their loads. */
static void fence_others(void) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    fly_fence_all();
}

static void shm_close(struct fly_carrier *c);

static int shm_prepare(struct fly_rt *rt, struct fly_hello *mine, struct fly_carrier **made) {
    extern const struct fly_carrier_ops fly_shm;
    struct fly_shm_carrier *shm = calloc(1, sizeof *shm);
    if (shm == NULL) return fly_fail(FLY_ERR_NOMEM, "shm: no memory");
    shm->base = (struct fly_carrier){&fly_shm, rt};
    shm->listener = shm->epoll = -1;
    int code = fly_node_tell(mine);
    if (code == FLY_OK &&
        (getrandom(shm->token, sizeof shm->token, 0) != sizeof shm->token ||
         getrandom(mine->secret, sizeof mine->secret, 0) != sizeof mine->secret))
        code = fly_fail(FLY_ERR_TRANSPORT, "shm: no random numbers");
    if (code == FLY_OK) code = fly_shm_listen(shm);
    if (code != FLY_OK) {
        shm_close(&shm->base);
        return code;
    }
    memcpy(mine->token, shm->token, sizeof mine->token);
    mine->expedited = shm->expedited = take_fences();
    *made = &shm->base;
    return FLY_OK;
}

static bool shm_reaches(const struct fly_carrier *c, const struct fly_hello *mine,
                        const struct fly_hello *theirs) {
    (void)c;
    return memcmp(mine->node, theirs->node, sizeof mine->node) == 0;
}

void fly_shm_wake(uint32_t *asleep) {
    __atomic_store_n(asleep, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, asleep, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static int shm_send(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                    const void *data, size_t bytes) {
    struct fly_inlet *inlet = &c->rt->peers[peer].inlet;
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    struct fly_slot *slot = fly_ring_slot(&inlet->ring);
    slot->packet = *packet;
    if (bytes != 0 && (packet->kind == FLY_K_PUT || packet->kind == FLY_K_REPLY)) {
        /* Only a peer with places for copies gets bytes behind a packet: shm_copies.c. */
        fly_shm_bring(&shm->segments[shm->local[peer]], &inlet->ring, data, bytes);
        slot->packet.unused = 1;
    }
    fly_inlet_publish(inlet, slot);
    return FLY_OK;
}

/* Looks at the rings from the ranks in turn, until one has a packet; false: none has, or memory for
   it is short. */
static bool take_one(struct fly_shm_carrier *shm) {
    struct fly_rt *rt = shm->base.rt;
    for (int left = shm->count; left > 0; left--) {
        struct fly_outlet *from = rt->from;
        const struct fly_packet *packet = fly_ring_peek(&from->ring);
        const void *data = NULL;
        size_t bytes = 0;
        rt->from = from->next;
        if (packet != NULL && packet->unused != 0)
            data = fly_shm_brought(&shm->segments[from - shm->from], &from->ring, &bytes);
        if (packet == NULL) {
            fly_outlet_looked(rt, left == 1);
        } else if (fly_packet_arrived(rt, from->peer, packet, data, bytes)) {
            fly_outlet_taken(from);
            return true;
        }
    }
    return false;
}

static int shm_spin(struct fly_carrier *c, int looks, const struct fly_want *until) {
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    while (!take_one(shm))
        if (--looks <= 0) return 0;
    int taken = 1;
    while (taken < TURN_MOST && (until == NULL || !fly_match_complete(until)) && take_one(shm))
        taken++;
    return taken;
}

static int shm_poll(struct fly_carrier *c) { return shm_spin(c, 1, NULL); }

static void shm_give(struct fly_carrier *c, int peer) {
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    struct fly_segment *to = &shm->segments[shm->local[peer]];
    for (int i = 0; i < FLY_CLASSES; i++)
        fly_store_release(&to->returned[shm->me * FLY_CLASSES + i],
                          c->rt->peers[peer].quota[i].taken);
    fly_inlet_rouse(&c->rt->peers[peer].inlet);
}

/* Is called twice: the first call announces the sleep and lets the caller look once more. */
static void shm_rest(struct fly_carrier *c, uint32_t microseconds) {
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    uint32_t *asleep = &shm->segments[shm->me].front->asleep;
    struct timespec limit = {microseconds / 1000000, microseconds % 1000000 * 1000};
    if (__atomic_load_n(asleep, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(asleep, 1, __ATOMIC_SEQ_CST);
        if (shm->expedited)
            fence_others();
        else
            fly_fence_all();
    } else {
        syscall(SYS_futex, asleep, FUTEX_WAIT, 1, &limit, NULL, 0);
    }
}

/* Finds processes that ended, since their connections end. Takes first what they had published. */
static void shm_watch(struct fly_carrier *c) {
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    struct epoll_event events[16];
    int found = epoll_wait(shm->epoll, events, 16, 0);
    for (int i = 0; i < found; i++) {
        if ((events[i].events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) == 0) continue;
        struct fly_segment *segment = &shm->segments[events[i].data.u32];
        epoll_ctl(shm->epoll, EPOLL_CTL_DEL, segment->socket, NULL);
        while (shm_poll(c) > 0) continue;
        if (__atomic_load_n(&segment->front->left, __ATOMIC_ACQUIRE) != 0) continue;
        /* It may have ended because of another rank's death. */
        fly_peer_died_said(c->rt, __atomic_load_n(&segment->front->died, __ATOMIC_ACQUIRE));
        fly_peer_died(c->rt, segment->world);
    }
}

static void shm_say_dead(struct fly_carrier *c, int dead) {
    const struct fly_shm_carrier *shm = (const struct fly_shm_carrier *)c;
    struct fly_front *front = shm->segments == NULL ? NULL : shm->segments[shm->me].front;
    if (front != NULL) __atomic_store_n(&front->died, (uint32_t)dead + 1, __ATOMIC_RELEASE);
}

static int shm_allocate(struct fly_carrier *c, size_t bytes, struct fly_memory *memory) {
    (void)c;
    return fly_shm_file(bytes, memory);
}

static void drop_segment(struct fly_segment *segment) {
    if (segment->same_process && segment->front != NULL &&
        __atomic_sub_fetch(&segment->front->users, 1, __ATOMIC_ACQ_REL) != 0)
        segment->memory.base = NULL; /* other ranks of this process still use it */
    fly_memory_free(&segment->memory);
    fly_memory_free(&segment->copies);
    if (segment->socket >= 0) close(segment->socket);
}

static void shm_close(struct fly_carrier *c) {
    struct fly_shm_carrier *shm = (struct fly_shm_carrier *)c;
    if (c->rt->leaving && shm->segments != NULL && shm->segments[shm->me].front != NULL)
        __atomic_store_n(&shm->segments[shm->me].front->left, 1, __ATOMIC_RELEASE);
    for (int i = 0; shm->segments != NULL && i < shm->count; i++) drop_segment(&shm->segments[i]);
    while (shm->stash != NULL) {
        struct fly_stashed *next = shm->stash->next;
        for (int i = 0; i < 2; i++)
            if (shm->stash->files[i] >= 0) close(shm->stash->files[i]);
        free(shm->stash);
        shm->stash = next;
    }
    free(shm->segments);
    free(shm->local);
    free(shm->from);
    if (shm->listener >= 0) close(shm->listener);
    if (shm->epoll >= 0) close(shm->epoll);
    free(shm);
}

static int shm_connect(struct fly_carrier *c, const struct fly_hello *all) {
    return fly_shm_connect((struct fly_shm_carrier *)c, all);
}

const struct fly_carrier_ops fly_shm = {
    .name = "shm",
    .code = FLY_TRANSPORT_SHM,
    .most = FLY_SHM_MOST,
    .tag_ub = INT32_MAX,
    .prepare = shm_prepare,
    .reaches = shm_reaches,
    .connect = shm_connect,
    .send = shm_send,
    .poll = shm_poll,
    .spin = shm_spin,
    .give = shm_give,
    .rest = shm_rest,
    .watch = shm_watch,
    .say_dead = shm_say_dead,
    .allocate = shm_allocate,
    .expose = fly_shm_expose,
    .hide = fly_shm_hide,
    .reach_in = fly_shm_reach_in,
    .close = shm_close,
};
