/* Transport "shm": what its files share. shm.c moves packets, shm_link.c connects processes,
   shm_door.c lets only ranks in. */
#ifndef FLY_SHM_H
#define FLY_SHM_H

#include <sys/socket.h>

#include "outlet.h"
#include "state.h"

/* The start of a rank's segment; a cache line for each word that others write. */
struct fly_front {
    uint32_t asleep, line0[15];
    /* users: ranks of this process that use this mapping; died: as fly_dead_word. */
    uint32_t left, users, died, line1[13];
};

struct fly_segment {
    struct fly_memory memory;
    struct fly_front *front;
    fly_word *returned; /* by local rank and class: written by the rank that took */
    int world, socket; /* rank; -1 for one's own */
    int pid;
    struct fly_memory copies; /* shm_copies.c: places for bytes to it, and from it */
    void *out;
    const void *in;
    bool same_process; /* same process, or own: the mapping is shared, with a count of users */
};

/* A message over a socket, with up to two files. */
struct fly_note_sent {
    uint32_t id, whole;
    uint64_t address, mapped; /* the address and size of the sender's memory */
    uint64_t table, table_mapped;
    int32_t rank, pieces; /* bit 0: memory, bit 1: table, in this order */
};

struct fly_stashed {
    struct fly_stashed *next;
    int local;
    struct fly_note_sent note;
    int files[2];
};

struct fly_shm_carrier {
    struct fly_carrier base;
    struct fly_segment *segments; /* by local rank */
    int count, me;
    int *local; /* by rank of the world: the local rank, or -1 */
    struct fly_outlet *from; /* by local rank; rt->from points to the next one to look at */
    int listener, epoll;
    bool expedited;
    unsigned char token[16];
    struct fly_stashed *stash;
};

/* shm_link.c */
int fly_shm_listen(struct fly_shm_carrier *shm);
int fly_shm_connect(struct fly_shm_carrier *shm, const struct fly_hello *all);
int fly_shm_tell(struct fly_shm_carrier *shm, int local, const struct fly_note_sent *note,
                 const int files[2]);
/* Waits for the message with the number from a local rank. */
int fly_shm_hear(struct fly_shm_carrier *shm, int local, uint32_t id, struct fly_note_sent *note,
                 int files[2]);
int fly_shm_file(size_t bytes, struct fly_memory *memory);
/* Refuses a file that is shorter, or may become so; and fewer bytes than there must be at least. */
int fly_shm_map(int file, size_t bytes, size_t least, void **base);

/* shm_door.c: whose process is at the other end of a connection, and whether of this one's user;
   the first words of a rank to another; the sockets of all higher ranks, once they have called. */
bool fly_shm_same_user(int socket, struct ucred *who);
bool fly_shm_knock(int socket, int rank, const struct fly_hello *at);
/* 0, and who knocks; else -1, and errno says why not. */
int fly_shm_knocked(int socket, const struct fly_hello *mine, int flags, int *rank);
int fly_shm_admit(struct fly_shm_carrier *shm, const struct fly_hello *all, uint64_t patience_ns);

/* shm_copies.c: processes that may reach into each other's memory are let, others get memory
   between them, so that packets may have bytes behind them, for windows of the program's memory.
   Each calls it for each such window. */
enum { FLY_SHM_MOST = 16384 };
void fly_shm_permit(struct fly_shm_carrier *shm);
int fly_shm_copies(struct fly_shm_carrier *shm, struct fly_win *win, bool whole);
/* Bytes of the packet in the ring's next slot. */
void fly_shm_bring(const struct fly_segment *to, const struct fly_ring *ring, const void *data,
                   size_t bytes);
const void *fly_shm_brought(const struct fly_segment *from, const struct fly_ring *ring,
                            size_t *bytes);

/* shm_window.c */
int fly_shm_expose(struct fly_carrier *c, struct fly_win *win, bool whole);
void fly_shm_hide(struct fly_carrier *c, struct fly_win *win);
int fly_shm_reach_in(struct fly_carrier *c, int peer, void *here, uint64_t there, size_t bytes,
                     bool write);

#endif
