/* The interface between multicast broadcasts and the carriers of their datagrams, a file each.
 *
 * A datagram goes to all who have joined a group. It may be lost, duplicated or late, but it
 * arrives complete. Nothing here knows the runtime: udp.c is UDP, ud.c InfiniBand's unreliable
 * datagrams.
 */
#ifndef FLY_COLL_DATAGRAM_H
#define FLY_COLL_DATAGRAM_H

#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fly_datagrams { /* a joined group; first member of a carrier's own state */
    const struct fly_datagram_ops *ops;
    size_t most_bytes;    /* in one datagram */
    size_t waiting_bytes; /* about how many a receiver can buffer until it polls */
    uint64_t dropped;     /* how many faults.c has dropped on purpose */
    uint64_t source;      /* the source that others see its datagrams come from: not 0; no process
                             without the privilege to forge sources can take it */
    char place[64];       /* the group, for people to read */
};

struct fly_datagram_ops {
    /* Whether `where` can name a place; else `why` says what it must be. */
    bool (*valid)(const char *where, char *why, size_t room);
    /* Joins a group there. *token 0: a new group, whose token, below 2^62, is given to the others.
       NULL: it cannot, for the reason in `why`. */
    struct fly_datagrams *(*open)(const char *where, uint64_t *token, char *why, size_t room);
    /* Sends to all members, perhaps also to this one; false: it cannot now. A datagram that fails
       for another reason is lost. */
    bool (*send)(struct fly_datagrams *link, const void *head, size_t head_bytes, const void *data,
                 size_t bytes);
    /* Takes the next datagram that has come: returns its bytes and source; 0: there is none. */
    size_t (*receive)(struct fly_datagrams *link, void *into, size_t room, uint64_t *source);
    void (*close)(struct fly_datagrams *link);
};

extern const struct fly_datagram_ops fly_udp, fly_ud;

/* carriers.c: `valid` and `open` of the carrier that the place names. */
bool fly_datagrams_valid(const char *where, char *why, size_t room);
struct fly_datagrams *fly_datagrams_open(const char *where, uint64_t *token, char *why,
                                         size_t room);

/* udp.c: a place is "GROUP" or "1", "...%INTERFACE"; where it names no group, `lot` chooses one. */
struct fly_cast_place {
    struct in_addr group; /* 0: udp.c chooses one */
    char interface[IF_NAMESIZE];
};
bool fly_cast_place_read(const char *where, struct fly_cast_place *place);
void fly_cast_place_choose(struct in_addr *group, uint64_t lot);

/* faults.c: a link that loses, duplicates or delays datagrams, each in per cent. */
struct fly_faults {
    uint64_t seed;
    double lost, twice, late;
};
/* Reads SEED[,LOST[,TWICE[,LATE]]]. */
bool fly_faults_read(const char *text, struct fly_faults *faults);
/* Wraps a link with faults, and owns it from then on; NULL: no memory. */
struct fly_datagrams *fly_faults_wrap(struct fly_datagrams *inner, const struct fly_faults *faults,
                                      int rank);

#endif
