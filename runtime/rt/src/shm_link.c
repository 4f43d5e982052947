/* Connections of the processes of a node: abstract sockets that carry files of memory.
 *
 * A process that can pass a file over such a socket is on the node; host names prove nothing. A
 * connection ends with its process, for whatever reason, and nothing has a name that could be left
 * behind. Memory goes only to those that have proved to be ranks of this program (shm_door.c); it
 * is mapped only if it has the right length and cannot become shorter.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../mpi/file_limit.h"
#include "error.h"
#include "remote.h"
#include "shm.h"

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
        return FLY_ERR_PEER; /* `with` adds the rank */
    if (why == EAGAIN || why == EWOULDBLOCK)
        return fly_fail(FLY_ERR_TIMEOUT, "shm: a process of the node says nothing (%s)", what);
    return fly_fail(why == EMFILE || why == ENFILE || why == ENOMEM ? FLY_ERR_NOMEM
                                                                    : FLY_ERR_TRANSPORT,
                    "shm: %s: %s", what, file_limit_why(why));
}

/* Sets how long the other processes are waited for. */
static void be_patient(const struct fly_shm_carrier *shm, int socket) {
    uint32_t limit = shm->base.rt->settings.start_ms;
    struct timeval patience = {limit / 1000, limit % 1000 * 1000};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

int fly_shm_listen(struct fly_shm_carrier *shm) {
    struct sockaddr_un address;
    socklen_t length = address_of(shm->token, &address);
    shm->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (shm->listener < 0) return failed("socket");
    if (bind(shm->listener, (struct sockaddr *)&address, length) != 0) return failed("bind");
    if (listen(shm->listener, SOMAXCONN) != 0) return failed("listen");
    be_patient(shm, shm->listener);
    shm->epoll = epoll_create1(EPOLL_CLOEXEC);
    return shm->epoll < 0 ? failed("epoll_create1") : FLY_OK;
}

/* The kernel kills a process that makes a file, or shared memory, larger than this limit. */
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
    int file = memfd_create("flyloom", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return failed("memfd_create");
    if (ftruncate(file, (off_t)bytes) != 0 ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        code = failed("the length of memory");
        close(file);
        return code;
    }
    void *base;
    code = fly_shm_map(file, bytes, bytes, &base);
    if (code != FLY_OK) {
        close(file);
        return code;
    }
    *memory = (struct fly_memory){base, bytes, file};
    return FLY_OK;
}

int fly_shm_map(int file, size_t bytes, size_t least, void **base) {
    struct stat found;
    int seals = fcntl(file, F_GET_SEALS);
    *base = NULL;
    if (bytes == 0 || bytes < least || fstat(file, &found) != 0 || found.st_size < 0 ||
        (uint64_t)found.st_size < bytes || seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        return fly_fail(FLY_ERR_TRANSPORT, "shm: memory came that is shorter than %zu bytes, or "
                        "could become so", bytes < least ? least : bytes);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return fly_fail(FLY_ERR_NOMEM, "shm: %zu bytes cannot be mapped: %s", bytes,
                        strerror(errno));
    *base = at;
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

/* Receives a note with its files, in the order of note->pieces; -1 for a file that is missing. */
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
    int read[2], count = 0, next = 0;
    files[0] = files[1] = -1;
    ssize_t got;
    while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return FLY_ERR_PEER;
    if (got < 0) return failed("recvmsg");
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(read, CMSG_DATA(head), (size_t)count * sizeof(int));
    }
    bool whole = got == sizeof *note && (message.msg_flags & MSG_TRUNC) == 0;
    for (int i = 0; i < 2 && whole; i++)
        if ((note->pieces & 1 << i) != 0 && next < count) files[i] = read[next++];
    while (next < count) close(read[next++]);
    if (whole && (message.msg_flags & MSG_CTRUNC) != 0) { /* no file descriptor left */
        for (int i = 0; i < 2; i++)
            if (files[i] >= 0) close(files[i]);
        errno = EMFILE;
        return failed("recvmsg");
    }
    return whole ? FLY_OK : fly_fail(FLY_ERR_TRANSPORT, "shm: what came is not of this library");
}

/* Completes the result of a message: if a rank has ended, it may be because of another's death. */
static int with(const struct fly_shm_carrier *shm, int local, int code) {
    const struct fly_segment *segment = &shm->segments[local];
    if (code != FLY_ERR_PEER) return code;
    if (segment->front != NULL)
        fly_peer_died_said(shm->base.rt, __atomic_load_n(&segment->front->died, __ATOMIC_ACQUIRE));
    return fly_fail_dead(shm->base.rt, "shm", segment->world);
}

int fly_shm_tell(struct fly_shm_carrier *shm, int local, const struct fly_note_sent *note,
                 const int files[2]) {
    return with(shm, local, send_note(shm->segments[local].socket, note, files));
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
        if (code != FLY_OK || note->id == id) return with(shm, local, code);
        struct fly_stashed *kept = malloc(sizeof *kept); /* of another team's window */
        if (kept == NULL) return fly_fail(FLY_ERR_NOMEM, "shm: no memory");
        *kept = (struct fly_stashed){shm->stash, local, *note, {files[0], files[1]}};
        shm->stash = kept;
    }
}

/* The slots that a ring needs for all packets that may be in flight from one rank: notifications,
   with `credits`, others, and answers. */
static uint64_t depth_of(uint32_t credits) {
    uint64_t most = (uint64_t)credits + FLY_OTHER_CREDITS + FLY_REPLIES_MAX, depth = 2;
    while (depth < most) depth *= 2;
    return depth;
}

/* The bytes of a segment before its rings: the front, and the words of credits. */
static size_t bytes_before(int count) {
    size_t words = (size_t)count * FLY_CLASSES * sizeof(fly_word);
    return sizeof(struct fly_front) + (words + 63) / 64 * 64;
}

/* The ring in a segment from a local rank. New memory is zero, which is an empty ring. */
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

/* The size of the segment of a rank with these credits, in whole pages. */
static size_t segment_bytes(const struct fly_shm_carrier *shm, uint32_t credits) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = bytes_before(shm->count) +
                   (size_t)shm->count * (size_t)depth_of(credits) * sizeof(struct fly_slot);
    return (bytes + page - 1) / page * page;
}

static int make_own(struct fly_shm_carrier *shm, uint32_t credits) {
    struct fly_segment *own = &shm->segments[shm->me];
    uint64_t depth = depth_of(credits);
    int code = fly_shm_file(segment_bytes(shm, credits), &own->memory);
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

/* Maps the segment of the rank at the other end, which has proved who it is. */
static int meet(struct fly_shm_carrier *shm, int local, const struct fly_hello *all) {
    struct fly_segment *segment = &shm->segments[local];
    struct fly_note_sent card;
    struct ucred who;
    int files[2];
    int code = receive_note(segment->socket, &card, files);
    if (code != FLY_OK) return code;
    size_t bytes = segment_bytes(shm, all[segment->world].credits);
    fly_shm_same_user(segment->socket, &who);
    segment->pid = who.pid;
    segment->same_process = who.pid == getpid();
    segment->memory.mapped = bytes;
    if (card.rank != segment->world || files[0] < 0 || card.mapped != bytes)
        code = fly_fail(FLY_ERR_TRANSPORT, "shm: rank %d showed other memory than its own",
                        segment->world);
    else if (segment->same_process)
        segment->memory.base = (void *)(uintptr_t)card.address;
    else
        code = fly_shm_map(files[0], bytes, bytes, &segment->memory.base);
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0) close(files[i]);
    if (code != FLY_OK) return code;
    lay_out(shm, segment, depth_of(all[segment->world].credits));
    if (segment->same_process)
        __atomic_add_fetch(&segment->front->users, 1, __ATOMIC_ACQ_REL);
    struct epoll_event event = {.events = EPOLLRDHUP, .data.u32 = (uint32_t)local};
    return epoll_ctl(shm->epoll, EPOLL_CTL_ADD, segment->socket, &event) == 0
               ? FLY_OK
               : failed("epoll_ctl");
}

static int greet(struct fly_shm_carrier *shm, int local) {
    const struct fly_segment *own = &shm->segments[shm->me];
    struct fly_note_sent card = {.rank = shm->base.rt->rank, .pieces = 1};
    card.address = (uint64_t)(uintptr_t)own->memory.base;
    card.mapped = own->memory.mapped;
    int files[2] = {own->memory.file, -1};
    return send_note(shm->segments[local].socket, &card, files);
}

static int call(struct fly_shm_carrier *shm, int local, const struct fly_hello *theirs) {
    struct sockaddr_un address;
    struct ucred who;
    socklen_t length = address_of(theirs->token, &address);
    int end = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (end < 0) return failed("socket");
    shm->segments[local].socket = end;
    be_patient(shm, end);
    if (connect(end, (struct sockaddr *)&address, length) != 0) return failed("connect");
    if (!fly_shm_same_user(end, &who))
        return fly_fail(FLY_ERR_TRANSPORT, "shm: rank %d is a process of user %u; all ranks of a "
                        "node must be of one", shm->segments[local].world, (unsigned)who.uid);
    return fly_shm_knock(end, shm->base.rt->rank, theirs) ? FLY_OK : failed("send");
}

/* Answers a rank that has connected and was let in: proves who this rank is, sends its memory. */
static int answer(struct fly_shm_carrier *shm, int local, const struct fly_hello *all) {
    int end = shm->segments[local].socket;
    be_patient(shm, end);
    if (!fly_shm_knock(end, shm->base.rt->rank, &all[shm->segments[local].world]))
        return failed("send");
    return greet(shm, local);
}

/* Checks the answer of a rank that this one connected to, before that rank gets this one's
   memory. */
static int recognise(struct fly_shm_carrier *shm, int local, const struct fly_hello *all) {
    const struct fly_segment *segment = &shm->segments[local];
    int rank = -1;
    if (fly_shm_knocked(segment->socket, &all[shm->base.rt->rank], 0, &rank) != 0)
        return failed("recv");
    if (rank != segment->world)
        return fly_fail(FLY_ERR_TRANSPORT, "shm: rank %d answered for rank %d", rank,
                        segment->world);
    int code = meet(shm, local, all);
    return code == FLY_OK ? greet(shm, local) : code;
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

/* Connects to the lower ranks; the higher ones connect to this one. A listener has a queue, so
   ranks can connect before it accepts. No rank waits for the memory of a higher one before all
   lower ones have got its own memory, so the waits cannot form a cycle. */
int fly_shm_connect(struct fly_shm_carrier *shm, const struct fly_hello *all) {
    struct fly_rt *rt = shm->base.rt;
    int code = number_ranks(shm);
    if (code == FLY_OK) code = make_own(shm, all[rt->rank].credits);
    for (int i = 0; i < shm->me && code == FLY_OK; i++)
        code = with(shm, i, call(shm, i, &all[shm->segments[i].world]));
    if (code == FLY_OK)
        code = fly_shm_admit(shm, all, (uint64_t)rt->settings.start_ms * 1000000);
    for (int i = shm->me + 1; i < shm->count && code == FLY_OK; i++)
        code = with(shm, i, answer(shm, i, all));
    for (int i = 0; i < shm->me && code == FLY_OK; i++)
        code = with(shm, i, recognise(shm, i, all));
    for (int i = shm->me + 1; i < shm->count && code == FLY_OK; i++)
        code = with(shm, i, meet(shm, i, all));
    if (code != FLY_OK) { /* closing lets the others stop waiting */
        for (int i = 0; shm->segments != NULL && i < shm->count; i++) {
            if (shm->segments[i].socket >= 0) close(shm->segments[i].socket);
            shm->segments[i].socket = -1;
        }
        return code;
    }
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
