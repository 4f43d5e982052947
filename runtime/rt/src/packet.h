/* What travels between ranks, whatever the transport: a head of 56 bytes, then bytes where it says.
 */
#ifndef FLY_PACKET_H
#define FLY_PACKET_H

#include <stddef.h>
#include <stdint.h>

enum fly_kind {
    FLY_K_VOID,   /* nothing: its sender only tries whether it goes */
    FLY_K_NOTIFY, /* data is in the window; `data` has them too where they fit */
    FLY_K_PUT,    /* bytes follow; the target copies */
    FLY_K_GET,    /* the target answers with FLY_K_REPLY */
    FLY_K_ATOMIC, /* likewise */
    FLY_K_REPLY,  /* to `token`; `value`, or bytes that follow */
    FLY_K_ASK,    /* the target answers with FLY_K_ACK */
    FLY_K_ACK,    /* what the sender has done of the receiver's packets */
    FLY_K_AGREE,  /* a round of a barrier: agree.c */
    FLY_K_POST,
    FLY_K_COMPLETE,
    FLY_K_COLL, /* a message of a collective: coll/coll.h */
    FLY_K_WRITTEN, /* the bytes of a PUT are in the window already */
    FLY_K_DIED /* the rank `source` of the world has died, as the sender knows */
};

enum { FLY_INLINE = 40, FLY_COLL_INLINE = 32 };
enum { FLY_ATOMIC_ADD, FLY_ATOMIC_SWAP };
/* In `flags`: the word is in the member's entry (struct fly_entry), not in the user's memory. */
enum { FLY_F_CONTROL = 1 };
/* Of PUT: its sender has completed the epoch of its start with it. */
enum { FLY_F_COMPLETE = 4 };
/* Of PUT: it is the end of a longer one. */
enum { FLY_F_PART = 16 };
/* Of REPLY: there are no bytes, and the value says why. */
enum { FLY_F_REFUSED = 8 };
/* Of WRITTEN: its sender knows without being told when the bytes were there. */
enum { FLY_F_DELIVERED = 2 };

struct fly_packet {
    uint32_t window; /* number of the window or team */
    int32_t tag;     /* or FLY_NO_TAG */
    int32_t source;  /* rank of the sender in the team */
    uint8_t kind, bytes, flags, unused;
    union {
        unsigned char data[FLY_INLINE];
        struct {
            uint64_t offset, blocks, block_bytes;
            int64_t stride;
            uint64_t token;
        } move; /* PUT, GET */
        struct {
            uint64_t offset, operation, first, second, token;
        } atomic;
        struct {
            uint64_t token, value;
        } reply;
        struct {
            uint64_t done, returned[2];
        } ack;
        struct {
            uint64_t round, value;
        } agree;
        struct {
            uint64_t number;
            union {
                unsigned char data[FLY_COLL_INLINE];
                struct {
                    uint64_t offset, bytes;
                } piece;
            };
        } coll; /* what it is stands in `flags` */
    };
};

_Static_assert(sizeof(struct fly_packet) == 56, "a slot of the ring is one cache line");

#endif
