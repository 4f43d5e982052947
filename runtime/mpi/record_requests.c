/* Which operation a request stands for, and the calls that complete requests.
 *
 * MPI libraries give the same handle to several sends that were complete at once: their operations
 * come in the order in which they began. A receive that named any source or tag learns them from
 * the status, which is there even where the program ignores it.
 */
#include "record_requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct flying {
    uintptr_t request;
    uint64_t operation, also; /* also: that of the send of MPI_Isendrecv, else REC_ANY */
    const struct peers *any;  /* of a receive of any source or tag */
    int is_cancelled;
    struct flying *next;
};

enum { LISTS_BITS = 12 };

static struct flying *lists[1 << LISTS_BITS], *idle;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static struct flying **list_of(uintptr_t request) {
    return &lists[(uint64_t)request * REC_HASH >> (64 - LISTS_BITS)];
}

/* An operation begins, which the request stands for. */
void rec_flies(uintptr_t request, uint64_t operation, const struct peers *any) {
    pthread_mutex_lock(&changing);
    struct flying *one = idle != NULL ? idle : malloc(sizeof *one);
    if (one != NULL && one == idle) idle = one->next;
    struct flying **at = list_of(request);
    while (*at != NULL) at = &(*at)->next;
    if (one != NULL) {
        *one = (struct flying){request, operation, rec_thread.also, any, 0, NULL};
        *at = one;
        if (any != NULL) atomic_fetch_add(&((struct peers *)any)->users, 1);
    } else {
        atomic_store(&rec_lost, 1);
    }
    pthread_mutex_unlock(&changing);
}

/* Finds the first operation of a request; takes it out unless it is only looked at. */
static int find(uintptr_t request, struct flying *found, int takes) {
    int is_there = 0;
    pthread_mutex_lock(&changing);
    for (struct flying **at = list_of(request); *at != NULL; at = &(*at)->next) {
        struct flying *one = *at;
        if (one->request != request) continue;
        *found = *one;
        is_there = 1;
        if (takes) {
            *at = one->next;
            one->next = idle;
            idle = one;
        }
        break;
    }
    pthread_mutex_unlock(&changing);
    return is_there;
}

static void cancelled(uintptr_t request) {
    pthread_mutex_lock(&changing);
    for (struct flying *one = *list_of(request); one != NULL; one = one->next)
        if (one->request == request) one->is_cancelled = 1;
    pthread_mutex_unlock(&changing);
}

/* The operations that a call has completed, three words each. */
struct completed {
    uint64_t *words;
    size_t count, room;
};

static _Thread_local struct completed done;
static _Thread_local MPI_Request *copies;
static _Thread_local MPI_Status *statuses_of_mine;
static _Thread_local size_t copies_room, statuses_room;

static uint64_t *three_more(void) {
    if (done.count + 3 > done.room) {
        size_t room = done.room == 0 ? 48 : 2 * done.room;
        uint64_t *words = realloc(done.words, room * sizeof *words);
        if (words == NULL) {
            atomic_store(&rec_lost, 1);
            return NULL;
        }
        done.words = words;
        done.room = room;
    }
    done.count += 3;
    return done.words + done.count - 3;
}

static void add_completed(uint64_t operation, uint64_t peer, uint64_t tag) {
    uint64_t *words = three_more();
    if (words != NULL) memcpy(words, (uint64_t[]){operation, peer, tag}, 3 * sizeof *words);
}

/* A request is complete; `takes`: and stands for nothing any more. */
static void complete(MPI_Request request, const MPI_Status *status, int takes) {
    struct flying one;
    if (request == MPI_REQUEST_NULL || !find((uintptr_t)request, &one, takes)) return;
    uint64_t peer = REC_ANY, tag = REC_ANY;
    int was_cancelled = 0;
    if (one.is_cancelled) PMPI_Test_cancelled(status, &was_cancelled);
    if (was_cancelled) {
        peer = REC_CANCELLED;
    } else if (one.any != NULL && status->MPI_SOURCE >= 0) {
        int world = rec_world_rank(one.any, status->MPI_SOURCE);
        peer = world < 0 ? REC_CANCELLED : (uint64_t)world;
        tag = (uint64_t)status->MPI_TAG;
    }
    add_completed(one.operation, peer, tag);
    if (one.also != REC_ANY) add_completed(one.also, REC_ANY, REC_ANY);
    if (takes) rec_release(one.any);
}

static void await(void) {
    rec_event(REC_AWAIT, 0, done.count, done.words);
    done.count = 0;
}

void rec_awaits(uint64_t operation, uint64_t also) {
    add_completed(operation, REC_ANY, REC_ANY);
    if (also != REC_ANY) add_completed(also, REC_ANY, REC_ANY);
    await();
}

static void poll(void) { rec_event(REC_POLL, 0, 0, NULL); }

/* The requests as they are before a call that changes them; NULL where memory is short. */
static const MPI_Request *copy_of(int count, const MPI_Request requests[]) {
    size_t most = (size_t)(count > 0 ? count : 1);
    if (most > copies_room) {
        MPI_Request *larger = realloc(copies, most * sizeof *larger);
        if (larger == NULL) {
            atomic_store(&rec_lost, 1);
            return NULL;
        }
        copies = larger;
        copies_room = most;
    }
    if (count > 0) memcpy(copies, requests, (size_t)count * sizeof *copies);
    return copies;
}

static MPI_Status *statuses_for(int count) {
    size_t most = (size_t)(count > 0 ? count : 1);
    if (most > statuses_room) {
        MPI_Status *larger = realloc(statuses_of_mine, most * sizeof *larger);
        if (larger == NULL) {
            atomic_store(&rec_lost, 1);
            return MPI_STATUSES_IGNORE;
        }
        statuses_of_mine = larger;
        statuses_room = most;
    }
    return statuses_of_mine;
}

/* The first `count` of `which` are complete, or the first `count` of all where that is NULL. */
static void complete_all(const MPI_Request *before, int count, const int *which,
                         const MPI_Status *statuses) {
    int is_known = before != NULL && statuses != MPI_STATUSES_IGNORE;
    for (int i = 0; is_known && i < count; i++)
        complete(before[which != NULL ? which[i] : i], &statuses[i], 1);
    await();
}

#define BEFORE(count, requests) const MPI_Request *before = copy_of(count, requests)
#define STATUSES(count)                                                                           \
    if (statuses == MPI_STATUSES_IGNORE) statuses = statuses_for(count)

CALLED(Wait, (MPI_Request *request, MPI_Status *status), (request, status),
       STATUS; MPI_Request before = *request, complete(before, status, 1); await())
CALLED(Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, status),
       STATUS; MPI_Request before = *request, if (!*flag) poll(); else {
           complete(before, status, 1);
           await();
       })
CALLED(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
       (request, flag, status), STATUS, if (!*flag) poll(); else {
           complete(request, status, 0);
           await();
       })
CALLED(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
       (count, requests, statuses), BEFORE(count, requests); STATUSES(count),
       complete_all(before, count, NULL, statuses))
CALLED(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
       (count, requests, flag, statuses), BEFORE(count, requests); STATUSES(count),
       if (*flag) complete_all(before, count, NULL, statuses); else poll())
CALLED(Waitany, (int count, MPI_Request requests[], int *which, MPI_Status *status),
       (count, requests, which, status), BEFORE(count, requests); STATUS,
       complete_all(before, *which != MPI_UNDEFINED, which, status))
CALLED(Testany, (int count, MPI_Request requests[], int *which, int *flag, MPI_Status *status),
       (count, requests, which, flag, status), BEFORE(count, requests); STATUS,
       if (*flag) complete_all(before, *which != MPI_UNDEFINED, which, status); else poll())
CALLED(Waitsome,
       (int count, MPI_Request requests[], int *found, int which[], MPI_Status statuses[]),
       (count, requests, found, which, statuses), BEFORE(count, requests); STATUSES(count),
       complete_all(before, *found != MPI_UNDEFINED ? *found : 0, which, statuses))
CALLED(Testsome,
       (int count, MPI_Request requests[], int *found, int which[], MPI_Status statuses[]),
       (count, requests, found, which, statuses), BEFORE(count, requests); STATUSES(count),
       if (*found == 0) poll();
       else complete_all(before, *found != MPI_UNDEFINED ? *found : 0, which, statuses))
CALLED(Cancel, (MPI_Request *request), (request), cancelled((uintptr_t)*request), (void)0)

/* A request is given back: nobody waits for what it stands for. */
void rec_given_back(uintptr_t request) {
    struct flying one;
    if (find(request, &one, 1)) rec_release(one.any);
}
