/* The one file that uses MPI: processes of a run exchange bytes, behind functions of plain types.
 *
 * Built by the user's mpicc into a small library, which the core loads when a run asks for it.
 * Every function but flyloom_ranks_interface and flyloom_ranks_library is called by one thread at
 * a time. They return 0, a code of MPI (above 0), or one of ours (below).
 */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { OVER = -1, NO_THREADS = -2, NO_MEMORY = -3 };

/* The first message to a rank has at most HEAD bytes; if it is full, others follow. */
enum { HEAD = 1 << 16 };
/* Each of the other messages has at most PIECE bytes. */
enum { PIECE = 1 << 28 };
enum { TAG_HEAD = 1, TAG_REST = 2 };

/* Looks before a rank that waits lets others run: there may be fewer cores than ranks. */
enum { PATIENCE = 1 << 10 };

struct given {
    unsigned char *bytes;
    size_t room;
};

static MPI_Comm comm = MPI_COMM_NULL;
static int me, count, is_ours;
static struct given *given;    /* by rank: the bytes received last */
static MPI_Request *requests;  /* heads that come, then heads that go */
static MPI_Status *statuses;
static MPI_Request *rests;     /* pieces that go */
static size_t rest_room;

API int flyloom_ranks_interface(void) { return 1; }

API int flyloom_ranks_library(char *text, size_t room) {
    char whole[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    int code = MPI_Get_library_version(whole, &length);
    if (code != MPI_SUCCESS || room == 0) return code;
    size_t taken = (size_t)length < room ? (size_t)length : room - 1;
    memcpy(text, whole, taken);
    text[taken] = 0;
    return 0;
}

API int flyloom_ranks_error(int code, char *text, size_t room) {
    char whole[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, whole, &length) != MPI_SUCCESS || room == 0) return OVER;
    size_t taken = (size_t)length < room ? (size_t)length : room - 1;
    memcpy(text, whole, taken);
    text[taken] = 0;
    return 0;
}

static int grow(struct given *of, size_t room) {
    if (room <= of->room) return 0;
    unsigned char *bytes = realloc(of->bytes, room);
    if (bytes == NULL) return NO_MEMORY;
    of->bytes = bytes;
    of->room = room;
    return 0;
}

API int flyloom_ranks_open(int *rank, int *size) {
    int is_over = 0, is_there = 0, level = 0;
    int code = MPI_Finalized(&is_over);
    if (code != MPI_SUCCESS) return code;
    if (is_over) return OVER;
    if ((code = MPI_Initialized(&is_there)) != MPI_SUCCESS) return code;
    if (is_there)
        code = MPI_Query_thread(&level);
    else
        code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (code != MPI_SUCCESS) return code;
    is_ours = is_ours || !is_there;
    if (level < MPI_THREAD_SERIALIZED) return NO_THREADS;
    if (comm == MPI_COMM_NULL) {
        if ((code = MPI_Comm_dup(MPI_COMM_WORLD, &comm)) != MPI_SUCCESS) return code;
        if ((code = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)) != MPI_SUCCESS) return code;
        if ((code = MPI_Comm_rank(comm, &me)) != MPI_SUCCESS) return code;
        if ((code = MPI_Comm_size(comm, &count)) != MPI_SUCCESS) return code;
        given = calloc((size_t)count, sizeof *given);
        requests = malloc(2 * (size_t)count * sizeof *requests);
        statuses = malloc(2 * (size_t)count * sizeof *statuses);
        if (given == NULL || requests == NULL || statuses == NULL) return NO_MEMORY;
    }
    *rank = me;
    *size = count;
    return 0;
}

/* Yields the processor after PATIENCE looks that found nothing. */
static void wait_a_turn(int *turns) {
    if (*turns < PATIENCE)
        ++*turns;
    else
        sched_yield();
}

/* Waits until all `some` requests are complete. */
static int finish(int some, MPI_Request *of, MPI_Status *status) {
    for (int done = 0, turns = 0; !done; wait_a_turn(&turns)) {
        int code = MPI_Testall(some, of, &done, status);
        if (code != MPI_SUCCESS) return code;
    }
    return 0;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Starts to send what does not fit into the heads. */
static int send_rests(const unsigned char *const *out, const size_t *bytes, int *some) {
    size_t due = 0;
    *some = 0;
    for (int to = 0; to < count; to++)
        if (to != me && bytes[to] >= HEAD) due += (bytes[to] - HEAD) / PIECE + 1;
    if (due > INT32_MAX) return NO_MEMORY;
    if (due > rest_room) {
        MPI_Request *more = realloc(rests, due * sizeof *rests);
        if (more == NULL) return NO_MEMORY;
        rests = more;
        rest_room = due;
    }
    for (int to = 0; to < count; to++) {
        if (to == me || bytes[to] < HEAD) continue;
        /* A full piece means that another follows. */
        for (size_t at = HEAD, sent = PIECE; sent == PIECE; at += sent) {
            sent = least(bytes[to] - at, PIECE);
            int code = MPI_Isend(out[to] + at, (int)sent, MPI_BYTE, to, TAG_REST, comm,
                                 &rests[(*some)++]);
            if (code != MPI_SUCCESS) return code;
        }
    }
    return 0;
}

/* Receives the pieces that follow a full head. */
static int take_rest(int from, size_t *bytes) {
    for (int came = PIECE; came == PIECE; *bytes += (size_t)came) {
        MPI_Message message;
        MPI_Status status;
        for (int is_there = 0, turns = 0; !is_there; wait_a_turn(&turns)) {
            int code = MPI_Improbe(from, TAG_REST, comm, &is_there, &message, &status);
            if (code != MPI_SUCCESS) return code;
        }
        int code = MPI_Get_count(&status, MPI_BYTE, &came);
        if (code != MPI_SUCCESS) return code;
        if ((code = grow(&given[from], *bytes + (size_t)came)) != 0) return code;
        code = MPI_Mrecv(given[from].bytes + *bytes, came, MPI_BYTE, &message, &status);
        if (code != MPI_SUCCESS) return code;
    }
    return 0;
}

/* Gives out[p], of out_bytes[p], to every other rank p, and receives from each in[p], of
 * in_bytes[p], which stays valid until the next call. All arrays have an entry for every rank. */
API int flyloom_ranks_exchange(const unsigned char *const *out, const size_t *out_bytes,
                               const unsigned char **in, size_t *in_bytes) {
    int code, some = 0, more = 0, heads = 0;
    for (int from = 0; from < count; from++) {
        in[from] = NULL;
        in_bytes[from] = 0;
        if (from == me) continue;
        if ((code = grow(&given[from], HEAD)) != 0) return code;
        code = MPI_Irecv(given[from].bytes, HEAD, MPI_BYTE, from, TAG_HEAD, comm,
                         &requests[some++]);
        if (code != MPI_SUCCESS) return code;
    }
    heads = some;
    for (int step = 1; step < count; step++) {
        int to = (me + step) % count;
        code = MPI_Isend(out[to], (int)least(out_bytes[to], HEAD), MPI_BYTE, to, TAG_HEAD, comm,
                         &requests[some++]);
        if (code != MPI_SUCCESS) return code;
    }
    if ((code = send_rests(out, out_bytes, &more)) != 0) return code;
    if ((code = finish(heads, requests, statuses)) != 0) return code;
    for (int from = 0, at = 0; from < count; from++) {
        int came = 0;
        if (from == me) continue;
        if ((code = MPI_Get_count(&statuses[at++], MPI_BYTE, &came)) != MPI_SUCCESS) return code;
        in_bytes[from] = (size_t)came;
        if (came == HEAD && (code = take_rest(from, &in_bytes[from])) != 0) return code;
        in[from] = given[from].bytes;
    }
    if ((code = finish(some - heads, requests + heads, statuses)) != 0) return code;
    for (int at = 0; at < more; at++)
        if ((code = finish(1, &rests[at], statuses)) != 0) return code;
    return 0;
}

/* Ends all ranks, and does not return. */
API void flyloom_ranks_abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
}

/* Ends MPI, in all ranks together, unless the program itself had begun it. */
API int flyloom_ranks_close(void) {
    if (comm == MPI_COMM_NULL) return 0;
    int code = MPI_Comm_free(&comm);
    if (given != NULL)
        for (int from = 0; from < count; from++) free(given[from].bytes);
    free(given);
    free(requests);
    free(statuses);
    free(rests);
    given = NULL;
    requests = NULL;
    statuses = NULL;
    rests = NULL;
    rest_room = 0;
    if (code == MPI_SUCCESS && is_ours) code = MPI_Finalize();
    return code;
}
