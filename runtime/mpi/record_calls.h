/* The calls of each process, as the recorder keeps them for a schedule.
 *
 * A process has a file, FOLDER/run-RANK.calls, of numbers of 64 bits in the order of its bytes:
 * REC_MAGIC, its rank, the number of ranks, then events. An event is a word with its kind (bits 0
 * to 7), the thread (8 to 15), flags (16 to 31) and the number of its own words (32 to 63), then
 * when the call began and ended, in ns of one clock of the process, then its own words:
 *
 * REC_BEGIN, REC_END  MPI_Init is over; MPI_Finalize begins
 * REC_ABORT           the code of MPI_Abort
 * REC_GROUP           number, own size, size of the other group or 0, ranks of both in
 *                     MPI_COMM_WORLD; flags: 1 a window, 2 a runtime of libflyloom
 * REC_SEND, REC_RECV  operation, group, peer in MPI_COMM_WORLD, tag, bytes (of a receive: its
 *                     room); peer and tag may be REC_ANY
 * REC_JOINT           operation, group, what (enum rec_joint), root, sizes; flags: enum rec_sizes
 * REC_EXCHANGE        operation, group, pairs of a peer and bytes that are sent to it
 * REC_TRANSFER        operation, window, target, bytes to it, bytes back; REC_ANY: none
 * REC_AWAIT           three words for each operation that is complete: operation, peer and tag of
 *                     its message where the receive named any; REC_CANCELLED for a peer
 * REC_POLL            a test that found nothing
 * REC_PROBE           group, peer, tag of a message that is there
 * REC_SYNC            window, target or REC_ANY; flags: 1 a fence
 * REC_WAITS           a call that waits for others, of which no more is kept
 * REC_THREAD_ENDS     the thread has ended
 * REC_LIBRARY_DOES    what libflyloom did, as record_hooks.h has it: the group of its runtime,
 *                     kind, peer in MPI_COMM_WORLD or REC_ANY, tag, object, value, answer; flags:
 *                     those there
 *
 * Flag REC_LATER of an operation: the call did not wait for its end. What a file has after its
 * last event is 0. crates/formats/src/trace/recorded reads it.
 */
#ifndef FLYLOOM_RECORD_CALLS_H
#define FLYLOOM_RECORD_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define REC_MAGIC UINT64_C(0x31534c4c41434c46) /* "FLCALLS1" */
#define REC_ANY UINT64_MAX
#define REC_CANCELLED (UINT64_MAX - 1)

enum rec_kind {
    REC_BEGIN = 1, REC_END, REC_ABORT, REC_GROUP, REC_SEND, REC_RECV, REC_JOINT, REC_EXCHANGE,
    REC_TRANSFER, REC_AWAIT, REC_POLL, REC_PROBE, REC_SYNC, REC_WAITS, REC_THREAD_ENDS,
    REC_LIBRARY_DOES
};

enum rec_joint {
    REC_BARRIER, REC_BROADCAST, REC_REDUCE, REC_ALLREDUCE, REC_ALLGATHER, REC_REDUCE_SCATTER,
    REC_ALLTOALL, REC_ALLTOALLV, REC_SCAN, REC_EXSCAN, REC_GATHER, REC_SCATTER
};

/* REC_SAME: one size for all; REC_EACH: one for each rank; REC_OWN: that of the own block. */
enum rec_sizes { REC_SAME, REC_EACH, REC_OWN };

/* Flags of events. */
enum { REC_SIZES = 3, REC_LATER = 4, REC_WINDOW = 1, REC_LIBRARY = 2, REC_FENCE = 1 };

/* An event that begins an operation, to be written at each start of a persistent request. */
struct rec_op {
    enum rec_kind kind; /* 0: none */
    unsigned flags;
    size_t count;
    uint64_t *words;
    const void *any; /* the peers, of a receive from any source or of any tag */
};

static inline uint64_t rec_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct peers;

/* Opens this process's file in a folder, which is made where it is not there. */
void rec_calls_begin(const char *folder, int rank, int size);
void rec_calls_end(void);
/* Appends an event of the call that this thread is in. */
void rec_event(enum rec_kind kind, unsigned flags, size_t count, const uint64_t *words);
/* An operation begins: its words, of which it sets the first. Where the call has a request, the
 * request is known by it; where that is prepared, the operation goes into its plan. Returns it. */
uint64_t rec_begins(enum rec_kind kind, unsigned flags, size_t count, uint64_t *words,
                    const struct peers *any);
/* A persistent request starts. */
void rec_starts(uintptr_t request, const struct rec_op *op);
/* The group of a communicator is described, once; or, by its flag, that of another thing. */
void rec_group(struct peers *of, unsigned flags);
/* A message, as the call has it: `comes` where it is received. Its operation; REC_ANY: none. */
uint64_t rec_message(const struct peers *of, int peer, int tag, uint64_t bytes, int comes,
                     int later);

#endif
