/* Connections of the processes of a node: abstract sockets that carry files of memory.
 *
 * Who can pass a file over such a socket is on the node; names of hosts prove nothing. A connection
 * that ends tells that its process has, whatever ended it, and nothing has a name that could stay.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm.h"

static const struct timeval PATIENCE = {60, 0};

static socklen_t address_of(const unsigned char token[16], struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "flyloom-");
    for (int i = 0; i < 16; i++)
        length += snprintf(address->sun_path + 1 + length,
                           sizeof address->sun_path - 1 - (size_t)length, "%02x", token[i]);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int failed(const char *what) {
    int why = errno;
    if (why == EPIPE || why == ECONNRESET || why == ECONNREFUSED)
        return fly_fail(FLY_ERR_PEER, "shm: a process of the node has died (%s)", what);
    return fly_fail(why == EMFILE || why == ENFILE || why == ENOMEM ? FLY_ERR_NOMEM
                                                                    : FLY_ERR_TRANSPORT,
                    "shm: %s: %s", what, strerror(why));
}

int fly_shm_listen(struct fly_shm_carrier *shm) {
    struct sockaddr_un address;
    socklen_t length = address_of(shm->token, &address);
    shm->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (shm->listener < 0) return failed("socket");
    if (bind(shm->listener, (struct sockaddr *)&address, length) != 0) return failed("bind");
    if (listen(shm->listener, SOMAXCONN) != 0) return failed("listen");
    setsockopt(shm->listener, SOL_SOCKET, SO_RCVTIMEO, &PATIENCE, sizeof PATIENCE);
    shm->epoll = epoll_create1(EPOLL_CLOEXEC);
    return shm->epoll < 0 ? failed("epoll_create1") : FLY_OK;
}

/* The kernel ends a process that makes a file, shared memory too, larger than this limit. */
static int within_limit(size_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        bytes <= limit.rlim_cur)
        return FLY_OK;
    return fly_fail(FLY_ERR_NOMEM, "shm: %zu bytes of shared memory are more than the limit on the "
                    "size of files, %llu bytes (ulimit -f)", bytes,
                    (unsigned long long)limit.rlim_cur);
}

int fly_shm_file(size_t bytes, struct fly_memory *memory) {
    int code = within_limit(bytes);
    if (code != FLY_OK) return code;
    int file = memfd_create("flyloom", MFD_CLOEXEC);
    if (file < 0) return failed("memfd_create");
    if (ftruncate(file, (off_t)bytes) != 0) {
        code = failed("ftruncate");
        close(file);
        return code;
    }
    void *base;
    code = fly_shm_map(file, bytes, &base);
    if (code != FLY_OK) {
        close(file);
        return code;
    }
    *memory = (struct fly_memory){base, bytes, file};
    return FLY_OK;
}

int fly_shm_map(int file, size_t bytes, void **base) {
    *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (*base == MAP_FAILED) {
        *base = NULL;
        return fly_fail(FLY_ERR_NOMEM, "shm: %zu bytes cannot be mapped: %s", bytes,
                        strerror(errno));
    }
    return FLY_OK;
}

static int send_note(int socket, const struct fly_note_sent *note, const int files[2]) {
    struct iovec piece = {(void *)(uintptr_t)note, sizeof *note};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int sent[2], count = 0;
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0) sent[count++] = files[i];
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(head), sent, (size_t)count * sizeof(int));
    }
    ssize_t got;
    while ((got = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) continue;
    return got == sizeof *note ? FLY_OK : failed("sendmsg");
}

/* Fills files in the order of note->pieces; -1 where there is none. */
static int receive_note(int socket, struct fly_note_sent *note, int files[2]) {
    struct iovec piece = {note, sizeof *note};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control};
    files[0] = files[1] = -1;
    ssize_t got;
    while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return fly_fail(FLY_ERR_PEER, "shm: a process of the node has died");
    if (got != sizeof *note) return failed("recvmsg");
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        int read[2], count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(read, CMSG_DATA(head), (size_t)count * sizeof(int));
        for (int i = 0, next = 0; i < 2; i++)
            if ((note->pieces & 1 << i) != 0 && next < count) files[i] = read[next++];
    }
    return FLY_OK;
}

int fly_shm_tell(struct fly_shm_carrier *shm, int local, const struct fly_note_sent *note,
                 const int files[2]) {
    return send_note(shm->segments[local].socket, note, files);
}

int fly_shm_hear(struct fly_shm_carrier *shm, int local, uint32_t id, struct fly_note_sent *note,
                 int files[2]) {
    for (struct fly_stashed **at = &shm->stash; *at != NULL; at = &(*at)->next) {
        struct fly_stashed *found = *at;
        if (found->local != local || found->note.id != id) continue;
        *note = found->note;
        memcpy(files, found->files, sizeof found->files);
        *at = found->next;
        free(found);
        return FLY_OK;
    }
    for (;;) {
        int code = receive_note(shm->segments[local].socket, note, files);
        if (code != FLY_OK || note->id == id) return code;
        struct fly_stashed *kept = malloc(sizeof *kept); /* of another team's window */
        if (kept == NULL) return fly_fail(FLY_ERR_NOMEM, "shm: no memory");
        *kept = (struct fly_stashed){shm->stash, local, *note, {files[0], files[1]}};
        shm->stash = kept;
    }
}

/* Slots for all that may be under way from one rank to one of `credits`: notifications, others,
   answers. */
static uint64_t depth_of(uint32_t credits) {
    uint64_t most = (uint64_t)credits + FLY_OTHER_CREDITS + FLY_REPLIES_MAX, depth = 2;
    while (depth < most) depth *= 2;
    return depth;
}

/* Bytes before the rings: the front, and the words of credits. */
static size_t bytes_before(int count) {
    size_t words = (size_t)count * FLY_CLASSES * sizeof(fly_word);
    return sizeof(struct fly_front) + (words + 63) / 64 * 64;
}

/* The ring in a segment from a local rank. New memory is zero: it is empty. */
static struct fly_ring ring_from(const struct fly_segment *segment, int local, int count,
                                 uint64_t depth) {
    struct fly_slot *first = (void *)((unsigned char *)segment->memory.base + bytes_before(count));
    return (struct fly_ring){first + (size_t)local * depth, depth - 1, 1};
}

static void lay_out(struct fly_shm_carrier *shm, struct fly_segment *segment, uint64_t depth) {
    unsigned char *base = segment->memory.base;
    segment->front = (struct fly_front *)(void *)base;
    segment->returned = (fly_word *)(void *)(base + sizeof *segment->front);
    struct fly_inlet *inlet = &shm->base.rt->peers[segment->world].inlet;
    inlet->ring = ring_from(segment, shm->me, shm->count, depth);
    inlet->asleep = &segment->front->asleep;
}

static int make_own(struct fly_shm_carrier *shm, uint32_t credits) {
    struct fly_segment *own = &shm->segments[shm->me];
    uint64_t depth = depth_of(credits);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = bytes_before(shm->count) +
                   (size_t)shm->count * (size_t)depth * sizeof(struct fly_slot);
    int code = fly_shm_file((bytes + page - 1) / page * page, &own->memory);
    if (code != FLY_OK) return code;
    own->same_process = true;
    lay_out(shm, own, depth);
    own->front->users = 1;
    for (int i = 0; i < shm->count; i++) {
        int peer = shm->segments[i].world;
        shm->from[i] = (struct fly_outlet){
            .ring = ring_from(own, i, shm->count, depth),
            .note = &shm->base.rt->peers[peer].quota[FLY_CLASS_NOTE],
            .peer = peer,
            .next = &shm->from[i + 1 == shm->count ? 0 : i + 1],
        };
    }
    return FLY_OK;
}

/* Who is at the other end, and its segment. */
static int meet(struct fly_shm_carrier *shm, int socket, const struct fly_hello *all) {
    struct fly_note_sent card;
    int files[2];
    int code = receive_note(socket, &card, files);
    if (code != FLY_OK) return code;
    int local = card.rank < 0 || card.rank >= shm->base.rt->size ? -1 : shm->local[card.rank];
    if (local < 0 || shm->segments[local].front != NULL || files[0] < 0)
        return fly_fail(FLY_ERR_TRANSPORT, "shm: a stranger came to the socket");
    struct fly_segment *segment = &shm->segments[local];
    struct ucred who = {0};
    socklen_t length = sizeof who;
    getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length);
    segment->pid = who.pid;
    segment->same_process = who.pid == getpid();
    segment->memory.mapped = card.mapped;
    if (segment->same_process)
        segment->memory.base = (void *)(uintptr_t)card.address;
    else
        code = fly_shm_map(files[0], card.mapped, &segment->memory.base);
    close(files[0]);
    if (code != FLY_OK) return code;
    segment->socket = socket;
    lay_out(shm, segment, depth_of(all[segment->world].credits));
    if (segment->same_process)
        __atomic_add_fetch(&segment->front->users, 1, __ATOMIC_ACQ_REL);
    struct epoll_event event = {.events = EPOLLRDHUP, .data.u32 = (uint32_t)local};
    return epoll_ctl(shm->epoll, EPOLL_CTL_ADD, socket, &event) == 0 ? FLY_OK
                                                                     : failed("epoll_ctl");
}

static int greet(struct fly_shm_carrier *shm, int socket) {
    const struct fly_segment *own = &shm->segments[shm->me];
    struct fly_note_sent card = {.rank = shm->base.rt->rank, .pieces = 1};
    card.address = (uint64_t)(uintptr_t)own->memory.base;
    card.mapped = own->memory.mapped;
    int files[2] = {own->memory.file, -1};
    return send_note(socket, &card, files);
}

static int call(struct fly_shm_carrier *shm, int local, const struct fly_hello *theirs) {
    struct sockaddr_un address;
    socklen_t length = address_of(theirs->token, &address);
    int end = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (end < 0) return failed("socket");
    shm->segments[local].socket = end;
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &PATIENCE, sizeof PATIENCE);
    if (connect(end, (struct sockaddr *)&address, length) != 0) return failed("connect");
    return greet(shm, end);
}

/* Also where its parent has not asked for its end yet. */
static bool has_exited(pid_t pid) {
    int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    if (handle < 0) return errno == ESRCH;
    struct pollfd end = {.fd = handle, .events = POLLIN};
    bool exited = poll(&end, 1, 0) == 1;
    close(handle);
    return exited;
}

/* Waits for a call; those who have not called yet may have died. */
static int await_call(struct fly_shm_carrier *shm, const struct fly_hello *all) {
    struct pollfd listener = {.fd = shm->listener, .events = POLLIN};
    uint64_t began = fly_now_ns();
    while (poll(&listener, 1, 50) != 1) {
        for (int i = shm->me + 1; i < shm->count; i++) {
            const struct fly_hello *their = &all[shm->segments[i].world];
            bool known = their->pid_space == all[shm->base.rt->rank].pid_space;
            if (shm->segments[i].front == NULL && known && has_exited((pid_t)their->pid))
                return fly_fail(FLY_ERR_PEER, "shm: rank %d has died", shm->segments[i].world);
        }
        if (fly_now_ns() - began > (uint64_t)PATIENCE.tv_sec * 1000000000)
            return fly_fail(FLY_ERR_TIMEOUT, "shm: a process of the node does not connect");
    }
    return FLY_OK;
}

static int answer(struct fly_shm_carrier *shm, const struct fly_hello *all) {
    int waited = await_call(shm, all);
    if (waited != FLY_OK) return waited;
    int end = accept4(shm->listener, NULL, NULL, SOCK_CLOEXEC);
    if (end < 0) return failed("accept");
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &PATIENCE, sizeof PATIENCE);
    int code = meet(shm, end, all);
    if (code != FLY_OK) {
        close(end);
        return code;
    }
    return greet(shm, end);
}

static int number_ranks(struct fly_shm_carrier *shm) {
    struct fly_rt *rt = shm->base.rt;
    shm->local = malloc((size_t)rt->size * sizeof *shm->local);
    shm->segments = calloc((size_t)rt->size, sizeof *shm->segments);
    if (shm->local == NULL || shm->segments == NULL)
        return fly_fail(FLY_ERR_NOMEM, "shm: no memory");
    for (int r = 0; r < rt->size; r++) {
        shm->local[r] = -1;
        if (rt->peers[r].via != &shm->base) continue;
        if (r == rt->rank) shm->me = shm->count;
        struct fly_segment *segment = &shm->segments[shm->count];
        *segment = (struct fly_segment){.world = r, .socket = -1};
        segment->memory.file = segment->copies.file = -1;
        shm->local[r] = shm->count++;
    }
    rt->near = shm->count;
    rt->from = shm->from = calloc((size_t)shm->count, sizeof *shm->from);
    return shm->from == NULL ? fly_fail(FLY_ERR_NOMEM, "shm: no memory") : FLY_OK;
}

/* Lower ranks are called; higher ones call. A listener takes calls before it is asked to. */
int fly_shm_connect(struct fly_shm_carrier *shm, const struct fly_hello *all) {
    struct fly_rt *rt = shm->base.rt;
    int code = number_ranks(shm);
    if (code == FLY_OK) code = make_own(shm, all[rt->rank].credits);
    for (int i = 0; i < shm->me && code == FLY_OK; i++)
        code = call(shm, i, &all[shm->segments[i].world]);
    for (int i = shm->me + 1; i < shm->count && code == FLY_OK; i++) code = answer(shm, all);
    for (int i = 0; i < shm->me && code == FLY_OK; i++)
        code = meet(shm, shm->segments[i].socket, all);
    if (code != FLY_OK) return code;
    struct fly_segment *own = &shm->segments[shm->me];
    close(own->memory.file);
    own->memory.file = -1;
    close(shm->listener);
    shm->listener = -1;
    for (int i = 0; i < shm->count; i++) {
        struct fly_peer *peer = &rt->peers[shm->segments[i].world];
        peer->inlet.fenced = !shm->expedited || !all[shm->segments[i].world].expedited;
        for (int k = 0; k < FLY_CLASSES; k++)
            peer->quota[k].returned = &own->returned[i * FLY_CLASSES + k];
    }
    return FLY_OK;
}
