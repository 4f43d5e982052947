/* Measures notified puts for LogGP parameters, as `flyloom measure --times` reads them: what a
   client takes for a number of messages, with a delay between them, until one answer; and what the
   server takes for those that have arrived. */
#include "perf.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../mpi/prtt.h"

enum { MESSAGES = 16, REPETITIONS = 31, TAG_DATA = 11, TAG_ANSWER = 12, NAME = 128 };
/* Offsets in the server's window: of the delay, and of messages. */
enum { DELAY_AT = 0, DATA_AT = 4096 };

/* Facts about a rank: its host, and how many processors it may use. */
struct about {
    char name[NAME];
    int processors;
};

struct side {
    struct perf *p;
    fly_req *data, *answer;
    unsigned char *memory;
};

static void take(fly_req *req) {
    CHECKED(fly_wait(req, NULL));
    CHECKED(fly_start(req));
}

static void put(struct side *s, const void *data, size_t bytes, size_t at, int tag) {
    CHECKED(fly_put_notify(s->p->win, data, bytes, 1 - s->p->rank, at, tag));
}

static void send(void *context, size_t bytes) {
    struct side *s = context;
    put(s, s->memory, bytes, DATA_AT, TAG_DATA);
}

static void receive(void *context, size_t bytes) {
    struct side *s = context;
    (void)bytes;
    take(s->data);
}

static void answer(void *context) {
    struct side *s = context;
    put(s, s->memory, 1, DATA_AT, TAG_ANSWER);
}

static void answered(void *context) {
    struct side *s = context;
    take(s->answer);
}

static void agree(void *context, double *number) {
    struct side *s = context;
    if (s->p->rank == 0) {
        put(s, number, sizeof *number, DELAY_AT, TAG_DATA);
    } else {
        take(s->data);
        memcpy(number, s->p->base + DELAY_AT, sizeof *number);
    }
}

static void size(struct side *s, size_t bytes, bool first) {
    struct prtt prtt = {.context = s, .client = s->p->rank == 0, .messages = MESSAGES,
                        .repetitions = REPETITIONS, .now_ns = perf_now_ns, .send = send,
                        .receive = receive, .answer = answer, .answered = answered,
                        .agree = agree};
    double one[REPETITIONS], many[REPETITIONS], spaced[REPETITIONS], served[REPETITIONS];
    struct prtt_times times = {0, one, many, spaced, served};
    prtt_take(&prtt, bytes, &times);
    if (s->p->rank != 0) {
        put(s, served, sizeof served, DATA_AT, TAG_ANSWER);
        return;
    }
    take(s->answer);
    memcpy(served, s->p->base + DATA_AT, sizeof served);
    prtt_write(stdout, &prtt, bytes, first, &times);
}

/* The next size: four in each doubling, and those just above powers of two. */
static size_t after(size_t bytes, size_t most) {
    static const double ROOT[] = {1, 1.189207115002721, 1.4142135623730951, 1.6817928305074292};
    size_t best = most;
    for (size_t power = 1; power <= most; power *= 2) {
        for (int k = 0; k < 4; k++) {
            size_t found = (size_t)((double)power * ROOT[k] + 0.5);
            if (found > bytes && found < best) best = found;
        }
        if (power >= 64 && power + 1 > bytes && power + 1 < best) best = power + 1;
    }
    return best;
}

static struct about about_me(void) {
    struct about me = {"", 1};
    cpu_set_t mine;
    gethostname(me.name, sizeof me.name - 1);
    for (char *c = me.name; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '?';
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) me.processors = CPU_COUNT(&mine);
    return me;
}

/* Prints what is measured, and between whom. */
static void head(struct side *s) {
    static const char *const NAMES[] = {"?", "loop", "shm", "ofi", "msg"};
    struct about me = about_me(), other;
    int64_t transport = 0;
    if (s->p->rank != 0) {
        put(s, &me, sizeof me, DATA_AT, TAG_ANSWER);
        return;
    }
    take(s->answer);
    memcpy(&other, s->p->base + DATA_AT, sizeof other);
    if (fly_win_query(s->p->win, FLY_Q_TRANSPORT, 1, &transport) != FLY_OK || transport < 0 ||
        transport > 4)
        transport = 0;
    printf("{\"flyloom_samples\": 1, \"what\": \"loggp\", \"of\": \"put_notify, %s\", "
           "\"library\": \"libflyloom\",\n\"hosts\": [\"%s\", \"%s\"], "
           "\"processors\": [%d, %d],\n\"messages\": %d, \"repetitions\": %d,\n\"sizes\": [\n",
           NAMES[transport], me.name, other.name, me.processors, other.processors, MESSAGES,
           REPETITIONS);
}

void perf_loggp(struct perf *p, size_t most) {
    size_t room = most > sizeof(double) * REPETITIONS ? most : sizeof(double) * REPETITIONS;
    struct side s = {.p = p, .memory = calloc(room, 1)};
    if (s.memory == NULL) {
        fprintf(stderr, "flyloom-perf: no memory for %zu bytes\n", room);
        exit(3);
    }
    CHECKED(fly_notify_init(p->win, 1 - p->rank, TAG_DATA, 1, &s.data));
    CHECKED(fly_notify_init(p->win, 1 - p->rank, TAG_ANSWER, 1, &s.answer));
    CHECKED(fly_start(s.data));
    CHECKED(fly_start(s.answer));
    CHECKED(fly_fence(p->win));
    head(&s);
    for (size_t bytes = 1;; bytes = after(bytes, most)) {
        size(&s, bytes, bytes == 1);
        if (bytes == most) break;
    }
    if (p->rank == 0) printf("\n]}\n");
    CHECKED(fly_cancel(s.data, NULL));
    CHECKED(fly_cancel(s.answer, NULL));
    CHECKED(fly_req_free(&s.data));
    CHECKED(fly_req_free(&s.answer));
    free(s.memory);
}
