/* Carries datagrams by UDP multicast (IPv4): "GROUP", or "1" to choose a group, "...%INTERFACE".
 *
 * The token has the port and 46 random bits, by which groups of different programs differ.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "datagram.h"

/* The heads of IP and UDP; with them, and the kernel's own, a datagram just fits into 8 KiB. */
enum { HEADS = 28, DATAGRAM_MOST = 7680, BUFFER_WANTED = 1 << 20 };
/* The kernel counts its own structures against a receiver's buffer, about threefold. */
enum { BUFFER_OF_BYTES = 3 };

struct udp {
    struct fly_datagrams base;
    int in, out;
};

bool fly_cast_place_read(const char *where, struct fly_cast_place *place) {
    char group[INET_ADDRSTRLEN];
    size_t length = strcspn(where, "%");
    memset(place, 0, sizeof *place);
    if (where[length] == '%') {
        if (where[length + 1] == 0 || strlen(where + length + 1) >= sizeof place->interface)
            return false;
        strcpy(place->interface, where + length + 1);
    }
    if (length == 1 && where[0] == '1') return true;
    if (length >= sizeof group) return false;
    memcpy(group, where, length);
    group[length] = 0;
    if (inet_pton(AF_INET, group, &place->group) != 1) return false;
    uint32_t address = ntohl(place->group.s_addr);
    return address > 0xE00000FF && address < 0xF0000000;
}

/* RFC 2365 reserves 239.192.0.0/14 for an organisation's own use. */
void fly_cast_place_choose(struct in_addr *group, uint64_t lot) {
    if (group->s_addr == 0) group->s_addr = htonl(0xEFC00000U | (lot & 0x3FFFF));
}

static bool udp_valid(const char *where, char *why, size_t room) {
    struct fly_cast_place place;
    if (fly_cast_place_read(where, &place)) return true;
    snprintf(why, room, "a multicast address of 224.0.1.0 to 239.255.255.255, or 1 for any, and "
             "perhaps %%INTERFACE");
    return false;
}

static void udp_close(struct fly_datagrams *link) {
    struct udp *udp = (struct udp *)link;
    if (udp->in >= 0) close(udp->in);
    if (udp->out >= 0) close(udp->out);
    free(udp);
}

/* Opens the receiving socket; it is bound to the group, so that nothing else is received. */
static const char *join(struct udp *udp, const struct ip_mreqn *group, struct sockaddr_in *at) {
    int one = 1, zero = 0, wanted = BUFFER_WANTED, got = 0;
    socklen_t length = sizeof *at, got_length = sizeof got;
    udp->in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (udp->in < 0) return "socket";
    setsockopt(udp->in, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(udp->in, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
    setsockopt(udp->in, IPPROTO_IP, IP_MULTICAST_ALL, &zero, sizeof zero);
    if (bind(udp->in, (struct sockaddr *)at, sizeof *at) != 0) return "bind";
    if (getsockname(udp->in, (struct sockaddr *)at, &length) != 0) return "getsockname";
    if (setsockopt(udp->in, IPPROTO_IP, IP_ADD_MEMBERSHIP, group, sizeof *group) != 0)
        return "joining the group";
    if (getsockopt(udp->in, SOL_SOCKET, SO_RCVBUF, &got, &got_length) != 0) return "SO_RCVBUF";
    udp->base.waiting_bytes = (size_t)got / BUFFER_OF_BYTES;
    return NULL;
}

/* Packs an address and a port, which the kernel gives to no other socket while this one has it. */
static uint64_t source_of(const struct sockaddr_in *at) {
    return (uint64_t)ntohl(at->sin_addr.s_addr) << 16 | ntohs(at->sin_port);
}

/* Opens the sending socket. It is connected, so that the kernel knows the longest datagram and its
   source address. */
static const char *aim(struct udp *udp, const struct ip_mreqn *group,
                       const struct sockaddr_in *at) {
    int mtu = 0;
    socklen_t length = sizeof mtu;
    udp->out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (udp->out < 0) return "socket";
    if (setsockopt(udp->out, IPPROTO_IP, IP_MULTICAST_IF, group, sizeof *group) != 0)
        return "the interface";
    if (connect(udp->out, (const struct sockaddr *)at, sizeof *at) != 0) return "the route";
    if (getsockopt(udp->out, IPPROTO_IP, IP_MTU, &mtu, &length) != 0) return "IP_MTU";
    struct sockaddr_in own;
    length = sizeof own;
    if (getsockname(udp->out, (struct sockaddr *)&own, &length) != 0) return "getsockname";
    udp->base.source = source_of(&own);
    size_t most = mtu > 2 * HEADS ? (size_t)mtu - HEADS : HEADS;
    udp->base.most_bytes = most < DATAGRAM_MOST ? most : DATAGRAM_MOST;
    return NULL;
}

static struct fly_datagrams *udp_open(const char *where, uint64_t *token, char *why, size_t room) {
    struct fly_cast_place place;
    struct udp *udp = calloc(1, sizeof *udp);
    uint64_t lot = *token >> 16;
    char name[INET_ADDRSTRLEN] = "";
    if (udp == NULL || !fly_cast_place_read(where, &place)) {
        snprintf(why, room, "%s", udp == NULL ? "no memory" : "no such place");
        free(udp);
        return NULL;
    }
    udp->base.ops = &fly_udp;
    udp->in = udp->out = -1;
    while (lot == 0 && getrandom(&lot, sizeof lot, 0) == (ssize_t)sizeof lot) lot >>= 18;
    fly_cast_place_choose(&place.group, lot);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = place.group};
    at.sin_port = htons((uint16_t)*token);
    struct ip_mreqn group = {.imr_multiaddr = place.group};
    const char *failed = NULL;
    errno = 0;
    if (place.interface[0] != 0) {
        group.imr_ifindex = (int)if_nametoindex(place.interface);
        if (group.imr_ifindex == 0) failed = place.interface;
    }
    if (failed == NULL) failed = join(udp, &group, &at);
    if (failed == NULL) failed = aim(udp, &group, &at);
    inet_ntop(AF_INET, &place.group, name, sizeof name);
    if (failed != NULL) {
        snprintf(why, room, "udp %s: %s: %s", name, failed, strerror(errno));
        udp_close(&udp->base);
        return NULL;
    }
    *token = lot << 16 | ntohs(at.sin_port);
    snprintf(udp->base.place, sizeof udp->base.place, "udp %s:%u", name, ntohs(at.sin_port));
    return &udp->base;
}

static bool udp_send(struct fly_datagrams *link, const void *head, size_t head_bytes,
                     const void *data, size_t bytes) {
    struct udp *udp = (struct udp *)link;
    struct iovec parts[] = {{(void *)(uintptr_t)head, head_bytes},
                            {(void *)(uintptr_t)data, bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return sendmsg(udp->out, &message, MSG_NOSIGNAL) >= 0 ||
           (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static size_t udp_receive(struct fly_datagrams *link, void *into, size_t room, uint64_t *source) {
    struct sockaddr_in from = {0};
    socklen_t length = sizeof from;
    ssize_t got = recvfrom(((struct udp *)link)->in, into, room, 0, (struct sockaddr *)&from,
                           &length);
    *source = source_of(&from);
    return got > 0 ? (size_t)got : 0;
}

const struct fly_datagram_ops fly_udp = {
    .valid = udp_valid,
    .open = udp_open,
    .send = udp_send,
    .receive = udp_receive,
    .close = udp_close,
};
