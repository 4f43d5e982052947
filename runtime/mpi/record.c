/* Records how much each rank of an unchanged MPI program sends to each other: LD_PRELOAD.
 *
 * A thread counts in a table of its own, so that no lock is taken for a message. At MPI_Finalize
 * rank 0 collects the tables and writes a Matrix Market file. Variables of the environment:
 *
 * FLYLOOM_RECORD_FILE         the file; communication.mtx, or none where calls are recorded
 * FLYLOOM_RECORD_MESSAGES     another one, with numbers of messages; none
 * FLYLOOM_RECORD_COLLECTIVES  0: collectives are left out
 * FLYLOOM_RECORD_CALLS        a folder, into which each process writes its calls: record_calls.h
 *
 * Programs that start MPI by sessions alone are not recorded, nor are processes that were started
 * by MPI_Comm_spawn, whose MPI_COMM_WORLD is another.
 */
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ROOM = 8, FIRST_SHIFT = 61 }; /* grows with more than 4 peers */

_Thread_local struct thread_record rec_thread;
int rec_on, rec_collectives = 1;
atomic_uint rec_age;
atomic_int rec_lost, rec_outside;
MPI_Group rec_world = MPI_GROUP_NULL;

static _Atomic(struct pair_table *) tables;
static pthread_key_t at_thread_end;
static char *path, *messages_path;

void *rec_real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        fprintf(stderr, "flyloom: record: the MPI library has no %s; build the recorder anew\n",
                name);
    return found;
}

struct pair_table *rec_tables(void) { return atomic_load(&tables); }

static void thread_ends(void *table) {
    if (rec_calls) {
        rec_thread.start_ns = rec_clock();
        rec_event(REC_THREAD_ENDS, 0, 0, NULL);
    }
    atomic_store(&((struct pair_table *)table)->taken, 0);
}

/* Finds a table for this thread: one of a thread that has ended, or a new one. */
struct pair_table *rec_table(void) {
    struct pair_table *table = atomic_load(&tables);
    for (; table != NULL; table = table->next) {
        int is_taken = 0;
        if (atomic_compare_exchange_strong(&table->taken, &is_taken, 1)) break;
    }
    if (table == NULL) {
        table = calloc(1, sizeof *table);
        struct pair_traffic *slots = calloc(FIRST_ROOM, sizeof *slots);
        if (table == NULL || slots == NULL) {
            free(table);
            free(slots);
            atomic_store(&rec_lost, 1);
            return NULL;
        }
        static atomic_int threads;
        *table = (struct pair_table){.slots = slots, .room = FIRST_ROOM, .shift = FIRST_SHIFT,
                                .number = atomic_fetch_add(&threads, 1)};
        atomic_init(&table->taken, 1);
        table->next = atomic_load(&tables);
        while (!atomic_compare_exchange_weak(&tables, &table->next, table)) {
        }
    }
    pthread_setspecific(at_thread_end, table);
    rec_thread.table = table;
    return table;
}

int rec_grow(struct pair_table *table) {
    struct pair_table larger = {.room = 2 * table->room, .shift = table->shift - 1};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (larger.slots == NULL) {
        atomic_store(&rec_lost, 1);
        return -1;
    }
    for (size_t i = 0; i < table->room; i++) {
        const struct pair_traffic *slot = &table->slots[i];
        if (slot->key != 0) rec_add(&larger, slot->key, slot->bytes, slot->messages);
    }
    free(table->slots);
    table->slots = larger.slots;
    table->room = larger.room;
    table->shift = larger.shift;
    return 0;
}

/* Makes a path absolute, since the program may change its folder; NULL where it cannot. */
static char *whole(const char *name) {
    if (name == NULL || name[0] == 0) return NULL;
    char *folder = name[0] == '/' ? NULL : getcwd(NULL, 0);
    size_t room = strlen(name) + (folder != NULL ? strlen(folder) : 0) + 2;
    char *text = malloc(room);
    if (text != NULL)
        snprintf(text, room, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "",
                 name);
    free(folder);
    return text;
}

static void begin(void) {
    MPI_Comm parent = MPI_COMM_NULL;
    if (PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL) return;
    if (pthread_key_create(&at_thread_end, thread_ends) != 0) return;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &rec_world) != MPI_SUCCESS) return;
    const char *name = getenv("FLYLOOM_RECORD_FILE");
    const char *asked = getenv("FLYLOOM_RECORD_COLLECTIVES");
    char *calls = whole(getenv("FLYLOOM_RECORD_CALLS"));
    path = whole(name != NULL && name[0] != 0 ? name : calls != NULL ? NULL : "communication.mtx");
    messages_path = whole(getenv("FLYLOOM_RECORD_MESSAGES"));
    rec_collectives = asked == NULL || strcmp(asked, "0") != 0;
    rec_peers_begin();
    if (calls != NULL) {
        int rank = 0, size = 1;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &size);
        rec_calls_begin(calls, rank, size);
        free(calls);
        if (rec_calls) rec_comm(MPI_COMM_WORLD);
    }
    rec_on = path != NULL || rec_calls;
}

API int MPI_Init(int *argc, char ***argv) {
    REAL(Init)
    int code = real(argc, argv);
    if (code == MPI_SUCCESS && !rec_on) begin();
    return code;
}
ALIAS(Init)

API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    REAL(Init_thread)
    int code = real(argc, argv, required, provided);
    if (code == MPI_SUCCESS && !rec_on) begin();
    return code;
}
ALIAS(Init_thread)

API int MPI_Finalize(void) {
    REAL(Finalize)
    if (rec_on) {
        rec_on = 0; /* the messages that follow are the recorder's */
        rec_calls_end();
        if (path != NULL || messages_path != NULL) rec_write(path, messages_path);
        PMPI_Group_free(&rec_world);
    }
    return real();
}
ALIAS(Finalize)

API int MPI_Abort(MPI_Comm comm, int code) {
    REAL(Abort)
    if (rec_calls) {
        uint64_t word = (uint64_t)(int64_t)code;
        rec_thread.start_ns = rec_clock();
        rec_event(REC_ABORT, 0, 1, &word);
    }
    return real(comm, code);
}
ALIAS(Abort)
