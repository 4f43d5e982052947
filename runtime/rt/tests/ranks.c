/* Runs a function as several ranks: threads of this process, or processes with the file bootstrap.
 */
#include "ranks.h"

#include <glob.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct gathering {
    pthread_mutex_t lock;
    pthread_cond_t turned;
    int size, here;
    unsigned long round;
    const void **mine;
};

struct seat {
    gathering *g;
    int rank;
    struct seat *next;
};

gathering *gathering_new(int size) {
    gathering *g = calloc(1, sizeof *g);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->turned, NULL);
    g->size = size;
    g->mine = calloc((size_t)size, sizeof *g->mine);
    return g;
}

void gathering_end(gathering *g) {
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->turned);
    free(g->mine);
    free(g);
}

static void meet(gathering *g) {
    pthread_mutex_lock(&g->lock);
    unsigned long round = g->round;
    if (++g->here == g->size) {
        g->here = 0;
        g->round++;
        pthread_cond_broadcast(&g->turned);
    }
    while (g->round == round) pthread_cond_wait(&g->turned, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static int gather(void *ctx, const void *mine, void *all, size_t bytes) {
    struct seat *seat = ctx;
    gathering *g = seat->g;
    g->mine[seat->rank] = mine;
    meet(g);
    for (int r = 0; r < g->size; r++) memcpy((char *)all + (size_t)r * bytes, g->mine[r], bytes);
    meet(g);
    return 0;
}

/* Makes a bootstrap of a gathering; free(boot.ctx) frees it. */
fly_boot gathering_boot(gathering *g, int rank) {
    struct seat *seat = malloc(sizeof *seat);
    *seat = (struct seat){g, rank, NULL};
    return (fly_boot){.rank = rank, .size = g->size, .ctx = seat, .allgather = gather};
}

struct thread {
    pthread_t thread;
    gathering *g;
    int rank, result;
    rank_body *body;
    void *context;
};

static void *in_thread(void *context) {
    struct thread *thread = context;
    fly_boot boot = gathering_boot(thread->g, thread->rank);
    thread->result = thread->body(&boot, thread->context);
    free(boot.ctx);
    return NULL;
}

int run_threads(int ranks, rank_body *body, void *context) {
    gathering *g = gathering_new(ranks);
    struct thread *threads = calloc((size_t)ranks, sizeof *threads);
    int result = 0;
    for (int r = 0; r < ranks; r++) {
        threads[r] = (struct thread){.g = g, .rank = r, .body = body, .context = context};
        pthread_create(&threads[r].thread, NULL, in_thread, &threads[r]);
    }
    for (int r = 0; r < ranks; r++) {
        pthread_join(threads[r].thread, NULL);
        if (result == 0) result = threads[r].result;
    }
    free(threads);
    gathering_end(g);
    return result;
}

double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int wait_all(int ranks, const pid_t *children) {
    double end = now_s() + HANG_S;
    int left = ranks, result = 0;
    while (left > 0) {
        int status;
        pid_t one = waitpid(-1, &status, WNOHANG);
        if (one > 0) {
            left--;
            int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            if (result == 0) result = code;
        } else if (now_s() > end) {
            fprintf(stderr, "run_processes: %d ranks still there after %d s\n", left, HANG_S);
            for (int r = 0; r < ranks; r++) kill(children[r], SIGKILL);
            end = now_s() + HANG_S;
            result = 99;
        } else {
            struct timespec nap = {0, 2000000};
            nanosleep(&nap, NULL);
        }
    }
    return result;
}

/* Enters the network namespace of a rank: those of FLYLOOM_TEST_NODES take turns. */
static void enter_node(int rank) {
    const char *names = getenv("FLYLOOM_TEST_NODES");
    if (names == NULL) return;
    int count = 1;
    for (const char *at = names; *at != 0; at++) count += *at == ',';
    for (int skip = rank % count; skip > 0; skip--) names = strchr(names, ',') + 1;
    char path[300];
    snprintf(path, sizeof path, "/run/netns/%.*s", (int)strcspn(names, ","), names);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || setns(file, CLONE_NEWNET) != 0) {
        fprintf(stderr, "rank %d: %s cannot be entered\n", rank, path);
        exit(95);
    }
    close(file);
}

/* Sets the place for multicast of a rank: those of FLYLOOM_TEST_PLACES take turns. */
static void choose_place(int rank) {
    char names[400], *at = names, *one;
    const char *places = getenv("FLYLOOM_TEST_PLACES");
    if (places == NULL || strlen(places) >= sizeof names) return;
    int count = 1;
    for (const char *c = places; *c != 0; c++) count += *c == ',';
    strcpy(names, places);
    for (int skip = rank % count; (one = strsep(&at, ",")) != NULL && skip > 0; skip--) continue;
    setenv("FLYLOOM_MULTICAST", one, 1);
}

/* Forks the ranks and returns the children; never returns in a child. */
static pid_t *fork_ranks(int ranks, rank_body *body, void *context, const char *folder) {
    pid_t *children = calloc((size_t)ranks, sizeof *children);
    fflush(NULL);
    for (int r = 0; r < ranks; r++) {
        children[r] = fork();
        if (children[r] != 0) continue;
        free(children);
        enter_node(r);
        choose_place(r);
        fly_boot boot;
        int code = fly_boot_files(folder, r, ranks, &boot);
        if (code != FLY_OK) {
            fprintf(stderr, "rank %d: %s\n", r, fly_last_error(NULL));
            exit(97);
        }
        code = body(&boot, context);
        fly_boot_files_free(&boot);
        exit(code);
    }
    return children;
}

/* Waits until all have come to the folder, since nobody could know of one that never came. */
static void await_all(int ranks, const char *folder) {
    char pattern[FOLDER_BYTES + 32];
    size_t there = 0;
    snprintf(pattern, sizeof pattern, "%s/flyloom.alive*", folder);
    while (there < (size_t)ranks) {
        glob_t found;
        struct timespec nap = {0, 1000000};
        if (glob(pattern, 0, NULL, &found) == 0) {
            there = found.gl_pathc;
            globfree(&found);
        }
        nanosleep(&nap, NULL);
    }
}

bool new_folder(char path[FOLDER_BYTES]) {
    const char *place = getenv("TMPDIR");
    int length = snprintf(path, FOLDER_BYTES, "%s/flyloom-test-XXXXXX", place ? place : "/tmp");
    return length < FOLDER_BYTES && mkdtemp(path) != NULL;
}

/* How many ranks have begun, in memory of all ranks; NULL: nobody counts. */
static atomic_int *begun;

void rank_has_begun(void) {
    if (begun != NULL) atomic_fetch_add(begun, 1);
}

/* Waits until all have begun, or gives up after the time that a hanging rank would take. */
static void await_begun(int ranks) {
    for (double end = now_s() + HANG_S; now_s() < end && atomic_load(begun) < ranks;) {
        struct timespec nap = {0, 1000000};
        nanosleep(&nap, NULL);
    }
}

static int run(int ranks, rank_body *body, void *context, int victim, unsigned microseconds) {
    char folder[FOLDER_BYTES];
    if (!new_folder(folder)) return 98;
    pid_t *children = fork_ranks(ranks, body, context, folder);
    if (victim >= 0) {
        await_all(ranks, folder);
        if (begun != NULL) await_begun(ranks);
        struct timespec nap = {microseconds / 1000000, microseconds % 1000000 * 1000};
        nanosleep(&nap, NULL);
        kill(children[victim], SIGKILL);
        waitpid(children[victim], NULL, 0);
        ranks--;
        for (int r = victim; r < ranks; r++) children[r] = children[r + 1];
    }
    int result = wait_all(ranks, children);
    free(children);
    if (rmdir(folder) != 0) {
        fprintf(stderr, "run: %s is not empty\n", folder);
        if (result == 0) result = 96;
    }
    return result;
}

int run_processes(int ranks, rank_body *body, void *context) {
    return run(ranks, body, context, -1, 0);
}

int run_and_kill(int ranks, rank_body *body, void *context, int victim, unsigned microseconds) {
    return run(ranks, body, context, victim, microseconds);
}

int run_and_kill_begun(int ranks, rank_body *body, void *context, int victim,
                       unsigned microseconds) {
    begun = mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (begun == MAP_FAILED) return 98;
    int result = run(ranks, body, context, victim, microseconds);
    munmap(begun, sizeof *begun);
    begun = NULL;
    return result;
}
