/* The file of calls of a process: a window of it is mapped, so that nothing of it is lost whatever
 * ends the process. Several threads may write; an event is written under a lock.
 */
#define _GNU_SOURCE
#include "record.h"

#include "file_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 1 << 18, POLLING_NS = 1000 };

int rec_calls;

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static unsigned char *window;
static uint64_t window_at, at; /* bytes of the file: where the window begins, what is written */
static uint64_t polled_at;     /* where the last event is, if that is a REC_POLL */
static int polled_by;
static atomic_uint_fast64_t operations, groups;
static char *name;

static void give_up(int why) {
    fprintf(stderr, "flyloom: record: %s: cannot be written: %s: the record ends here\n", name,
            file_limit_why(why));
    rec_calls = 0;
}

/* Maps the window that has the next byte; returns 0, or errno. */
static int next_window(void) {
    struct file_limit limit;
    if (window != NULL) munmap(window, WINDOW);
    window = NULL;
    file_limit_begin(&limit);
    int failed = posix_fallocate(file, (off_t)at, WINDOW);
    if (file_limit_end(&limit) && failed == 0) failed = EFBIG;
    if (failed != 0) return failed;
    void *mapped = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)at);
    if (mapped == MAP_FAILED) return errno;
    window = mapped;
    window_at = at;
    return 0;
}

static void put(const uint64_t *words, size_t count) {
    for (size_t i = 0; i < count && rec_calls; i++) {
        if (window == NULL || at - window_at == WINDOW) {
            int failed = next_window();
            if (failed != 0) {
                give_up(failed);
                return;
            }
        }
        memcpy(window + (at - window_at), &words[i], sizeof *words);
        at += sizeof *words;
    }
}

void rec_calls_begin(const char *folder, int rank, int size) {
    size_t room = strlen(folder) + 40;
    if ((name = malloc(room)) == NULL) return;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        snprintf(name, room, "%s", folder);
    else
        snprintf(name, room, "%s/run-%d.calls", folder, rank);
    file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        give_up(errno);
        return;
    }
    rec_calls = 1;
    const uint64_t head[] = {REC_MAGIC, (uint64_t)rank, (uint64_t)size};
    put(head, 3);
    rec_thread.start_ns = rec_clock();
    rec_event(REC_BEGIN, 0, 0, NULL);
}

void rec_calls_end(void) {
    if (!rec_calls) return;
    rec_thread.start_ns = rec_clock();
    rec_event(REC_END, 0, 0, NULL);
    pthread_mutex_lock(&writing);
    rec_calls = 0;
    if (window != NULL) munmap(window, WINDOW);
    window = NULL;
    if (ftruncate(file, (off_t)at) != 0) errno = 0; /* zeros at the end are no events */
    close(file);
    free(name);
    pthread_mutex_unlock(&writing);
}

/* A thread that asks again and again: its last event is that, and it did nothing else for long. */
static int polls_on(int thread) {
    const struct thread_record *mine = &rec_thread;
    if (polled_at == 0 || polled_by != thread) return 0;
    uint64_t *end = (uint64_t *)(void *)(window + (polled_at - window_at)) + 2;
    if (mine->start_ns - *end > POLLING_NS) return 0;
    *end = rec_clock();
    return 1;
}

void rec_event(enum rec_kind kind, unsigned flags, size_t count, const uint64_t *words) {
    struct pair_table *table = rec_thread.table != NULL ? rec_thread.table : rec_table();
    int thread = table != NULL ? table->number & 255 : 0;
    pthread_mutex_lock(&writing);
    if (rec_calls && !(kind == REC_POLL && polls_on(thread))) {
        uint64_t begin = at;
        uint64_t head[3] = {(uint64_t)kind | (uint64_t)thread << 8 | (uint64_t)flags << 16 |
                                (uint64_t)count << 32,
                            rec_thread.start_ns, rec_clock()};
        put(head, 3);
        put(words, count);
        /* an event that may grow must lie in one window */
        polled_at = kind == REC_POLL && window != NULL && begin >= window_at ? begin : 0;
        polled_by = thread;
    }
    pthread_mutex_unlock(&writing);
}

static void plan(enum rec_kind kind, unsigned flags, size_t count, const uint64_t *words,
                 const struct peers *any) {
    struct rec_op *op = &rec_thread.plan->op;
    uint64_t *kept = malloc(count * sizeof *kept);
    if (kept == NULL) {
        atomic_store(&rec_lost, 1);
        return;
    }
    memcpy(kept, words, count * sizeof *kept);
    *op = (struct rec_op){kind, flags | REC_LATER, count, kept, any};
    if (any != NULL) atomic_fetch_add(&((struct peers *)any)->users, 1);
}

uint64_t rec_begins(enum rec_kind kind, unsigned flags, size_t count, uint64_t *words,
                    const struct peers *any) {
    if (rec_thread.plan != NULL) {
        plan(kind, flags, count, words, any);
        return REC_ANY;
    }
    words[0] = atomic_fetch_add(&operations, 1);
    if (rec_thread.request != NULL) {
        flags |= REC_LATER;
        rec_flies((uintptr_t)*rec_thread.request, words[0], any);
    }
    rec_event(kind, flags, count, words);
    return words[0];
}

void rec_starts(uintptr_t request, const struct rec_op *op) {
    op->words[0] = atomic_fetch_add(&operations, 1);
    rec_thread.also = REC_ANY;
    rec_flies(request, op->words[0], op->any);
    rec_event(op->kind, op->flags, op->count, op->words);
}

void rec_group(struct peers *of, unsigned flags) {
    size_t other = of->inter ? (size_t)of->size : 0, own = (size_t)of->own, count = 3 + own + other;
    uint64_t *words = malloc(count * sizeof *words);
    of->number = atomic_fetch_add(&groups, 1);
    if (words == NULL) {
        atomic_store(&rec_lost, 1);
        return;
    }
    words[0] = of->number;
    words[1] = own;
    words[2] = other;
    const int *mine = of->inter ? of->own_world : of->world;
    for (size_t i = 0; i < own; i++)
        words[3 + i] = mine == NULL ? i : mine[i] < 0 ? REC_ANY : (uint64_t)mine[i];
    for (size_t i = 0; i < other; i++)
        words[3 + own + i] = of->world == NULL ? i : of->world[i] < 0 ? REC_ANY
                                                                      : (uint64_t)of->world[i];
    rec_event(REC_GROUP, flags, count, words);
    free(words);
}

uint64_t rec_message(const struct peers *of, int peer, int tag, uint64_t bytes, int comes,
                     int later) {
    if (of == NULL || (peer < 0 && peer != MPI_ANY_SOURCE)) return REC_ANY;
    int is_any = comes && (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG);
    int world = peer < 0 ? -1 : rec_world_rank(of, peer);
    if (world < 0 && peer >= 0) return REC_ANY; /* a process of MPI_Comm_spawn */
    uint64_t words[5] = {0, of->number, peer < 0 ? REC_ANY : (uint64_t)world,
                         tag == MPI_ANY_TAG ? REC_ANY : (uint64_t)tag, bytes};
    return rec_begins(comes ? REC_RECV : REC_SEND, later ? REC_LATER : 0, 5, words,
                      is_any ? of : NULL);
}
