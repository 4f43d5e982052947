/* Messages that are received or looked for, and calls that send and receive at once.
 *
 * A receive of any source or tag learns them from the status. A matched probe has taken the
 * message: it is where the receive begins.
 */
#include "record_requests.h"

/* A message is received by a call that has waited for it. */
static void received(MPI_Comm comm, int source, int tag, uint64_t bytes, const MPI_Status *status) {
    if (source == MPI_ANY_SOURCE) source = status->MPI_SOURCE;
    if (tag == MPI_ANY_TAG) tag = status->MPI_TAG;
    rec_message(rec_comm(comm), source, tag, bytes, 1, 0);
}

static void receives(MPI_Comm comm, int source, int tag, uint64_t bytes) {
    rec_message(rec_comm(comm), source, tag, bytes, 1, 1);
}

static void is_there(MPI_Comm comm, const MPI_Status *status) {
    const struct peers *of = rec_comm(comm);
    if (of == NULL || status->MPI_SOURCE < 0) return;
    int world = rec_world_rank(of, status->MPI_SOURCE);
    uint64_t words[3] = {of->number, (uint64_t)world, (uint64_t)status->MPI_TAG};
    if (world >= 0) rec_event(REC_PROBE, 0, 3, words);
}

/* A message was taken out of the queue: the receive begins, and its bytes are here. */
static void is_taken(MPI_Comm comm, const MPI_Status *status) {
    if (status->MPI_SOURCE >= 0)
        received(comm, status->MPI_SOURCE, status->MPI_TAG, 0, status);
}

/* A send and a receive of one call that has waited for both. */
static void both(MPI_Comm comm, int to, int tag, uint64_t bytes, int source, int mark,
                 const MPI_Status *status) {
    const struct peers *of = rec_comm(comm);
    rec_note(of, to, 0, bytes, 1);
    if (!rec_calls) return;
    if (source == MPI_ANY_SOURCE) source = status->MPI_SOURCE;
    if (mark == MPI_ANY_TAG) mark = status->MPI_TAG;
    uint64_t out = rec_message(of, to, tag, bytes, 0, 1);
    uint64_t in = rec_message(of, source, mark, 0, 1, 1);
    if (out != REC_ANY)
        rec_awaits(out, in);
    else if (in != REC_ANY)
        rec_awaits(in, REC_ANY);
}

#ifdef HAS_INIT
/* The same of a call that returns at once: its request stands for both. */
static void both_later(MPI_Comm comm, int to, int tag, uint64_t bytes, int source, int mark,
                       MPI_Request *request) {
    const struct peers *of = rec_comm(comm);
    rec_note(of, to, 0, bytes, 1);
    if (!rec_calls) return;
    int receives_too = source >= 0 || source == MPI_ANY_SOURCE;
    rec_thread.also = REC_ANY;
    if (!receives_too) rec_thread.request = request;
    uint64_t out = rec_message(of, to, tag, bytes, 0, 1);
    rec_thread.request = request;
    rec_thread.also = out;
    if (receives_too) rec_message(of, source, mark, 0, 1, 1);
    rec_thread.request = NULL;
}
#endif

static void poll(void) { rec_event(REC_POLL, 0, 0, NULL); }

#define ANY                                                                                       \
    MPI_Status known;                                                                             \
    if ((source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) && status == MPI_STATUS_IGNORE)          \
    status = &known

CALLED(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status),
       (source, tag, comm, status), STATUS, is_there(comm, status))
CALLED(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
       (source, tag, comm, flag, status), STATUS,
       if (*flag) is_there(comm, status); else poll())
CALLED(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
       (source, tag, comm, message, status), STATUS, is_taken(comm, status))
CALLED(Improbe,
       (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
       (source, tag, comm, flag, message, status), STATUS,
       if (*flag) is_taken(comm, status); else poll())

#define CALL(name) name
#define COUNT int
#include "record_receive.inc"
#ifdef HAS_LARGE
#undef CALL
#undef COUNT
#define CALL(name) name##_c
#define COUNT MPI_Count
#include "record_receive.inc"
#endif

#ifdef HAS_INIT
CALLED(Precv_init,
       (void *into, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
        MPI_Comm comm, MPI_Info info, MPI_Request *request),
       (into, partitions, count, type, source, tag, comm, info, request), (void)0,
       PLANNED(receives(comm, source, tag, rec_bytes(partitions * count, type))))
#endif
