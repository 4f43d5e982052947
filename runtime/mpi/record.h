/* What the files of the recorder share: counts by pair, ranks of communicators, calls that wrap.
 *
 * Every call of MPI that sends is defined here by both of its names, MPI_X and PMPI_X, and goes on
 * to the library's own PMPI_X. The second name is what Open MPI's Fortran calls, and wrappers that
 * a program has itself.
 */
#ifndef FLYLOOM_RECORD_H
#define FLYLOOM_RECORD_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record_calls.h"

#define WRAP_LOOK_UP rec_real
#include "wrap.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_INIT 1 /* persistent collectives, partitioned sends, MPI_Isendrecv */
#endif
#if MPI_VERSION >= 4
#define HAS_LARGE 1 /* MPI_X_c, with counts of MPI_Count */
#endif

/* Bytes and messages of one pair: this process and a peer. `key` is the peer's rank in
 * MPI_COMM_WORLD times two, plus 1 where the peer is the sender, plus 1: 0 is a free slot. */
struct pair_traffic {
    uint64_t key, bytes, messages;
};

/* The pairs of a thread, by open addressing; the number of slots is a power of two. */
struct pair_table {
    struct pair_traffic *slots;
    size_t room, used;
    int shift; /* shift that makes a slot of the hashed key */
    int number; /* of the thread that has it, among all that there are at the same time */
    atomic_int taken;
    struct pair_table *next;
};

/* The processes that are the ranks of a communicator or a window. */
struct peers {
    int size, me; /* an inter-communicator: the other's size, own rank */
    int own;      /* size of the own group */
    int inter;
    int *world; /* by rank: the rank in MPI_COMM_WORLD, -1 for none; NULL where it is the same */
    int *own_world; /* the own group of an inter-communicator in the same form */
    int degree; /* how many neighbours a topology has */
    int *to;    /* the neighbours in the order of their blocks, negative for none */
    uint64_t number; /* that of its event among the calls */
    atomic_int users; /* the communicator or window itself, and receives that name any source */
};

/* What a persistent request sends at every start, and the event of a call that it stands for. */
struct start_traffic {
    struct pair_traffic *pairs;
    size_t count, room;
    struct rec_op op;
};

enum { CACHED = 8, CACHED_BITS = 3 };

/* A communicator or window that was looked up lately, with its processes. */
struct known_handle {
    uintptr_t handle;
    const struct peers *peers;
    unsigned age;
};

/* What one thread has recorded. */
struct thread_record {
    struct pair_table *table;
    struct start_traffic *plan; /* where records go instead, for a persistent request */
    int depth;         /* above 0 inside a call of MPI, whose own calls do not count */
    uint64_t start_ns; /* when the call began */
    MPI_Request *request; /* that of the call, where it has one */
    uint64_t also;        /* an operation that the request stands for besides; REC_ANY: none */
    struct known_handle comms[CACHED], wins[CACHED];
};

extern _Thread_local struct thread_record rec_thread
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
extern int rec_on;          /* between MPI_Init and MPI_Finalize */
extern int rec_collectives; /* whether collectives are recorded */
extern atomic_uint rec_age; /* changes when a handle may have been reused */
extern atomic_int rec_lost; /* memory was short: counts are too low */
extern atomic_int rec_outside; /* something went to a process outside of MPI_COMM_WORLD */
extern MPI_Group rec_world;
extern int rec_calls; /* whether calls are recorded, too: record_calls.c */

void *rec_real(const char *name);
struct pair_table *rec_table(void);
struct pair_table *rec_tables(void);
int rec_grow(struct pair_table *table);
void rec_planned(struct start_traffic *plan, uint64_t key, uint64_t bytes, uint64_t messages);
void rec_keep(MPI_Request request, struct start_traffic *plan);
const struct peers *rec_comm_new(MPI_Comm comm);
const struct peers *rec_win_new(MPI_Win win);
void rec_peers_begin(void);
void rec_release(const struct peers *peers);
void rec_given_back(uintptr_t request);
void rec_flies(uintptr_t request, uint64_t operation, const struct peers *any);
void rec_write(const char *path, const char *messages_path);

#define REC_HASH 0x9E3779B97F4A7C15u

static inline unsigned rec_cache_slot(uintptr_t handle) {
    return (unsigned)((uint64_t)handle * REC_HASH >> (64 - CACHED_BITS));
}

static inline const struct peers *rec_comm(MPI_Comm comm) {
    const struct known_handle *known = &rec_thread.comms[rec_cache_slot((uintptr_t)comm)];
    unsigned age = atomic_load_explicit(&rec_age, memory_order_acquire);
    if (known->peers != NULL && known->handle == (uintptr_t)comm && known->age == age)
        return known->peers;
    return rec_comm_new(comm);
}

static inline const struct peers *rec_win(MPI_Win win) {
    const struct known_handle *known = &rec_thread.wins[rec_cache_slot((uintptr_t)win)];
    unsigned age = atomic_load_explicit(&rec_age, memory_order_acquire);
    if (known->peers != NULL && known->handle == (uintptr_t)win && known->age == age)
        return known->peers;
    return rec_win_new(win);
}

/* The rank in MPI_COMM_WORLD, -1 for none. */
static inline int rec_world_rank(const struct peers *of, int rank) {
    return of->world != NULL ? of->world[rank] : rank;
}

static inline void rec_add(struct pair_table *table, uint64_t key, uint64_t bytes, uint64_t messages) {
    size_t mask = table->room - 1;
    for (size_t at = (size_t)(key * REC_HASH >> table->shift);; at = (at + 1) & mask) {
        struct pair_traffic *slot = &table->slots[at];
        if (slot->key == 0) {
            if (2 * table->used >= table->room) {
                if (rec_grow(table) != 0) return;
                rec_add(table, key, bytes, messages);
                return;
            }
            table->used++;
            slot->key = key;
        }
        if (slot->key == key) {
            slot->bytes += bytes;
            slot->messages += messages;
            return;
        }
    }
}

/* Records messages by the key of their pair. */
static inline void rec_note_key(uint64_t key, uint64_t bytes, uint64_t messages) {
    struct thread_record *thread = &rec_thread;
    if (thread->plan != NULL) {
        rec_planned(thread->plan, key, bytes, messages);
        return;
    }
    struct pair_table *table = thread->table != NULL ? thread->table : rec_table();
    if (table != NULL) rec_add(table, key, bytes, messages);
}

/* Records messages to a rank, or from it if `comes` is 1. A negative rank is no process. */
static inline void rec_note(const struct peers *of, int rank, int comes, uint64_t bytes,
                            uint64_t messages) {
    if (of == NULL || rank < 0) return;
    int world = rec_world_rank(of, rank);
    if (world < 0) {
        atomic_store_explicit(&rec_outside, 1, memory_order_relaxed);
        return;
    }
    rec_note_key(((uint64_t)world << 1 | (uint64_t)comes) + 1, bytes, messages);
}

static inline uint64_t rec_bytes(MPI_Count count, MPI_Datatype type) {
    MPI_Count size = 0;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0 || count < 0) return 0;
    return (uint64_t)count * (uint64_t)size;
}

static inline int rec_enter(void) {
    if (!rec_on || rec_thread.depth != 0) return 0;
    rec_thread.depth = 1;
    if (rec_calls) rec_thread.start_ns = rec_clock();
    return 1;
}

static inline void rec_leave(void) { rec_thread.depth = 0; }

/* Defines a call: does `before` it what is needed, calls the library's own function, and then
 * `record` if that succeeded. */
#define WRAP_AFTER(name, parameters, arguments, before, ...)                                      \
    API int MPI_##name parameters {                                                               \
        REAL(name)                                                                                \
        if (!rec_enter()) return real arguments;                                                  \
        before;                                                                                   \
        int code = real arguments;                                                                \
        rec_leave();                                                                              \
        if (code == MPI_SUCCESS) {                                                                \
            __VA_ARGS__;                                                                          \
        }                                                                                         \
        return code;                                                                              \
    }                                                                                             \
    ALIAS(name)

#define WRAP(name, parameters, arguments, ...)                                                    \
    WRAP_AFTER(name, parameters, arguments, (void)0, __VA_ARGS__)

/* Records a call of the form that returns at once and leaves `request`. */
#define LATER(...)                                                                                \
    rec_thread.request = request;                                                                 \
    rec_thread.also = REC_ANY;                                                                    \
    __VA_ARGS__;                                                                                  \
    rec_thread.request = NULL

/* Defers what `record` notes to every start of the request. */
#define PLANNED(...)                                                                              \
    struct start_traffic plan = {0};                                                                       \
    rec_thread.plan = &plan;                                                                      \
    __VA_ARGS__;                                                                                  \
    rec_thread.plan = NULL;                                                                       \
    rec_keep(*request, &plan)

#define OPEN(...) __VA_ARGS__

#endif
