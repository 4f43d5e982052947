/* Transport "ofi": finds out whether a peer lives, for providers that do not report it.
 *
 * Such providers reconnect or resend without end, and a peer that computes is silent as well. So
 * every process listens on a TCP port of its own, accepts no connection, and stops listening when
 * it ends, however it ends: a refused connection means that it has ended. It listens only on the
 * address of its fabric, or only for the ranks of its node, and reads nothing, so that whoever
 * connects cannot affect it.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ofi.h"
#include "progress.h"
#include "remote.h"

/* How long a peer is silent before it is checked, and how long until the next check; the longest
   where nothing is awaited from it but an acknowledgement. */
static const uint64_t LOOK_FIRST_NS = 200000000, LOOK_NEXT_NS = 1000000000,
                      LOOK_MOST_NS = 64000000000;

void ofi_live(struct ofi *ofi, struct fly_hello *mine) {
    struct sockaddr_in name = {.sin_family = AF_INET}, fabric;
    socklen_t length = sizeof name;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memcpy(&fabric, mine->address, sizeof fabric);
    if (ofi->info->addr_format == FI_SOCKADDR_IN && fabric.sin_addr.s_addr != htonl(INADDR_ANY))
        name.sin_addr = fabric.sin_addr;
    ofi->life = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (ofi->life < 0) return;
    if (bind(ofi->life, (struct sockaddr *)&name, sizeof name) == 0 &&
        listen(ofi->life, SOMAXCONN) == 0 && /* a long backlog, since no connection is accepted */
        getsockname(ofi->life, (struct sockaddr *)&name, &length) == 0)
        mine->life_port = name.sin_port;
}

static bool same_node(const struct fly_hello *one, const struct fly_hello *other) {
    return memcmp(one->node, other->node, sizeof one->node) == 0;
}

void ofi_know(struct ofi *ofi, const struct fly_hello *all) {
    const struct fly_hello *mine = &all[ofi->base.rt->rank];
    for (int r = 0; r < ofi->base.rt->size; r++) {
        struct sockaddr_in *life = &ofi->peers[r].life;
        if (ofi->info->addr_format == FI_SOCKADDR_IN) {
            memcpy(life, all[r].address, sizeof *life);
        } else if (same_node(mine, &all[r])) {
            life->sin_family = AF_INET;
            life->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        } else {
            continue;
        }
        life->sin_port = all[r].life_port;
    }
}

static bool nobody_listens(const struct sockaddr_in *at) {
    int end = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (end < 0) return false;
    struct pollfd ready = {.fd = end, .events = POLLOUT};
    int why = 0;
    socklen_t length = sizeof why;
    if (connect(end, (const struct sockaddr *)at, sizeof *at) != 0) why = errno;
    if (why == EINPROGRESS && poll(&ready, 1, 20) == 1)
        getsockopt(end, SOL_SOCKET, SO_ERROR, &why, &length);
    close(end);
    return why == ECONNREFUSED;
}

void ofi_doubt(struct fly_carrier *c, int peer) {
    struct ofi *ofi = (struct ofi *)c;
    const struct sockaddr_in *life = &ofi->peers[peer].life;
    if (life->sin_port == 0 || peer == c->rt->rank || !nobody_listens(life)) return;
    for (int i = 0; i < 64 && ofi_poll(c) > 0; i++) continue; /* what it sent before its end */
    fly_peer_lost(c->rt, peer);
}

void ofi_look(struct ofi *ofi) {
    uint64_t now = fly_now_ns();
    for (int r = 0; r < ofi->base.rt->size; r++) {
        struct ofi_peer *peer = &ofi->peers[r];
        /* An adapter may have accepted everything although the process has ended. */
        bool open = peer->busy != 0 || peer->sent != peer->acked;
        if (!open || ofi_lost(ofi, r)) continue;
        if (peer->silent_ns == 0) {
            peer->silent_ns = now + LOOK_FIRST_NS;
            peer->look_ns = LOOK_NEXT_NS;
        } else if (now >= peer->silent_ns) {
            peer->silent_ns = now + peer->look_ns;
            if (peer->busy == 0 && peer->look_ns < LOOK_MOST_NS) peer->look_ns *= 2;
            ofi_doubt(&ofi->base, r);
        }
    }
}
