/* Carries datagrams by InfiniBand's unreliable datagrams, also over RoCE; the group is rdma_cm's.
 *
 * After "ud:" a place is as for UDP (udp.c); the device is that of the interface, or of the route.
 * The token has 62 random bits, since the datagrams of a group arrive whoever sent them.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "datagram.h"

/* A global routing header (GRH) comes before the received bytes. */
enum { GRH = 40, RECEIVES = 256, SENDS = 64, PATIENCE_MS = 2000 };

struct ud {
    struct fly_datagrams base;
    struct rdma_event_channel *channel;
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_cq *received, *sent;
    struct ibv_mr *mr;
    struct ibv_ah *ah; /* the address handle of the group */
    uint32_t qpn, qkey;
    size_t step; /* distance of buffers; receives, then sends */
    unsigned char *buffers;
    unsigned busy, next; /* send buffers in use; the next one */
    struct sockaddr_in group;
    bool joined;
};

static unsigned char *buffer(const struct ud *ud, size_t number) {
    return ud->buffers + number * ud->step;
}

static bool post(struct ud *ud, size_t number) {
    struct ibv_sge part = {(uintptr_t)buffer(ud, number), (uint32_t)ud->step, ud->mr->lkey};
    struct ibv_recv_wr wanted = {.wr_id = number, .sg_list = &part, .num_sge = 1}, *bad;
    return ibv_post_recv(ud->id->qp, &wanted, &bad) == 0;
}

/* The event that must come next, which the caller acknowledges; NULL: another, or none. */
static struct rdma_cm_event *await(struct ud *ud, enum rdma_cm_event_type wanted) {
    struct pollfd ready = {.fd = ud->channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    errno = ETIMEDOUT;
    if (poll(&ready, 1, PATIENCE_MS) != 1 || rdma_get_cm_event(ud->channel, &event) != 0)
        return NULL;
    if (event->event == wanted && event->status == 0) return event;
    errno = event->status < 0 ? -event->status : ENETUNREACH;
    rdma_ack_cm_event(event);
    return NULL;
}

static bool address_of(const char *interface, struct sockaddr_in *address) {
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all) != 0) return false;
    for (const struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next) {
        if (strcmp(one->ifa_name, interface) != 0 || one->ifa_addr == NULL ||
            one->ifa_addr->sa_family != AF_INET)
            continue;
        memcpy(address, one->ifa_addr, sizeof *address);
        found = true;
    }
    freeifaddrs(all);
    if (!found) errno = ENODEV;
    return found;
}

static const char *find_device(struct ud *ud, const char *interface) {
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr *source = interface[0] != 0 ? (struct sockaddr *)&from : NULL;
    if (source != NULL && !address_of(interface, &from)) return interface;
    ud->channel = rdma_create_event_channel();
    if (ud->channel == NULL) return "rdma_create_event_channel";
    if (rdma_create_id(ud->channel, &ud->id, NULL, RDMA_PS_UDP) != 0) return "rdma_create_id";
    if (rdma_resolve_addr(ud->id, source, (struct sockaddr *)&ud->group, PATIENCE_MS) != 0)
        return "rdma_resolve_addr";
    struct rdma_cm_event *event = await(ud, RDMA_CM_EVENT_ADDR_RESOLVED);
    if (event == NULL || ud->id->verbs == NULL) return "a device for the route";
    rdma_ack_cm_event(event);
    return NULL;
}

static const char *make_queues(struct ud *ud) {
    struct ibv_port_attr port;
    if (ibv_query_port(ud->id->verbs, ud->id->port_num, &port) != 0) return "ibv_query_port";
    ud->base.most_bytes = (size_t)128 << port.active_mtu;
    ud->base.waiting_bytes = RECEIVES * ud->base.most_bytes;
    ud->step = ud->base.most_bytes + GRH;
    ud->pd = ibv_alloc_pd(ud->id->verbs);
    if (ud->pd == NULL) return "ibv_alloc_pd";
    ud->received = ibv_create_cq(ud->id->verbs, RECEIVES, NULL, NULL, 0);
    ud->sent = ibv_create_cq(ud->id->verbs, SENDS, NULL, NULL, 0);
    if (ud->received == NULL || ud->sent == NULL) return "ibv_create_cq";
    ud->buffers = calloc(RECEIVES + SENDS, ud->step);
    if (ud->buffers == NULL) return "memory";
    ud->mr = ibv_reg_mr(ud->pd, ud->buffers, (RECEIVES + SENDS) * ud->step, IBV_ACCESS_LOCAL_WRITE);
    if (ud->mr == NULL) return "ibv_reg_mr";
    struct ibv_qp_init_attr wanted = {.qp_type = IBV_QPT_UD, .send_cq = ud->sent,
                                      .recv_cq = ud->received, .sq_sig_all = 1};
    wanted.cap = (struct ibv_qp_cap){.max_send_wr = SENDS, .max_recv_wr = RECEIVES,
                                     .max_send_sge = 1, .max_recv_sge = 1};
    if (rdma_create_qp(ud->id, ud->pd, &wanted) != 0) return "rdma_create_qp";
    for (size_t i = 0; i < RECEIVES; i++)
        if (!post(ud, i)) return "ibv_post_recv";
    return NULL;
}

static const char *join(struct ud *ud) {
    if (rdma_join_multicast(ud->id, (struct sockaddr *)&ud->group, ud) != 0)
        return "rdma_join_multicast";
    ud->joined = true;
    struct rdma_cm_event *event = await(ud, RDMA_CM_EVENT_MULTICAST_JOIN);
    if (event == NULL) return "joining the group";
    ud->ah = ibv_create_ah(ud->pd, &event->param.ud.ah_attr);
    ud->qpn = event->param.ud.qp_num;
    ud->qkey = event->param.ud.qkey;
    rdma_ack_cm_event(event);
    return ud->ah == NULL ? "ibv_create_ah" : NULL;
}

static void ud_close(struct fly_datagrams *link) {
    struct ud *ud = (struct ud *)link;
    if (ud->ah != NULL) ibv_destroy_ah(ud->ah);
    if (ud->joined) rdma_leave_multicast(ud->id, (struct sockaddr *)&ud->group);
    if (ud->id != NULL && ud->id->qp != NULL) rdma_destroy_qp(ud->id);
    if (ud->mr != NULL) ibv_dereg_mr(ud->mr);
    if (ud->received != NULL) ibv_destroy_cq(ud->received);
    if (ud->sent != NULL) ibv_destroy_cq(ud->sent);
    if (ud->pd != NULL) ibv_dealloc_pd(ud->pd);
    if (ud->id != NULL) rdma_destroy_id(ud->id);
    if (ud->channel != NULL) rdma_destroy_event_channel(ud->channel);
    free(ud->buffers);
    free(ud);
}

static bool ud_valid(const char *where, char *why, size_t room) {
    return fly_udp.valid(where, why, room);
}

static struct fly_datagrams *ud_open(const char *where, uint64_t *token, char *why, size_t room) {
    struct fly_cast_place place;
    struct ud *ud = calloc(1, sizeof *ud);
    char name[INET_ADDRSTRLEN] = "";
    if (ud == NULL || !fly_cast_place_read(where, &place)) {
        snprintf(why, room, "%s", ud == NULL ? "no memory" : "no such place");
        free(ud);
        return NULL;
    }
    uint64_t lot = *token;
    while (lot == 0 && getrandom(&lot, sizeof lot, 0) == (ssize_t)sizeof lot) lot >>= 2;
    ud->base.ops = &fly_ud;
    ud->group = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = place.group};
    fly_cast_place_choose(&ud->group.sin_addr, lot);
    inet_ntop(AF_INET, &ud->group.sin_addr, name, sizeof name);
    errno = 0;
    const char *failed = find_device(ud, place.interface);
    if (failed == NULL) failed = make_queues(ud);
    if (failed == NULL) failed = join(ud);
    if (failed != NULL) {
        snprintf(why, room, "ud %s: %s: %s", name, failed, strerror(errno));
        ud_close(&ud->base);
        return NULL;
    }
    ud->base.source = ud->id->qp->qp_num; /* the adapter puts it into each datagram */
    *token = lot;
    snprintf(ud->base.place, sizeof ud->base.place, "ud %s by %s", name,
             ibv_get_device_name(ud->id->verbs->device));
    return &ud->base;
}

static bool ud_send(struct fly_datagrams *link, const void *head, size_t head_bytes,
                    const void *data, size_t bytes) {
    struct ud *ud = (struct ud *)link;
    struct ibv_wc done[8];
    int count = ibv_poll_cq(ud->sent, 8, done);
    if (count > 0) ud->busy -= (unsigned)count;
    if (ud->busy == SENDS) return false;
    unsigned char *at = buffer(ud, RECEIVES + ud->next);
    memcpy(at, head, head_bytes);
    if (bytes != 0) memcpy(at + head_bytes, data, bytes);
    struct ibv_sge part = {(uintptr_t)at, (uint32_t)(head_bytes + bytes), ud->mr->lkey};
    struct ibv_send_wr what = {.sg_list = &part, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    what.wr.ud.ah = ud->ah;
    what.wr.ud.remote_qpn = ud->qpn;
    what.wr.ud.remote_qkey = ud->qkey;
    int code = ibv_post_send(ud->id->qp, &what, &bad);
    if (code != 0) return code != ENOMEM; /* ENOMEM: the queue is full; else it is lost */
    ud->busy++;
    ud->next = (ud->next + 1) % SENDS;
    return true;
}

static size_t ud_receive(struct fly_datagrams *link, void *into, size_t room, uint64_t *source) {
    struct ud *ud = (struct ud *)link;
    struct ibv_wc one;
    size_t bytes = 0;
    while (bytes == 0 && ibv_poll_cq(ud->received, 1, &one) == 1) {
        if (one.status == IBV_WC_SUCCESS && one.byte_len > GRH && one.byte_len - GRH <= room) {
            bytes = one.byte_len - GRH;
            memcpy(into, buffer(ud, one.wr_id) + GRH, bytes);
            *source = one.src_qp;
        }
        post(ud, one.wr_id);
    }
    return bytes;
}

const struct fly_datagram_ops fly_ud = {
    .valid = ud_valid,
    .open = ud_open,
    .send = ud_send,
    .receive = ud_receive,
    .close = ud_close,
};
