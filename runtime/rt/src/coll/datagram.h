/* The seam between multicast broadcasts and what carries their datagrams: one file a carrier.
 *
 * A datagram goes to all who have joined a group. It may be lost, come twice, or come late; it
 * comes whole. Nothing here knows the runtime: UDP is udp.c, InfiniBand's datagrams are ud.c.
 */
#ifndef FLY_COLL_DATAGRAM_H
#define FLY_COLL_DATAGRAM_H

#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fly_datagrams { /* joined to a group; the first member of what a carrier keeps */
    const struct fly_datagram_ops *ops;
    size_t most_bytes;    /* of a datagram */
    size_t waiting_bytes; /* about as many wait at a receiver until it looks */
    uint64_t dropped;     /* on purpose: faults.c */
    uint64_t source;      /* what others see its datagrams come from: not 0, and no process that may
                             not send as it likes can take it */
    char place[64];       /* which group, for people */
};

struct fly_datagram_ops {
    /* Whether `where` can be a place; else what it must be, in `why`. */
    bool (*valid)(const char *where, char *why, size_t room);
    /* Joins a group there. *token 0: a new one; its token, below 2^62, is for the others. NULL: it
       cannot be, for the reason in `why`. */
    struct fly_datagrams *(*open)(const char *where, uint64_t *token, char *why, size_t room);
    /* Sends to all members, perhaps also to this one; false: not now. A datagram that fails in any
       other respect is lost. */
    bool (*send)(struct fly_datagrams *link, const void *head, size_t head_bytes, const void *data,
                 size_t bytes);
    /* Takes the next datagram that has come: its bytes and its source; 0: there is none. */
    size_t (*receive)(struct fly_datagrams *link, void *into, size_t room, uint64_t *source);
    void (*close)(struct fly_datagrams *link);
};

extern const struct fly_datagram_ops fly_udp, fly_ud;

/* carriers.c: as `valid` and `open` of the carrier that the place names. */
bool fly_datagrams_valid(const char *where, char *why, size_t room);
struct fly_datagrams *fly_datagrams_open(const char *where, uint64_t *token, char *why,
                                         size_t room);

/* udp.c: a place, "GROUP" or "1", "...%INTERFACE"; and a group where it names none, by a lot. */
struct fly_cast_place {
    struct in_addr group; /* 0: of its own choice */
    char interface[IF_NAMESIZE];
};
bool fly_cast_place_read(const char *where, struct fly_cast_place *place);
void fly_cast_place_choose(struct in_addr *group, uint64_t lot);

/* faults.c: a link that loses datagrams, doubles them, or holds them back, in per cent. */
struct fly_faults {
    uint64_t seed;
    double lost, twice, late;
};
/* SEED[,LOST[,TWICE[,LATE]]] */
bool fly_faults_read(const char *text, struct fly_faults *faults);
/* Owns the inner link; NULL: no memory. */
struct fly_datagrams *fly_faults_wrap(struct fly_datagrams *inner, const struct fly_faults *faults,
                                      int rank);

#endif
