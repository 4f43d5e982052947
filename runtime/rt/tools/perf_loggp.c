/* Times of notified puts for LogGP parameters, as `flyloom measure --times` reads them: what a
   client takes for so many, with a delay between them, until one answer; and what the server takes
   for those that are there. */
#include "perf.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 16, REPETITIONS = 31, WARM = 4, TAG_DATA = 11, TAG_ANSWER = 12, NAME = 128 };
/* Where the delay stands in the server's window, and where messages go. */
enum { DELAY_AT = 0, DATA_AT = 4096 };

/* Of a rank: its host, and how many processors it may use. */
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

static void pass(double ns) {
    double end = perf_now_ns() + ns;
    while (perf_now_ns() < end) {}
}

/* The client's time until the answer to so many messages, with a delay between them; the server's
   for all messages but the first, with a delay before each. */
static double go(struct side *s, int messages, size_t bytes, double mine, double others) {
    double began = perf_now_ns();
    if (s->p->rank == 0) {
        for (int i = 0; i < messages; i++) {
            if (i != 0 && mine > 0) pass(mine);
            put(s, s->memory, bytes, DATA_AT, TAG_DATA);
        }
        take(s->answer);
        return perf_now_ns() - began;
    }
    take(s->data);
    began = perf_now_ns();
    for (int i = 1; i < messages; i++) {
        if (others > 0) pass(others);
        take(s->data);
    }
    double took = perf_now_ns() - began;
    put(s, s->memory, 1, DATA_AT, TAG_ANSWER);
    return took;
}

/* The delay that both keep: longer than a round trip, as the client saw it. */
static double delay_of(struct side *s, size_t bytes) {
    double times[2 * WARM + 1], found;
    for (int i = 0; i < WARM; i++) go(s, 1, bytes, 0, 0);
    for (int i = 0; i < 2 * WARM + 1; i++) times[i] = go(s, 1, bytes, 0, 0);
    perf_sort(times, 2 * WARM + 1);
    found = times[WARM] * 1.25;
    if (s->p->rank == 0) {
        put(s, &found, sizeof found, DELAY_AT, TAG_DATA);
    } else {
        take(s->data);
        memcpy(&found, s->p->base + DELAY_AT, sizeof found);
    }
    return found;
}

static void list(const char *name, const double *values, const char *end) {
    printf("\"%s\": [", name);
    for (int i = 0; i < REPETITIONS; i++) printf("%s%.1f", i ? ", " : "", values[i]);
    printf("]%s", end);
}

static void size(struct side *s, size_t bytes, bool first) {
    double one[REPETITIONS], many[REPETITIONS], spaced[REPETITIONS], served[REPETITIONS];
    double delay = delay_of(s, bytes);
    for (int i = 0; i < REPETITIONS; i++) {
        one[i] = go(s, 1, bytes, 0, 0);
        many[i] = go(s, MESSAGES, bytes, 0, 0);
        spaced[i] = go(s, MESSAGES, bytes, delay, 0);
        served[i] = go(s, MESSAGES, bytes, 0, delay);
    }
    if (s->p->rank != 0) {
        put(s, served, sizeof served, DATA_AT, TAG_ANSWER);
        return;
    }
    take(s->answer);
    memcpy(served, s->p->base + DATA_AT, sizeof served);
    printf("%s{\"bytes\": %zu, \"delay_ns\": %.1f,\n", first ? "" : ",\n", bytes, delay);
    list("one_ns", one, ",\n");
    list("many_ns", many, ",\n");
    list("spaced_ns", spaced, ",\n");
    list("served_ns", served, "}");
}

/* Four sizes in each doubling, and those just above powers of two. */
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

/* What is measured, and between whom. */
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
