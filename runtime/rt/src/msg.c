/* Transport "msg": packets as messages of the host, such as an MPI; a fallback that reaches all.
 *
 * Each packet is one message, with its bytes behind it, which the target copies. It costs what the
 * host's send and receive cost. Sends stay in a list until the host has done them.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "progress.h"
#include "remote.h"
#include "state.h"

enum { TURN_MOST = 16, MESSAGE_MOST = 1 << 30 };
_Static_assert(MESSAGE_MOST + sizeof(struct fly_packet) <= INT_MAX, "an MPI counts in int");

struct sent {
    struct sent *next;
    int peer;
    void *handle;
    struct fly_packet packet;
    unsigned char data[];
};

struct msg {
    struct fly_carrier base;
    const fly_msg_ops *host;
    void *ctx;
    struct sent *first, **last;
    unsigned char *room; /* receive buffer for one message: packet, then bytes */
    size_t room_bytes, stuck_bytes;
    int stuck_peer; /* a peer whose message waits for memory; -1: none */
};

static int msg_prepare(struct fly_rt *rt, struct fly_hello *mine, struct fly_carrier **made) {
    extern const struct fly_carrier_ops fly_msg;
    (void)mine;
    if (rt->boot.msg == NULL)
        return fly_fail(FLY_ERR_TRANSPORT, "msg: the bootstrap brings no messages");
    struct msg *msg = calloc(1, sizeof *msg);
    if (msg == NULL) return fly_fail(FLY_ERR_NOMEM, "msg: no memory");
    msg->base = (struct fly_carrier){&fly_msg, rt};
    msg->host = rt->boot.msg;
    msg->ctx = rt->boot.ctx;
    msg->last = &msg->first;
    msg->stuck_peer = -1;
    *made = &msg->base;
    return FLY_OK;
}

static bool msg_reaches(const struct fly_carrier *c, const struct fly_hello *mine,
                        const struct fly_hello *theirs) {
    (void)c;
    (void)mine;
    (void)theirs;
    return true;
}

static int msg_connect(struct fly_carrier *c, const struct fly_hello *all) {
    (void)c;
    (void)all;
    return FLY_OK;
}

/* Frees sends that the host has completed, from the oldest on. */
static bool sweep(struct msg *msg) {
    while (msg->first != NULL) {
        int done = 0;
        struct sent *sent = msg->first;
        if (msg->host->test(msg->ctx, &sent->handle, &done) != 0) return false;
        if (!done) return true;
        msg->first = sent->next;
        if (msg->first == NULL) msg->last = &msg->first;
        free(sent);
    }
    return true;
}

static int msg_send(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                    const void *data, size_t bytes) {
    struct msg *msg = (struct msg *)c;
    struct sent *sent = malloc(sizeof *sent + bytes);
    if (sent == NULL) return fly_fail(FLY_ERR_NOMEM, "msg: no memory for %zu bytes", bytes);
    sent->next = NULL;
    sent->peer = peer;
    sent->packet = *packet;
    if (bytes != 0) memcpy(sent->data, data, bytes);
    if (msg->host->isend(msg->ctx, peer, &sent->packet, sizeof sent->packet + bytes,
                         &sent->handle) != 0) {
        free(sent);
        return fly_fail(FLY_ERR_TRANSPORT, "msg: the host could not send to rank %d", peer);
    }
    *msg->last = sent;
    msg->last = &sent->next;
    return FLY_OK;
}

static uint64_t msg_unsent(const struct fly_carrier *c, int peer) {
    uint64_t count = 0;
    for (const struct sent *one = ((const struct msg *)c)->first; one != NULL; one = one->next)
        count += one->peer == peer;
    return count;
}

static bool room_for(struct msg *msg, size_t bytes) {
    if (bytes <= msg->room_bytes) return true;
    unsigned char *room = realloc(msg->room, bytes);
    if (room == NULL) return false;
    msg->room = room;
    msg->room_bytes = bytes;
    return true;
}

static bool hand_over(struct msg *msg, int peer, size_t bytes) {
    struct fly_packet packet;
    memcpy(&packet, msg->room, sizeof packet);
    bool taken = fly_packet_arrived(msg->base.rt, peer, &packet, msg->room + sizeof packet,
                                    bytes - sizeof packet);
    msg->stuck_peer = taken ? -1 : peer;
    msg->stuck_bytes = bytes;
    return taken;
}

static int msg_poll(struct fly_carrier *c) {
    struct msg *msg = (struct msg *)c;
    int taken = 0;
    sweep(msg);
    if (msg->stuck_peer >= 0 && !hand_over(msg, msg->stuck_peer, msg->stuck_bytes)) return 0;
    while (taken < TURN_MOST) {
        int peer = -1;
        size_t bytes = 0;
        void *message;
        if (msg->host->probe(msg->ctx, &peer, &bytes, &message) != 0 || peer < 0) break;
        /* A probed message must be received, so nothing can be done without memory: try again. */
        while (!room_for(msg, bytes)) continue;
        if (msg->host->receive(msg->ctx, &message, msg->room, bytes) != 0) break;
        if (bytes >= sizeof(struct fly_packet) && !hand_over(msg, peer, bytes)) break;
        taken++;
    }
    return taken;
}

static void msg_close(struct fly_carrier *c) {
    struct msg *msg = (struct msg *)c;
    uint64_t began = fly_now_ns();
    /* The host may need a while to send the rest; what the peers no longer receive is dropped. */
    while (msg->first != NULL && sweep(msg) && fly_now_ns() - began < 2000000000) continue;
    if (msg->first == NULL) free(msg->room);
    free(msg);
}

const struct fly_carrier_ops fly_msg = {
    .name = "msg",
    .code = FLY_TRANSPORT_MSG,
    .tag_ub = INT32_MAX,
    .most = MESSAGE_MOST,
    .prepare = msg_prepare,
    .reaches = msg_reaches,
    .connect = msg_connect,
    .send = msg_send,
    .unsent = msg_unsent,
    .poll = msg_poll,
    .close = msg_close,
};
