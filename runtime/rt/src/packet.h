/* What travels between ranks, whatever the transport: a head of 56 bytes, followed by data for some
 * kinds.
 */
#ifndef FLY_PACKET_H
#define FLY_PACKET_H

#include <stddef.h>
#include <stdint.h>

enum fly_kind {
    FLY_K_VOID,   /* nothing: its sender only tests whether it can be sent */
    FLY_K_NOTIFY, /* the data is in the window; a small one is in `data` as well */
    FLY_K_PUT,    /* bytes follow; the target copies */
    FLY_K_GET,    /* the target answers with FLY_K_REPLY */
    FLY_K_ATOMIC, /* the target answers with FLY_K_REPLY, too */
    FLY_K_REPLY,  /* answers `token` with `value`, or with bytes that follow */
    FLY_K_ASK,    /* the target answers with FLY_K_ACK */
    FLY_K_ACK,    /* how many of the receiver's packets the sender has executed and taken */
    FLY_K_AGREE,  /* a round of a barrier: agree.c */
    FLY_K_POST,
    FLY_K_COMPLETE,
    FLY_K_COLL, /* a message of a collective: coll/coll.h */
    FLY_K_WRITTEN, /* the bytes of a PUT are in the window already */
    FLY_K_DIED /* the rank `source` of the world has died, as the sender knows */
};

enum { FLY_INLINE = 40, FLY_COLL_INLINE = 32 };
enum { FLY_ATOMIC_ADD, FLY_ATOMIC_SWAP };
/* This value of `flags` means: the word is in the member's entry (struct fly_entry), not in the
   user's memory. */
enum { FLY_F_CONTROL = 1 };
/* A flag of PUT: with it the sender completes the epoch of its start. */
enum { FLY_F_COMPLETE = 4 };
/* A flag of PUT: the packet is one part of a longer put. */
enum { FLY_F_PART = 16 };
/* A flag of REPLY: there are no bytes; `value` is the error. */
enum { FLY_F_REFUSED = 8 };
/* A flag of WRITTEN: its sender knows when the bytes arrived, and needs no answer. */
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
        } coll; /* `flags` says what it is */
    };
};

_Static_assert(sizeof(struct fly_packet) == 56, "a slot of the ring is one cache line");

#endif
