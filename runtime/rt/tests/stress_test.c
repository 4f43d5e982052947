/* All ranks send to all, with few credits and a short unexpected list: nothing is lost, duplicated,
 * reordered or torn. With "kill" one process dies meanwhile, or even before, and the others must
 * notice it; with "later" it dies when all have begun.
 *
 *   stress_test TRANSPORTS threads|processes|kill|later RANKS
 *               [MESSAGES [SEED [CREDITS [UNEXPECTED]]]]
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "check.h"
#include "ranks.h"

enum { WINDOW = 4, PIECE = 8192, TAG_DATA = 1, TAG_TAKEN = 2, FILES = 256 };
enum { MOST_RANKS = 64 };

/* For each rank the name of one of its sockets, in memory that all of them share. */
struct names {
    char of[MOST_RANKS][sizeof((struct sockaddr_un *)NULL)->sun_path];
};

struct options {
    const char *transports;
    uint64_t messages, seed;
    uint32_t credits;
    uint64_t unexpected;
    bool kill;
    struct names *sockets;
};

struct side {
    uint64_t sent, unanswered; /* counts of messages to a rank */
    uint64_t next, owed;       /* counts of messages from a rank */
};

struct state {
    const struct options *options;
    int rank, size;
    fly_win *win;
    unsigned char *base;
    struct side *sides;
    fly_req *any, **each; /* each: requests that only a death completes */
    uint64_t random, to_send, to_take;
    int failure;
};

/* The size and bytes of message n from one rank to another, known at both ends. */
static size_t content(int from, int to, uint64_t n, unsigned char *bytes) {
    uint64_t state = n * 1000003 + (uint64_t)from * 131 + (uint64_t)to;
    size_t size = below(&state, 4) == 0 ? below(&state, PIECE) : below(&state, 60);
    uint64_t word = draw(&state);
    for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(word >> i % 57) ^ (unsigned char)i;
    return size;
}

static uint64_t place(const struct state *s, int from, uint64_t n) {
    return ((uint64_t)from * WINDOW + n % WINDOW) * PIECE + 0 * (uint64_t)s->size;
}

/* Passes on FLY_OK and allowed errors; any other error ends the test. */
static int allowed(struct state *s, int code) {
    if (code == FLY_ERR_PEER && s->options->kill) {
        s->failure = code;
        return code;
    }
    CHECK(code == FLY_OK || code == FLY_ERR_TIMEOUT, "rank %d: %d: %s", s->rank, code,
          fly_last_error(NULL));
    return code;
}

/* Takes a notification; returns whether there was one. */
static bool take(struct state *s) {
    static _Thread_local unsigned char wanted[PIECE];
    fly_status status;
    int flag;
    if (allowed(s, fly_test(s->any, &flag, &status)) != FLY_OK || !flag) return false;
    CHECK(status.count == 1 && status.source >= 0 && status.source < s->size, "status");
    struct side *side = &s->sides[status.source];
    if (status.tag == TAG_TAKEN) {
        CHECK(side->unanswered > 0, "an answer twice");
        side->unanswered--;
    } else {
        uint64_t n = side->next++;
        size_t size = content(status.source, s->rank, n, wanted), inside;
        CHECK(status.tag == TAG_DATA, "tag %d", status.tag);
        CHECK(memcmp(s->base + place(s, status.source, n), wanted, size) == 0,
              "rank %d: message %lu of %d is torn or out of order", s->rank, (unsigned long)n,
              status.source);
        const void *data = fly_inline(s->any, &inside);
        CHECK(data == NULL || (inside == size && memcmp(data, wanted, size) == 0), "inside");
        side->owed++;
        s->to_take--;
    }
    CHECK(fly_start(s->any) == FLY_OK, "start");
    return true;
}

static void answer(struct state *s) {
    for (int r = 0; r < s->size && s->failure == FLY_OK; r++) {
        struct side *side = &s->sides[r];
        while (side->owed > 0 &&
               allowed(s, fly_put_notify(s->win, NULL, 0, r, 0, TAG_TAKEN)) == FLY_OK)
            side->owed--;
    }
}

static void send_one(struct state *s) {
    static _Thread_local unsigned char bytes[PIECE];
    int to = (int)below(&s->random, (uint64_t)s->size);
    struct side *side = &s->sides[to];
    if (s->to_send == 0 || side->unanswered >= WINDOW) return;
    if (side->sent == s->options->messages) return;
    size_t size = content(s->rank, to, side->sent, bytes);
    int code = fly_put_notify(s->win, bytes, size, to, place(s, s->rank, side->sent), TAG_DATA);
    if (allowed(s, code) != FLY_OK) return;
    CHECK(size <= 40 || fly_flush_local(s->win, to) == FLY_OK || s->options->kill, "flush_local");
    side->sent++;
    side->unanswered++;
    s->to_send--;
}

static void listen_to_each(struct state *s) {
    s->each = calloc((size_t)s->size, sizeof *s->each);
    for (int r = 0; r < s->size; r++) {
        CHECK(fly_notify_init(s->win, r, 99, 1, &s->each[r]) == FLY_OK, "init");
        CHECK(fly_start(s->each[r]) == FLY_OK, "start");
    }
}

static void free_each(struct state *s) {
    for (int r = 0; r < s->size; r++) {
        CHECK(fly_cancel(s->each[r], NULL) == FLY_OK, "cancel");
        CHECK(fly_req_free(&s->each[r]) == FLY_OK, "free");
    }
    free(s->each);
}

static void hear_of_death(struct state *s) {
    size_t index;
    int flag;
    fly_status status;
    if (!s->options->kill || s->failure != FLY_OK) return;
    int code = allowed(s, fly_testany((size_t)s->size, s->each, &index, &flag, &status));
    CHECK(code == FLY_ERR_PEER ? status.error == code : !flag, "%d", flag);
}

static bool open_answers(const struct state *s) {
    for (int r = 0; r < s->size; r++)
        if (s->sides[r].unanswered != 0 || s->sides[r].owed != 0) return true;
    return false;
}

/* Notes the name of a socket of this process, if it has one. */
static void note_socket(char *name) {
    for (int file = 3; file < FILES; file++) {
        struct sockaddr_un address = {0};
        socklen_t length = sizeof address - 1;
        if (getsockname(file, (struct sockaddr *)&address, &length) == 0 &&
            address.sun_family == AF_UNIX && address.sun_path[0] == 0 && address.sun_path[1] != 0)
            memcpy(name, address.sun_path + 1, sizeof address.sun_path - 1);
    }
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    struct state whole = {.options = options, .rank = boot->rank, .size = boot->size}, *s = &whole;
    fly_config config = {.transports = options->transports, .credits = options->credits};
    config.unexpected_max = options->unexpected;
    config.timeout_ms = options->kill ? 10 * HANG_S * 1000 : 1; /* a death is no time-out */
    fly_rt *rt;
    int code = fly_init(boot, &config, &rt);
    if (code != FLY_OK && options->kill) return 0; /* killed that early: said, and left */
    CHECK(code == FLY_OK, "%s", fly_last_error(NULL));
    if (options->sockets != NULL) note_socket(options->sockets->of[boot->rank]);
    size_t bytes = (size_t)s->size * WINDOW * PIECE;
    code = fly_win_allocate(fly_world(rt), bytes, 1, 0, (void **)&s->base, &s->win);
    if (code == FLY_ERR_PEER && options->kill) return fly_finalize(&rt) != FLY_ERR_PEER;
    CHECK(code == FLY_OK, "%s", fly_last_error(NULL));
    rank_has_begun();
    s->sides = calloc((size_t)s->size, sizeof *s->sides);
    s->random = options->seed * 77 + (uint64_t)s->rank;
    s->to_send = s->to_take = options->messages * (uint64_t)s->size;
    CHECK(fly_notify_init(s->win, FLY_ANY_SOURCE, FLY_ANY_TAG, 1, &s->any) == FLY_OK, "init");
    CHECK(fly_start(s->any) == FLY_OK, "start");
    listen_to_each(s);
    while (s->failure == FLY_OK && (s->to_send != 0 || s->to_take != 0 || open_answers(s))) {
        while (take(s)) continue;
        if (s->failure == FLY_OK) answer(s);
        if (s->failure == FLY_OK) send_one(s);
        hear_of_death(s);
        if (below(&s->random, 16) == 0) sched_yield();
    }
    CHECK(!options->kill || s->failure == FLY_ERR_PEER, "rank %d never heard of a death", s->rank);
    int dead = options->kill ? FLY_ERR_PEER : FLY_OK;
    free_each(s);
    CHECK(fly_cancel(s->any, NULL) == FLY_OK, "cancel");
    CHECK(fly_req_free(&s->any) == FLY_OK, "free");
    CHECK(fly_win_free(&s->win) == dead && s->win == NULL, "win_free: %s", fly_last_error(NULL));
    CHECK(fly_finalize(&rt) == dead && rt == NULL, "finalize: %s", fly_last_error(NULL));
    free(s->sides);
    return 0;
}

static struct names *shared_names(int ranks) {
    CHECK(ranks <= MOST_RANKS, "%d ranks", ranks);
    struct names *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(made != MAP_FAILED, "mmap");
    return made;
}

/* Whether the kernel still has a socket of one of the names. */
static bool known(const struct names *sockets) {
    char line[512];
    bool found = false;
    FILE *file = fopen("/proc/net/unix", "r");
    CHECK(file != NULL, "/proc/net/unix");
    while (fgets(line, sizeof line, file) != NULL)
        for (int rank = 0; rank < MOST_RANKS; rank++)
            found |= sockets->of[rank][0] != 0 && strstr(line, sockets->of[rank]) != NULL;
    fclose(file);
    return found;
}

/* Checks that no socket is left; the kernel may still be ending its last process. */
static void left_behind(const struct options *options) {
    struct timespec nap = {0, 100 * 1000000L};
    for (double end = now_s() + VAIN_S; known(options->sockets) && now_s() < end;)
        nanosleep(&nap, NULL);
    CHECK(!known(options->sockets), "a socket is left");
}

int main(int count, char **words) {
    CHECK(count > 3, "stress_test TRANSPORTS threads|processes|kill|later RANKS [MESSAGES [SEED");
    struct options options = {.transports = words[1]};
    int ranks = atoi(words[3]), result;
    options.messages = argument(count, words, 4, 500);
    options.seed = argument(count, words, 5, 1);
    options.credits = (uint32_t)argument(count, words, 6, 1);
    options.unexpected = argument(count, words, 7, 4);
    bool later = strcmp(words[2], "later") == 0;
    options.kill = later || strcmp(words[2], "kill") == 0;
    if (strcmp(words[2], "threads") == 0) {
        result = run_threads(ranks, body, &options);
    } else if (!options.kill) {
        options.sockets = shared_names(ranks);
        result = run_processes(ranks, body, &options);
        CHECK(strcmp(words[1], "shm") != 0 || options.sockets->of[0][0] != 0, "no name is noted");
        left_behind(&options);
    } else {
        uint64_t state = options.seed;
        int victim = (int)below(&state, (uint64_t)ranks);
        unsigned after = (unsigned)below(&state, 150000);
        options.messages = UINT64_MAX / 1000;
        options.credits = 8;
        options.unexpected = 1000000;
        options.sockets = shared_names(ranks);
        result = later ? run_and_kill_begun(ranks, body, &options, victim, after)
                       : run_and_kill(ranks, body, &options, victim, after);
        left_behind(&options);
    }
    CHECK(result == 0, "result %d", result);
    printf("stress_test: %s, %s, %d ranks, seed %lu\n", words[1], words[2], ranks,
           (unsigned long)options.seed);
    return 0;
}
