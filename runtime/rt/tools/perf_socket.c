/* The reference between nodes: 8 bytes over a separate TCP connection, written by hand. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perf.h"

enum { ADDRESSES_MOST = 16, ACCEPT_S = 10, CONNECT_S = 2 };

/* Where rank 0 listens; rank 1 sends `token` there, to prove that it is rank 1. */
struct greeting {
    uint64_t token;
    struct sockaddr_in addresses[ADDRESSES_MOST];
    int count;
    int open; /* whether the other end is connected */
};

static int end = -1;
static unsigned char buffer[1 << 22];

static void socket_send(struct perf *p, uint64_t n, size_t bytes) {
    (void)p;
    (void)n;
    for (size_t sent = 0; sent < bytes;) {
        ssize_t now = send(end, buffer + sent, bytes - sent, MSG_NOSIGNAL);
        if (now < 0 && errno != EINTR && errno != EAGAIN) exit(3);
        if (now > 0) sent += (size_t)now;
    }
}

static void socket_wait(struct perf *p, uint64_t n, size_t bytes) {
    unsigned turns = 0;
    (void)p;
    (void)n;
    for (size_t got = 0; got < bytes;) {
        ssize_t now = recv(end, buffer + got, bytes - got, MSG_DONTWAIT);
        if (now == 0 || (now < 0 && errno != EINTR && errno != EAGAIN)) exit(3);
        if (now > 0) got += (size_t)now;
        if (now < 0 && ++turns > 1000) sched_yield();
    }
}

static const struct perf_method SOCKETS = {"raw sockets", socket_send, socket_wait, 0, 0};

/* Lists addresses that other nodes reach first: 127.0.0.1 is another process there. */
static void own_addresses(struct greeting *mine, in_port_t port) {
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) return;
    for (int own = 0; own < 2; own++)
        for (struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET) continue;
            if (((one->ifa_flags & IFF_LOOPBACK) != 0) != own) continue;
            if (mine->count == ADDRESSES_MOST || (one->ifa_flags & IFF_UP) == 0) continue;
            struct sockaddr_in *to = &mine->addresses[mine->count++];
            memcpy(to, one->ifa_addr, sizeof *to);
            to->sin_port = port;
        }
    freeifaddrs(all);
}

static int listen_there(struct greeting *mine) {
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof any;
    int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (door < 0) return -1;
    if (bind(door, (struct sockaddr *)&any, sizeof any) == 0 && listen(door, 4) == 0 &&
        getsockname(door, (struct sockaddr *)&any, &length) == 0)
        own_addresses(mine, any.sin_port);
    mine->token = (uint64_t)perf_now_ns() ^ (uint64_t)getpid() << 40;
    return door;
}

/* Receives a whole token in time; else closes the connection. */
static bool receive_token(int one, uint64_t *token) {
    struct timeval limit = {CONNECT_S, 0};
    setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (recv(one, token, sizeof *token, MSG_WAITALL) == sizeof *token) return true;
    close(one);
    return false;
}

/* Accepts rank 1. It keeps the library in progress, since the other may still be in a fence. */
static int accept_one(struct perf *p, int door, uint64_t token) {
    double began = perf_now_ns();
    while (perf_now_ns() - began < 1e9 * ACCEPT_S) {
        uint64_t got;
        int one = accept4(door, NULL, NULL, SOCK_CLOEXEC);
        CHECKED(fly_progress(p->rt));
        if (one < 0 || !receive_token(one, &got)) continue;
        if (got == token && send(one, &got, sizeof got, MSG_NOSIGNAL) == sizeof got) return one;
        close(one);
    }
    return -1;
}

static int connect_to(const struct sockaddr_in *there, uint64_t token) {
    int one = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), why = 0;
    struct pollfd ready = {.fd = one, .events = POLLOUT};
    socklen_t length = sizeof why;
    uint64_t got = 0;
    if (one < 0) return -1;
    if (connect(one, (const struct sockaddr *)there, sizeof *there) != 0) why = errno;
    if (why == EINPROGRESS && poll(&ready, 1, CONNECT_S * 1000) == 1)
        getsockopt(one, SOL_SOCKET, SO_ERROR, &why, &length);
    fcntl(one, F_SETFL, 0);
    if (why != 0 || send(one, &token, sizeof token, MSG_NOSIGNAL) != sizeof token) {
        close(one);
        return -1;
    }
    if (!receive_token(one, &got)) return -1;
    if (got == token) return one;
    close(one);
    return -1;
}

const struct perf_method *perf_sockets(struct perf *p) {
    struct greeting mine = {0}, *theirs;
    fly_win *win;
    void *base;
    int door = -1, at_once = 1;
    CHECKED(fly_win_allocate(fly_world(p->rt), sizeof mine, 1, 0, &base, &win));
    theirs = base;
    if (p->rank == 0) {
        door = listen_there(&mine);
        CHECKED(fly_put(win, &mine, sizeof mine, 1, 0));
    }
    CHECKED(fly_fence(win));
    if (p->rank == 0)
        end = accept_one(p, door, mine.token);
    else
        for (int i = 0; i < theirs->count && end < 0; i++)
            end = connect_to(&theirs->addresses[i], theirs->token);
    if (door >= 0) close(door);
    mine.open = end >= 0;
    CHECKED(fly_put(win, &mine.open, sizeof mine.open, 1 - p->rank,
                    offsetof(struct greeting, open)));
    CHECKED(fly_fence(win));
    bool both = mine.open && theirs->open;
    CHECKED(fly_win_free(&win));
    if (both && setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once) != 0) exit(3);
    return both ? &SOCKETS : NULL;
}
