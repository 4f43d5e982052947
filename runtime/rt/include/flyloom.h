/* flyloom.h: notified access and one-sided synchronisation between the processes of a program.
 *
 * Every function returns FLY_OK or an error of the list below, never prints and never ends the
 * process; on an error outputs are NULL or unchanged, and fly_last_error says what was wrong.
 * Ranks, tags, ranges and states are checked; pointers only for NULL, and only where the comment
 * says so. Costs are those of the calling process; P is the size of the team.
 */
#ifndef FLYLOOM_H
#define FLYLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FLY_API __attribute__((visibility("default")))
#else
#define FLY_API
#endif

/* Version of this interface: programs built for one run with every library of the same number. */
#define FLY_ABI 1

typedef struct fly_rt fly_rt;     /* the runtime; several in one process are allowed */
typedef struct fly_team fly_team; /* ordered processes 0..P-1, its ranks */
typedef struct fly_win fly_win;   /* memory exposed by each member, and a notification queue each */
typedef struct fly_req fly_req;   /* notification (persistent) or operation */

#define FLY_ANY_SOURCE (-1)
#define FLY_ANY_TAG (-1)
#define FLY_PROC_NULL (-2) /* a target to which nothing happens: FLY_OK */
#define FLY_NO_TAG (-3)    /* if a tag is optional: no notification */
#define FLY_ALL (-4)       /* flush: every target */

/* Errors. */
enum {
    FLY_OK,
    FLY_ERR_ARG,        /* a parameter that nothing else names */
    FLY_ERR_RANK,       /* no such rank in the team */
    FLY_ERR_TAG,        /* tag below 0 or above FLY_Q_TAG_UB */
    FLY_ERR_RANGE,      /* not inside the target's memory */
    FLY_ERR_STATE,      /* not now: see the call */
    FLY_ERR_NOMEM,      /* memory, file descriptors or mappings are used up */
    FLY_ERR_TIMEOUT,    /* timeout_ms went by; nothing was done, trying again is legal; fly_init's
                           is FLYLOOM_START_TIMEOUT_MS */
    FLY_ERR_PEER,       /* a process that takes part has died */
    FLY_ERR_TRANSPORT,  /* a transport does not work, or none reaches a peer */
    FLY_ERR_UNSUPPORTED /* this transport or build cannot do it */
};
enum { FLY_SERIALIZED, FLY_MULTIPLE };
enum { FLY_PROGRESS_CALLS, FLY_PROGRESS_THREAD };
enum { FLY_SHARED, FLY_EXCLUSIVE };
enum { FLY_UNORDERED = 1 }; /* flag of a window: notifications of one origin need no order */
/* The facts that fly_win_query returns. */
enum {
    FLY_Q_TAG_UB,     /* largest tag, the same at all ranks */
    FLY_Q_ONESIDED,   /* 1: data lands and locks work while `rank` is outside the library */
    FLY_Q_CREDITS,    /* notifications that may be in flight to `rank` */
    FLY_Q_UNEXPECTED, /* notifications here that no request has taken, now */
    FLY_Q_INLINE,     /* bytes that travel inside a notification to `rank` */
    FLY_Q_TRANSPORT   /* how `rank` is reached: one of FLY_TRANSPORT_... */
};
enum { FLY_TRANSPORT_LOOP = 1, FLY_TRANSPORT_SHM, FLY_TRANSPORT_OFI, FLY_TRANSPORT_MSG };

/* What a request found. `source` and `tag` are those of the last notification taken. */
typedef struct {
    int source, tag, error;
    uint64_t count;
} fly_status;

/* The host's two-sided messages, for the transport "msg": in order between two ranks, and matched
   to nothing else of the program. Each function returns 0, or another number when it failed. */
typedef struct fly_msg_ops {
    /* Starts to send `bytes` at `data` to `peer`; data stays as it is until test says done. */
    int (*isend)(void *ctx, int peer, const void *data, size_t bytes, void **handle);
    /* Whether a send is done; *done 1 ends the handle. */
    int (*test)(void *ctx, void **handle, int *done);
    /* Looks for a message: *peer its sender and *bytes its size, or *peer -1. */
    int (*probe)(void *ctx, int *peer, size_t *bytes, void **message);
    /* Takes the message that probe found into `data`; blocks at most until its bytes are here. */
    int (*receive)(void *ctx, void **message, void *data, size_t bytes);
} fly_msg_ops;

/* All that is asked of the host: MPI, PMIx, a launcher's files. `ctx` lives until fly_finalize. */
typedef struct {
    int rank, size;
    void *ctx;
    int (*allgather)(void *ctx, const void *mine, void *all, size_t bytes); /* blocking; 0 = done */
    const fly_msg_ops *msg;                                                /* NULL = none */
} fly_boot;

/* Zero is the default; each is also FLYLOOM_<NAME> in the environment, which wins. */
typedef struct {
    const char *transports; /* "shm,ofi,msg": the first that reaches the peer; also "loop" */
    const char *provider;   /* libfabric's provider, for "ofi"; NULL = chosen */
    int threads, progress;  /* FLY_SERIALIZED or FLY_MULTIPLE; FLY_PROGRESS_CALLS or _THREAD */
    uint32_t credits;       /* notifications in flight for each origin and target: 64 */
    uint32_t timeout_ms;    /* how long an operation waits for a credit; 0 = without a limit */
    uint64_t unexpected_max; /* unmatched notifications a window before credits stop: 2^20 */
} fly_config;

/* Blocks of equal size at equal distances; the total is blocks * block_bytes. */
typedef struct {
    size_t blocks, block_bytes;
    ptrdiff_t stride_bytes;
} fly_shape;

/* Starts the runtime: collective over the processes of `boot`; fails on all or on none. `boot`
   NULL: FLYLOOM_RANK, FLYLOOM_SIZE and FLYLOOM_BOOT (a folder that all of them see) say who takes
   part. `config` NULL: all defaults. Errors: ARG (a value of boot, config or the environment; the
   text says what is valid), TRANSPORT (no transport reaches a peer), PEER, TIMEOUT (others did not
   come in FLYLOOM_START_TIMEOUT_MS, a minute unless it is set), NOMEM. Cost: O(P). */
FLY_API int fly_init(const fly_boot *boot, const fly_config *config, fly_rt **rt);

/* Ends the runtime and sets *rt to NULL. Collective over all processes. Where FLYLOOM_RECORD names
   a file, what they did is written to it (ARG, NOMEM: it could not be; everything is freed).
   Errors: STATE, with no effect, while a window or team is alive here or elsewhere; PEER where a
   process has died, with everything freed here all the same. Cost: O(log P) messages. */
FLY_API int fly_finalize(fly_rt **rt);

/* The team of all processes, in the order of the bootstrap; lives as long as rt. Cost: O(1). */
FLY_API fly_team *fly_world(fly_rt *rt);

/* Makes a team. Collective over its members only: `members` says who one is among them, and
   gathers over them.
   Errors: ARG (a bootstrap that is not one, or whose members are not those of rt), PEER. Cost:
   O(size of the team). */
FLY_API int fly_team_create(fly_rt *rt, const fly_boot *members, fly_team **team);

/* Ends a team and sets *team to NULL. Collective over its members.
   Errors: STATE while it has a window, or for fly_world; PEER, with the team freed. */
FLY_API int fly_team_free(fly_team **team);

/* Gives the rank of this process in a team, and how many members it has; each may be NULL.
   Errors: ARG (team is NULL). Cost: O(1). */
FLY_API int fly_team_self(fly_team *team, int *rank, int *size);

/* One turn of everything that is in flight; never blocks. It is the cheapest call that makes
   progress. Errors: TRANSPORT. */
FLY_API int fly_progress(fly_rt *rt);

/* The name and meaning of an error; never NULL. Cost: O(1). */
FLY_API const char *fly_strerror(int error);

/* The last error of the calling thread: call, parameter, value, and what is valid; "" if none.
   Valid until the thread's next error. rt may be NULL, as after a fly_init that failed. */
FLY_API const char *fly_last_error(fly_rt *rt);

/* Makes `text`, of at most 511 bytes, the calling thread's last error, and returns `error`: for
   libraries built upon this one, so that all errors are reported alike. `text` NULL: none.
   Cost: O(length). */
FLY_API int fly_error_set(int error, const char *text);

/* Bootstrap by files: `folder` is seen by all processes and used by one program at a time; *boot
   is to be ended by fly_boot_files_free, after fly_finalize. fly_init with boot NULL does both.
   Errors: ARG (folder, rank, size), NOMEM. */
FLY_API int fly_boot_files(const char *folder, int rank, int size, fly_boot *boot);

/* Ends a bootstrap by files, and removes what this process left in the folder. */
FLY_API void fly_boot_files_free(fly_boot *boot);

/* Makes a window of new memory, which is zero. Collective over the team.
   `bytes` may differ by rank and be 0; `unit` > 0: bytes of one displacement at this rank; `flags`
   the same everywhere: 0 or FLY_UNORDERED. *base is the memory here, NULL for 0 bytes.
   Errors, on all or none: ARG, NOMEM, PEER. Cost: O(P). */
FLY_API int fly_win_allocate(fly_team *team, size_t bytes, size_t unit, unsigned flags, void **base,
                             fly_win **win);

/* Makes a window of memory that is there and stays until fly_win_free. As fly_win_allocate. */
FLY_API int fly_win_create(fly_team *team, void *base, size_t bytes, size_t unit, unsigned flags,
                           fly_win **win);

/* Completes everything, drops unmatched notifications, ends the window, sets *win to NULL.
   Collective. Its requests become inactive and can only be freed.
   Errors: STATE, with no effect anywhere, where a request is active or an epoch open at some rank;
   PEER, with everything freed here. Cost: O(log P) messages. */
FLY_API int fly_win_free(fly_win **win);

/* The memory of `rank` for loads and stores of this process, or *base NULL where it is out of
   reach; *bytes is its size in both cases. Errors: RANK. Cost: O(1). */
FLY_API int fly_win_shared(fly_win *win, int rank, void **base, size_t *bytes);

/* Gives a fact of the window (FLY_Q_...), at or towards `rank`. Errors: ARG, RANK. Cost: O(1). */
FLY_API int fly_win_query(fly_win *win, int what, int rank, int64_t *value);

/* Describes in words how puts of this process reach the memory of `rank`, and what its transport
   was found not to do: for people, not for programs. At most `room` bytes with the 0 at the end;
   cut where that is too few. Errors: ARG, RANK. Cost: O(1). */
FLY_API int fly_win_path(fly_win *win, int rank, char *text, size_t room);

/* Writes `bytes` at `src` to the target's memory at `disp` times the target's unit. `src` may be
   used again after fly_flush_local; at the target after fly_flush, or with the next notification.
   `bytes` 0: src may be NULL.
   Errors: RANK, RANGE (nothing moves), PEER, TIMEOUT. Cost: O(bytes). */
FLY_API int fly_put(fly_win *win, const void *src, size_t bytes, int target, uint64_t disp);

/* Reads from the target's memory; `dst` is filled after fly_flush_local. As fly_put. */
FLY_API int fly_get(fly_win *win, void *dst, size_t bytes, int target, uint64_t disp);

/* Writes, then notifies the target with `tag`: its completed request means the bytes, and those of
   all earlier operations of this process to it in this window, are there. Errors: as fly_put, and
   TAG. TIMEOUT: no credit came, nothing was done. Cost: O(bytes). */
FLY_API int fly_put_notify(fly_win *win, const void *src, size_t bytes, int target, uint64_t disp,
                           int tag);

/* Reads, then notifies the target with `tag` that its memory has been read. If this process itself
   must send that notification, it does so in the next call that makes progress once the bytes are
   here. As fly_put_notify. */
FLY_API int fly_get_notify(fly_win *win, void *dst, size_t bytes, int target, uint64_t disp,
                           int tag);

/* Writes blocks of shape `from` at `src` as blocks of shape `to` at `disp`, in order; equal totals.
   `tag` or FLY_NO_TAG; one notification. Errors: as fly_put_notify, and ARG. */
FLY_API int fly_put_shape(fly_win *win, const void *src, const fly_shape *from, int target,
                          uint64_t disp, const fly_shape *to, int tag);

/* Reads blocks of shape `from` at `disp` into blocks of shape `to` at `dst`. As fly_put_shape. */
FLY_API int fly_get_shape(fly_win *win, void *dst, const fly_shape *to, int target, uint64_t disp,
                          const fly_shape *from, int tag);

/* As fly_put or, with a tag, fly_put_notify, with a request: complete when `src` may be used again.
   The request is active; after fly_wait or fly_test has returned it, it can only be freed. */
FLY_API int fly_rput(fly_win *win, const void *src, size_t bytes, int target, uint64_t disp,
                     int tag, fly_req **req);

/* As fly_get or fly_get_notify, with a request: complete when `dst` is filled. */
FLY_API int fly_rget(fly_win *win, void *dst, size_t bytes, int target, uint64_t disp, int tag,
                     fly_req **req);

/* Adds to the 64-bit word at `disp`, 8-byte aligned; *old is what was there, after fly_flush_local.
   `old` may be NULL; `tag` or FLY_NO_TAG. Atomic among the atomics of the window.
   Errors: as fly_put_notify, and ARG (not aligned). Cost: O(1). */
FLY_API int fly_fetch_add(fly_win *win, uint64_t *old, uint64_t add, int target, uint64_t disp,
                          int tag);

/* Puts `desired` where `expect` is. As fly_fetch_add. */
FLY_API int fly_compare_swap(fly_win *win, uint64_t *old, uint64_t expect, uint64_t desired,
                             int target, uint64_t disp, int tag);

/* Makes an inactive request for `expected` notifications that match `source` (a rank,
   FLY_ANY_SOURCE, or FLY_PROC_NULL: complete at start) and `tag` (or FLY_ANY_TAG).
   Errors: RANK, TAG, NOMEM. Cost: O(1). */
FLY_API int fly_notify_init(fly_win *win, int source, int tag, uint64_t expected, fly_req **req);

/* Takes matching notifications that are here, oldest first, then waits in line for more: one that
   comes goes to the request that matches, needs it, and was started first.
   Errors: STATE if active, or if the request is an operation's or its window is gone. Cost: O(1)
   for each notification taken. */
FLY_API int fly_start(fly_req *req);

/* Whether the request is complete; *flag 1 makes it inactive. `status` may be NULL, here and below;
   *flag 0 gives the count so far. An inactive request: *flag 1, source and tag ANY, count 0.
   Errors: PEER (the source has died), with *flag 1. Cost: O(1), and progress. */
FLY_API int fly_test(fly_req *req, int *flag, fly_status *status);

/* Waits until the request is complete, and makes it inactive. As fly_test. */
FLY_API int fly_wait(fly_req *req, fly_status *status);

/* As fly_test for the complete request of lowest index; NULL counts as inactive. All inactive or n
   = 0: *flag 1, *index SIZE_MAX. Cost: O(n). */
FLY_API int fly_testany(size_t n, fly_req *const reqs[], size_t *index, int *flag,
                        fly_status *status);

/* Waits for what fly_testany returns. */
FLY_API int fly_waitany(size_t n, fly_req *const reqs[], size_t *index, fly_status *status);

/* Waits for all. All statuses are filled; returns the first error. Cost: O(n). */
FLY_API int fly_waitall(size_t n, fly_req *const reqs[], fly_status statuses[]);

/* Whether a notification that no request has taken matches; takes nothing. *status is the
   oldest, count 1. Errors: RANK, TAG, PEER (`source` has died, and nothing is left of it). Cost:
   O(1), and progress. */
FLY_API int fly_probe(fly_win *win, int source, int tag, int *flag, fly_status *status);

/* The bytes of the last notification taken if they travelled inside it (they are in the window
   too), valid until the next start or free; else NULL. Never needed for correctness. */
FLY_API const void *fly_inline(const fly_req *req, size_t *bytes);

/* Makes a notification request inactive; *status count is what it had taken, which is not given
   back. Inactive: no effect. Errors: STATE for an operation's. Cost: O(1). */
FLY_API int fly_cancel(fly_req *req, fly_status *status);

/* Frees a request and sets *req to NULL. Errors: STATE while active. Cost: O(1). */
FLY_API int fly_req_free(fly_req **req);

/* Ends the operations of all, and starts the next epoch: collective. What was written before is
   there after. Errors: STATE inside another kind of epoch, PEER. Cost: O(log P) messages. */
FLY_API int fly_fence(fly_win *win);

/* Lets the `n` ranks access this process's memory until fly_win_wait; never blocks on them.
   Errors: RANK, ARG (a rank twice), STATE (posted already), PEER. Cost: O(n). */
FLY_API int fly_win_post(fly_win *win, int n, const int ranks[]);

/* Waits until all the `n` ranks have posted. Errors: as fly_win_post; PEER as soon as one of them
   that has not posted is known to have died. Cost: O(n). */
FLY_API int fly_win_start(fly_win *win, int n, const int ranks[]);

/* Ends what fly_win_start began: completes the operations, notifies the targets.
   Errors: STATE without start, PEER. Cost: O(n) messages. */
FLY_API int fly_win_complete(fly_win *win);

/* Waits until all the ranks of fly_win_post have completed. Errors: STATE without post; PEER, with
   the epoch ended, once one of them has died, whatever the others do. */
FLY_API int fly_win_wait(fly_win *win);

/* As fly_win_wait without waiting: *flag 1 ends the exposure. */
FLY_API int fly_win_test(fly_win *win, int *flag);

/* Locks the memory of `target`: FLY_EXCLUSIVE against all others, FLY_SHARED against exclusive
   ones. Errors: RANK, ARG (kind), STATE (held already, or inside another kind of epoch), PEER. */
FLY_API int fly_lock(fly_win *win, int kind, int target);

/* Completes the operations to `target` and unlocks it. Errors: STATE without lock. */
FLY_API int fly_unlock(fly_win *win, int target);

/* Locks all members, shared. Errors: as fly_lock; PEER once any member has died. Cost: O(1). */
FLY_API int fly_lock_all(fly_win *win);

/* Completes all operations and unlocks. Errors: STATE without fly_lock_all. */
FLY_API int fly_unlock_all(fly_win *win);

/* Waits until this process's operations to `target`, or FLY_ALL, are done at the target.
   Errors: RANK, PEER. Cost: O(1) on one node. */
FLY_API int fly_flush(fly_win *win, int target);

/* Waits until the local buffers of operations to `target`, or FLY_ALL, may be used again.
   Errors: as fly_flush. */
FLY_API int fly_flush_local(fly_win *win, int target);

/* Orders this process's loads and stores with the accesses of others. Cost: O(1). */
FLY_API int fly_win_sync(fly_win *win);

/* Finds which process should have which rank, so that those that exchange much data are near on the
   network that FLYLOOM_NETWORK names (a file, or family:key=value,...): process p is on the host at
   p times host_bytes of `hosts`, ended by a zero, and edges[3 i] is the sender, edges[3 i + 1] the
   receiver, edges[3 i + 2] the weight of edge i; ranks[p] becomes the rank of process p, which is p
   where others are no better. The other variables and the library that is asked are those of
   `flyloom reorder`; FLYLOOM_MAP_LIBRARY names it, or it is libflyloom_map.so beside this one.
   Errors: UNSUPPORTED (no network is named, or the library is not there), RANK, ARG (an argument,
   or the network is refused, with the reason). Cost: that of `flyloom map`, at this process
   alone. */
FLY_API int fly_map(int processes, const char *hosts, size_t host_bytes, size_t count,
                    const int edges[], int ranks[]);

#ifdef __cplusplus
}
#endif
#endif
