/* Datagrams with faults, for tests: a seeded stream decides which are lost, doubled or delayed. */
#include <stdlib.h>
#include <string.h>

#include "datagram.h"

/* A delayed datagram comes at most LATE_MOST receives later. */
enum { LATE_MOST = 8 };

struct faulty {
    struct fly_datagrams base;
    struct fly_datagrams *inner;
    struct fly_faults faults;
    uint64_t random;
    unsigned char *held;
    size_t held_bytes; /* 0: none is held back */
    uint64_t held_source;
    unsigned wait;
};

bool fly_faults_read(const char *text, struct fly_faults *faults) {
    double *shares[] = {&faults->lost, &faults->twice, &faults->late};
    char *end;
    *faults = (struct fly_faults){0};
    if (*text < '0' || *text > '9') return false;
    faults->seed = strtoull(text, &end, 10);
    for (int i = 0; i < 3 && *end == ','; i++) {
        text = end + 1;
        *shares[i] = strtod(text, &end);
        if (*text < '0' || *text > '9' || !(*shares[i] <= 100)) return false;
    }
    return *end == 0;
}

static bool happens(struct faulty *faulty, double percent) {
    uint64_t z = faulty->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53 * 100 < percent;
}

static bool faulty_send(struct fly_datagrams *link, const void *head, size_t head_bytes,
                        const void *data, size_t bytes) {
    struct faulty *faulty = (struct faulty *)link;
    return faulty->inner->ops->send(faulty->inner, head, head_bytes, data, bytes);
}

static void hold(struct faulty *faulty, const void *from, size_t bytes, uint64_t source,
                 unsigned wait) {
    memcpy(faulty->held, from, bytes);
    faulty->held_source = source;
    faulty->held_bytes = bytes;
    faulty->wait = wait;
}

static size_t faulty_receive(struct fly_datagrams *link, void *into, size_t room,
                             uint64_t *source) {
    struct faulty *faulty = (struct faulty *)link;
    for (;;) {
        size_t bytes = faulty->held_bytes;
        if (bytes != 0 && faulty->wait-- == 0) {
            memcpy(into, faulty->held, bytes);
            faulty->held_bytes = 0;
            *source = faulty->held_source;
            return bytes;
        }
        bytes = faulty->inner->ops->receive(faulty->inner, into, room, source);
        if (bytes == 0) return 0;
        if (happens(faulty, faulty->faults.lost)) {
            faulty->base.dropped++;
            continue;
        }
        if (faulty->held_bytes == 0 && happens(faulty, faulty->faults.twice)) {
            hold(faulty, into, bytes, *source, (unsigned)bytes % LATE_MOST);
        } else if (faulty->held_bytes == 0 && happens(faulty, faulty->faults.late)) {
            hold(faulty, into, bytes, *source,
                 1 + (unsigned)(faulty->random >> 40) % LATE_MOST);
            continue;
        }
        return bytes;
    }
}

static void faulty_close(struct fly_datagrams *link) {
    struct faulty *faulty = (struct faulty *)link;
    faulty->inner->ops->close(faulty->inner);
    free(faulty->held);
    free(faulty);
}

static const struct fly_datagram_ops OPS = {
    .send = faulty_send,
    .receive = faulty_receive,
    .close = faulty_close,
};

struct fly_datagrams *fly_faults_wrap(struct fly_datagrams *inner, const struct fly_faults *faults,
                                      int rank) {
    struct faulty *faulty = calloc(1, sizeof *faulty);
    unsigned char *held = malloc(inner->most_bytes);
    if (faulty == NULL || held == NULL) {
        free(faulty);
        free(held);
        return NULL;
    }
    faulty->base = *inner;
    faulty->base.ops = &OPS;
    faulty->inner = inner;
    faulty->faults = *faults;
    faulty->held = held;
    faulty->random = faults->seed * 1000003 + (uint64_t)rank;
    return &faulty->base;
}
