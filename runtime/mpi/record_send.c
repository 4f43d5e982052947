/* Messages from one process to another, persistent requests, and puts and gets of windows. */
#include "record.h"

#include <sched.h>
#include <stdlib.h>

/* A persistent request by its handle, in a hash table under a lock. */
struct kept_request {
    uintptr_t request;
    struct start_traffic plan;
    struct kept_request *next;
};

static struct kept_request **lists;
static size_t list_count;
static atomic_size_t kept_count;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) sched_yield();
}

static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static struct kept_request **list_of(uintptr_t request) {
    return &lists[(uint64_t)request * REC_HASH >> 32 & (list_count - 1)];
}

void rec_planned(struct start_traffic *plan, uint64_t key, uint64_t bytes, uint64_t messages) {
    if (plan->count == plan->room) {
        size_t room = plan->room != 0 ? 2 * plan->room : 1;
        struct pair_traffic *pairs = realloc(plan->pairs, room * sizeof *pairs);
        if (pairs == NULL) {
            atomic_store(&rec_lost, 1);
            return;
        }
        plan->pairs = pairs;
        plan->room = room;
    }
    plan->pairs[plan->count++] = (struct pair_traffic){key, bytes, messages};
}

/* Doubles the hash table where its lists have become long. */
static void spread(void) {
    size_t count = list_count != 0 ? 2 * list_count : 64, before = list_count;
    struct kept_request **old = lists, **fresh = calloc(count, sizeof *fresh);
    if (fresh == NULL) return;
    lists = fresh;
    list_count = count;
    for (size_t i = 0; i < before; i++) {
        for (struct kept_request *one = old[i], *next; one != NULL; one = next) {
            next = one->next;
            struct kept_request **list = list_of(one->request);
            one->next = *list;
            *list = one;
        }
    }
    free(old);
}

static void forget(uintptr_t request) {
    if (atomic_load(&kept_count) == 0) return;
    lock();
    for (struct kept_request **at = list_of(request); *at != NULL; at = &(*at)->next) {
        struct kept_request *one = *at;
        if (one->request != request) continue;
        *at = one->next;
        free(one->plan.pairs);
        free(one->plan.op.words);
        rec_release(one->plan.op.any);
        free(one);
        atomic_fetch_sub(&kept_count, 1);
        break;
    }
    unlock();
}

void rec_keep(MPI_Request request, struct start_traffic *plan) {
    forget((uintptr_t)request);
    if (plan->count == 0 && plan->op.kind == 0) {
        free(plan->pairs);
        return;
    }
    struct kept_request *one = malloc(sizeof *one);
    lock();
    if (atomic_load(&kept_count) >= list_count) spread();
    if (one == NULL || lists == NULL) {
        unlock();
        atomic_store(&rec_lost, 1);
        free(plan->pairs);
        free(plan->op.words);
        free(one);
        return;
    }
    struct kept_request **list = list_of((uintptr_t)request);
    *one = (struct kept_request){(uintptr_t)request, *plan, *list};
    *list = one;
    atomic_fetch_add(&kept_count, 1);
    unlock();
}

static void started(MPI_Request request) {
    if (atomic_load_explicit(&kept_count, memory_order_acquire) == 0) return;
    struct pair_table *table = rec_thread.table != NULL ? rec_thread.table : rec_table();
    if (table == NULL) return;
    lock();
    const struct kept_request *one = *list_of((uintptr_t)request);
    while (one != NULL && one->request != (uintptr_t)request) one = one->next;
    for (size_t i = 0; one != NULL && i < one->plan.count; i++) {
        const struct pair_traffic *pair = &one->plan.pairs[i];
        rec_add(table, pair->key, pair->bytes, pair->messages);
    }
    if (one != NULL && rec_calls && one->plan.op.kind != 0)
        rec_starts((uintptr_t)request, &one->plan.op);
    unlock();
}

WRAP(Start, (MPI_Request *request), (request), started(*request))
WRAP(Startall, (int count, MPI_Request requests[]), (count, requests),
     for (int i = 0; i < count; i++) started(requests[i]))

API int MPI_Request_free(MPI_Request *request) {
    REAL(Request_free)
    if (rec_on && request != NULL) {
        forget((uintptr_t)*request);
        if (rec_calls) rec_given_back((uintptr_t)*request);
    }
    return real(request);
}
ALIAS(Request_free)

/* A message is sent; `later`: the call did not wait for its end. */
static void sent(MPI_Comm comm, int to, int tag, uint64_t bytes, int later) {
    const struct peers *of = rec_comm(comm);
    rec_note(of, to, 0, bytes, 1);
    if (rec_calls) rec_message(of, to, tag, bytes, 0, later);
}

/* What a call of a window moves to the target and back; REC_ANY: nothing. To ask for bytes takes a
 * message without any, where nothing goes to the target. */
static void moved(MPI_Win win, int target, uint64_t bytes, uint64_t back) {
    const struct peers *of = rec_win(win);
    if (bytes != REC_ANY || back != REC_ANY)
        rec_note(of, target, 0, bytes != REC_ANY ? bytes : 0, 1);
    if (back != REC_ANY) rec_note(of, target, 1, back, 1);
    if (!rec_calls || of == NULL || target < 0) return;
    int world = rec_world_rank(of, target);
    uint64_t words[5] = {0, of->number, (uint64_t)world, bytes, back};
    if (world >= 0) rec_begins(REC_TRANSFER, REC_LATER, 5, words, NULL);
}

#define SENT(later) sent(comm, to, tag, rec_bytes(count, type), later)
#define PUT moved(win, target, rec_bytes(count, type), REC_ANY)
#define GOT(count, type) moved(win, target, REC_ANY, rec_bytes(count, type))

#define CALL(name) name
#define COUNT int
#define DISPLACEMENT int
#include "record_send.inc"
#ifdef HAS_LARGE
#undef CALL
#undef COUNT
#define CALL(name) name##_c
#define COUNT MPI_Count
#include "record_send.inc"
#endif

WRAP(Fetch_and_op,
     (const void *from, void *result, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op,
      MPI_Win win),
     (from, result, type, target, at, op, win),
     uint64_t bytes = rec_bytes(1, type);
     moved(win, target, op != MPI_NO_OP ? bytes : REC_ANY, bytes))
WRAP(Compare_and_swap,
     (const void *from, const void *with, void *result, MPI_Datatype type, int target, MPI_Aint at,
      MPI_Win win),
     (from, with, result, type, target, at, win),
     moved(win, target, rec_bytes(2, type), rec_bytes(1, type)))

#ifdef HAS_INIT
WRAP(Psend_init,
     (const void *from, int partitions, MPI_Count count, MPI_Datatype type, int to, int tag,
      MPI_Comm comm, MPI_Info info, MPI_Request *request),
     (from, partitions, count, type, to, tag, comm, info, request),
     PLANNED(sent(comm, to, tag, rec_bytes(partitions * count, type), 1)))
#endif
