/* Transport "loop": ranks are threads of one process, under a hostile scheduler.
 *
 * Packets wait in order in a queue for each pair of ranks. A seeded stream decides how many times
 * the receiver must poll before it may see a packet, and in which order each poll serves the
 * senders. So everything happens that the rules allow: delays, reordering between senders, late
 * credits. FLYLOOM_LOOP=SEED[,HOLD] sets the seed and the most polls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "remote.h"
#include "state.h"

struct item {
    struct item *next;
    struct fly_packet packet;
    unsigned hold;
    size_t bytes;
    unsigned char data[];
};

struct queue {
    struct item *first, **last;
};

struct hub {
    pthread_mutex_t lock;
    int size, users;
    uint64_t random;
    unsigned hold_most;
    struct queue *queues; /* index: receiver * size + sender */
};

struct loop {
    struct fly_carrier base;
    struct hub *hub;
    int rank;
};

static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static struct hub *hub_new(int size) {
    struct hub *hub = calloc(1, sizeof *hub);
    if (hub == NULL) return NULL;
    hub->queues = calloc((size_t)size * (size_t)size, sizeof *hub->queues);
    if (hub->queues == NULL) {
        free(hub);
        return NULL;
    }
    for (int i = 0; i < size * size; i++) hub->queues[i].last = &hub->queues[i].first;
    pthread_mutex_init(&hub->lock, NULL);
    hub->size = size;
    hub->users = 1;
    hub->random = 1;
    hub->hold_most = 4;
    const char *text = getenv("FLYLOOM_LOOP");
    if (text != NULL) {
        char *end;
        hub->random = strtoull(text, &end, 10);
        if (*end == ',') hub->hold_most = (unsigned)strtoul(end + 1, NULL, 10);
    }
    return hub;
}

static void hub_leave(struct hub *hub) {
    pthread_mutex_lock(&hub->lock);
    int left = --hub->users;
    pthread_mutex_unlock(&hub->lock);
    if (left != 0) return;
    for (int i = 0; i < hub->size * hub->size; i++) {
        struct item *item = hub->queues[i].first;
        while (item != NULL) {
            struct item *next = item->next;
            free(item);
            item = next;
        }
    }
    pthread_mutex_destroy(&hub->lock);
    free(hub->queues);
    free(hub);
}

static int loop_prepare(struct fly_rt *rt, struct fly_hello *mine, struct fly_carrier **made) {
    struct loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) return fly_fail(FLY_ERR_NOMEM, "loop: no memory");
    loop->base.rt = rt;
    loop->rank = rt->rank;
    if (rt->rank == 0) {
        loop->hub = hub_new(rt->size);
        if (loop->hub == NULL) {
            free(loop);
            return fly_fail(FLY_ERR_NOMEM, "loop: no memory");
        }
        mine->hub = (uint64_t)(uintptr_t)loop->hub;
    }
    extern const struct fly_carrier_ops fly_loop;
    loop->base.ops = &fly_loop;
    *made = &loop->base;
    return FLY_OK;
}

static bool loop_reaches(const struct fly_carrier *c, const struct fly_hello *mine,
                         const struct fly_hello *theirs) {
    (void)c;
    return mine->pid == theirs->pid;
}

static int loop_connect(struct fly_carrier *c, const struct fly_hello *all) {
    struct loop *loop = (struct loop *)c;
    if (loop->rank == 0) return FLY_OK;
    loop->hub = (struct hub *)(uintptr_t)all[0].hub;
    pthread_mutex_lock(&loop->hub->lock);
    loop->hub->users++;
    pthread_mutex_unlock(&loop->hub->lock);
    return FLY_OK;
}

static int loop_send(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                     const void *data, size_t bytes) {
    struct loop *loop = (struct loop *)c;
    struct hub *hub = loop->hub;
    struct item *item = malloc(sizeof *item + bytes);
    if (item == NULL) return fly_fail(FLY_ERR_NOMEM, "loop: no memory for %zu bytes", bytes);
    item->next = NULL;
    item->packet = *packet;
    item->bytes = bytes;
    if (bytes != 0) memcpy(item->data, data, bytes);
    pthread_mutex_lock(&hub->lock);
    item->hold = hub->hold_most == 0 ? 0 : (unsigned)(draw(&hub->random) % (hub->hold_most + 1));
    struct queue *queue = &hub->queues[peer * hub->size + loop->rank];
    *queue->last = item;
    queue->last = &item->next;
    pthread_mutex_unlock(&hub->lock);
    return FLY_OK;
}

/* The first packet from a sender, if it may be seen by now; it stays in the queue. */
static struct item *due(struct loop *loop, int sender) {
    struct hub *hub = loop->hub;
    pthread_mutex_lock(&hub->lock);
    struct item *item = hub->queues[loop->rank * hub->size + sender].first;
    if (item != NULL && item->hold != 0) {
        item->hold--;
        item = NULL;
    }
    pthread_mutex_unlock(&hub->lock);
    return item;
}

static void take(struct loop *loop, int sender) {
    struct hub *hub = loop->hub;
    struct queue *queue = &hub->queues[loop->rank * hub->size + sender];
    pthread_mutex_lock(&hub->lock);
    struct item *item = queue->first;
    queue->first = item->next;
    if (queue->first == NULL) queue->last = &queue->first;
    pthread_mutex_unlock(&hub->lock);
    free(item);
}

static int loop_poll(struct fly_carrier *c) {
    struct loop *loop = (struct loop *)c;
    struct hub *hub = loop->hub;
    int taken = 0;
    pthread_mutex_lock(&hub->lock);
    uint64_t dice = draw(&hub->random);
    pthread_mutex_unlock(&hub->lock);
    int first = (int)(dice % (unsigned)hub->size);
    for (int i = 0; i < hub->size; i++) {
        int sender = (first + i) % hub->size;
        struct item *item = due(loop, sender);
        if (item == NULL) continue;
        if (fly_packet_arrived(c->rt, sender, &item->packet, item->data, item->bytes)) {
            take(loop, sender);
            taken++;
        }
    }
    return taken;
}

static void loop_close(struct fly_carrier *c) {
    struct loop *loop = (struct loop *)c;
    if (loop->hub != NULL) hub_leave(loop->hub);
    free(loop);
}

const struct fly_carrier_ops fly_loop = {
    .name = "loop",
    .code = FLY_TRANSPORT_LOOP,
    .tag_ub = INT32_MAX,
    .prepare = loop_prepare,
    .reaches = loop_reaches,
    .connect = loop_connect,
    .send = loop_send,
    .poll = loop_poll,
    .close = loop_close,
};
