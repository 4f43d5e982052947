/* Checks who connects to the socket of a rank: only ranks of this program come in.
 *
 * Every process of the machine can see an abstract socket and connect to it. So both ends compare
 * the user of the other, whom the kernel names, and each first sends the secret of the other, which
 * only ranks know that gathered by the bootstrap. A visitor of another user, with other words or
 * with none is disconnected, and makes nobody else wait.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../mpi/file_limit.h"
#include "error.h"
#include "progress.h"
#include "shm.h"

/* Up to VISITORS connections may be unidentified, each for SILENT_NS. If more come, each still has
   YOUNG_NS, since a rank may be stopped between its connect and its first message. */
enum { VISITORS = 64, PAUSE_MS = 50 };
static const uint64_t SILENT_NS = UINT64_C(5000000000), YOUNG_NS = UINT64_C(1000000000);

struct greeting {
    unsigned char secret[16]; /* the secret of the rank that is connected to */
    int32_t rank;             /* the rank that connects */
    uint32_t unused;
};

struct visitors {
    int count;
    struct {
        int socket;
        uint64_t came_ns;
    } of[VISITORS];
};

/* Compares in constant time, which does not reveal how many bytes are right. */
static bool same_secret(const unsigned char one[16], const unsigned char other[16]) {
    unsigned char differ = 0;
    for (int i = 0; i < 16; i++) differ |= one[i] ^ other[i];
    return differ == 0;
}

bool fly_shm_same_user(int socket, struct ucred *who) {
    socklen_t length = sizeof *who;
    *who = (struct ucred){.uid = (uid_t)-1};
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, who, &length) == 0 &&
           who->uid == geteuid();
}

bool fly_shm_knock(int socket, int rank, const struct fly_hello *at) {
    struct greeting card = {.rank = rank};
    memcpy(card.secret, at->secret, sizeof card.secret);
    ssize_t sent;
    while ((sent = send(socket, &card, sizeof card, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        continue;
    return sent == sizeof card;
}

int fly_shm_knocked(int socket, const struct fly_hello *mine, int flags, int *rank) {
    struct greeting card;
    ssize_t got;
    /* MSG_TRUNC returns the length that was sent. The kernel drops files that come with it. */
    while ((got = recv(socket, &card, sizeof card, flags | MSG_TRUNC)) < 0 && errno == EINTR)
        continue;
    if (got < 0) return -1;
    if (got != sizeof card || !same_secret(card.secret, mine->secret)) {
        errno = got == 0 ? ECONNRESET : EPROTO;
        return -1;
    }
    *rank = card.rank;
    return 0;
}

/* Whether a process has exited, even if its parent has not waited for it yet. */
static bool has_exited(pid_t pid) {
    int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    if (handle < 0) return errno == ESRCH;
    struct pollfd end = {.fd = handle, .events = POLLIN};
    bool exited = poll(&end, 1, 0) == 1;
    close(handle);
    return exited;
}

/* Looks for ranks that have not connected yet and have died. */
static int look_for_dead(const struct fly_shm_carrier *shm, const struct fly_hello *all) {
    for (int i = shm->me + 1; i < shm->count; i++) {
        const struct fly_hello *their = &all[shm->segments[i].world];
        bool known = their->pid_space == all[shm->base.rt->rank].pid_space;
        if (shm->segments[i].socket < 0 && known && has_exited((pid_t)their->pid))
            return fly_fail(FLY_ERR_PEER, "shm: rank %d has died", shm->segments[i].world);
    }
    return FLY_OK;
}

static void forget(struct visitors *visitors, int which) {
    for (int i = which + 1; i < visitors->count; i++) visitors->of[i - 1] = visitors->of[i];
    visitors->count--;
}

static void hang_up(struct visitors *visitors, int which) {
    close(visitors->of[which].socket);
    forget(visitors, which);
}

/* Accepts a connection that waits at the socket, if it is of this user. */
static int take_visitor(const struct fly_shm_carrier *shm, struct visitors *visitors) {
    struct ucred who;
    int end = accept4(shm->listener, NULL, NULL, SOCK_CLOEXEC);
    if (end < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED)) return FLY_OK;
    if (end < 0)
        return fly_fail(errno == EMFILE || errno == ENFILE || errno == ENOMEM ? FLY_ERR_NOMEM
                                                                              : FLY_ERR_TRANSPORT,
                        "shm: accept: %s", file_limit_why(errno));
    if (!fly_shm_same_user(end, &who)) {
        close(end);
        return FLY_OK;
    }
    visitors->of[visitors->count].socket = end;
    visitors->of[visitors->count++].came_ns = fly_now_ns();
    return FLY_OK;
}

/* Lets an awaited rank in that has identified itself; disconnects anybody else. */
static bool let_in(struct fly_shm_carrier *shm, struct visitors *visitors, int which,
                   const struct fly_hello *mine) {
    int rank = -1, local = -1, end = visitors->of[which].socket;
    if (fly_shm_knocked(end, mine, MSG_DONTWAIT, &rank) == 0 && rank >= 0 &&
        rank < shm->base.rt->size)
        local = shm->local[rank];
    if (local <= shm->me || shm->segments[local].socket >= 0) {
        hang_up(visitors, which);
        return false;
    }
    shm->segments[local].socket = end;
    forget(visitors, which);
    return true;
}

/* Handles visitors that have sent something, or nothing for too long; how many ranks came in. */
static int look_at(struct fly_shm_carrier *shm, struct visitors *visitors,
                   const struct fly_hello *mine, const struct pollfd *ready) {
    bool crowded = visitors->count == VISITORS;
    uint64_t now = fly_now_ns();
    int came = 0;
    for (int i = visitors->count - 1; i >= 0; i--) {
        uint64_t silent_ns = now - visitors->of[i].came_ns;
        if (ready[i].revents != 0 || silent_ns > (crowded ? YOUNG_NS : SILENT_NS))
            came += let_in(shm, visitors, i, mine);
    }
    return came;
}

static int admit(struct fly_shm_carrier *shm, const struct fly_hello *all,
                 struct visitors *visitors, uint64_t patience_ns) {
    const struct fly_hello *mine = &all[shm->base.rt->rank];
    uint64_t began = fly_now_ns(), looked = began;
    for (int left = shm->count - shm->me - 1; left > 0;) {
        struct pollfd ready[VISITORS + 1];
        int count = visitors->count, code = FLY_OK;
        for (int i = 0; i < count; i++)
            ready[i] = (struct pollfd){.fd = visitors->of[i].socket, .events = POLLIN};
        /* With no room for visitors the listener is not polled (-1), so nobody is accepted. */
        ready[count] = (struct pollfd){.fd = count < VISITORS ? shm->listener : -1,
                                       .events = POLLIN};
        if (poll(ready, (nfds_t)count + 1, PAUSE_MS) < 0) {
            if (errno != EINTR)
                return fly_fail(FLY_ERR_TRANSPORT, "shm: poll: %s", strerror(errno));
            continue;
        }
        left -= look_at(shm, visitors, mine, ready);
        uint64_t now = fly_now_ns();
        if ((ready[count].revents & POLLIN) != 0) code = take_visitor(shm, visitors);
        if (code == FLY_OK && now - looked > PAUSE_MS * UINT64_C(1000000)) {
            code = look_for_dead(shm, all);
            looked = now;
        }
        if (code != FLY_OK) return code;
        if (left > 0 && patience_ns != 0 && now - began > patience_ns)
            return fly_fail(FLY_ERR_TIMEOUT, "shm: a process of the node does not connect");
    }
    return FLY_OK;
}

int fly_shm_admit(struct fly_shm_carrier *shm, const struct fly_hello *all, uint64_t patience_ns) {
    struct visitors visitors = {0};
    int code = admit(shm, all, &visitors, patience_ns);
    while (visitors.count > 0) hang_up(&visitors, 0);
    return code;
}
