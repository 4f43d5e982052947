/* Times for LogGP parameters, between a client and a server, whatever carries their messages: the
 * client's time for some messages until one answer, with and without a delay between them; and the
 * server's for messages that have arrived. Written as `flyloom measure --times` reads them.
 *
 * Source: Hoefler, Lichei and Rehm, "Low-overhead LogGP parameter assessment for modern
 * interconnection networks", IPDPS 2007.
 */
#ifndef FLYLOOM_PRTT_H
#define FLYLOOM_PRTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A measurement of parametrised round-trip times between two processes. */
struct prtt {
    void *context;
    bool client;
    int messages, repetitions;
    double (*now_ns)(void);
    /* Sends `bytes` to the other; receives them from it. */
    void (*send)(void *context, size_t bytes);
    void (*receive)(void *context, size_t bytes);
    /* The server sends an answer of one byte; the client receives it. */
    void (*answer)(void *context);
    void (*answered)(void *context);
    /* Gives the server the client's number. */
    void (*agree)(void *context, double *number);
};

/* The times of one size in ns, each list with one for each repetition. */
struct prtt_times {
    double delay_ns, *one, *many, *spaced, *served;
};

enum { PRTT_WARM = 4 };

static inline void prtt_pass(const struct prtt *p, double ns) {
    double end = p->now_ns() + ns;
    while (ns > 0 && p->now_ns() < end) {}
}

/* For the client, the time until the answer to `messages` messages, with a delay between them; for
   the server, that for all messages but the first, with a delay before each. */
static inline double prtt_go(const struct prtt *p, int messages, size_t bytes, double mine_ns,
                             double others_ns) {
    double began = p->now_ns(), took;
    if (p->client) {
        for (int i = 0; i < messages; i++) {
            if (i != 0) prtt_pass(p, mine_ns);
            p->send(p->context, bytes);
        }
        p->answered(p->context);
        return p->now_ns() - began;
    }
    p->receive(p->context, bytes);
    began = p->now_ns();
    for (int i = 1; i < messages; i++) {
        prtt_pass(p, others_ns);
        p->receive(p->context, bytes);
    }
    took = p->now_ns() - began;
    p->answer(p->context);
    return took;
}

/* The delay that both use: longer than the median round trip of the client. */
static inline double prtt_delay(const struct prtt *p, size_t bytes) {
    double times[2 * PRTT_WARM + 1], found;
    for (int i = 0; i < PRTT_WARM; i++) prtt_go(p, 1, bytes, 0, 0);
    for (int i = 0; i < 2 * PRTT_WARM + 1; i++) {
        int at = i;
        double took = prtt_go(p, 1, bytes, 0, 0);
        for (; at > 0 && times[at - 1] > took; at--) times[at] = times[at - 1];
        times[at] = took;
    }
    found = times[PRTT_WARM] * 1.25;
    p->agree(p->context, &found);
    return found;
}

/* Measures one size: the methods take turns, so that load disturbs all alike. */
static inline void prtt_take(const struct prtt *p, size_t bytes, struct prtt_times *times) {
    double delay = times->delay_ns = prtt_delay(p, bytes);
    for (int i = 0; i < p->repetitions; i++) {
        times->one[i] = prtt_go(p, 1, bytes, 0, 0);
        times->many[i] = prtt_go(p, p->messages, bytes, 0, 0);
        times->spaced[i] = prtt_go(p, p->messages, bytes, delay, 0);
        times->served[i] = prtt_go(p, p->messages, bytes, 0, delay);
    }
}

/* A list of times, as JSON. */
static inline void prtt_list(FILE *out, const char *name, const double *values, int count) {
    fprintf(out, "\"%s\": [", name);
    for (int i = 0; i < count; i++) fprintf(out, "%s%.1f", i ? ", " : "", values[i]);
    fprintf(out, "]");
}

/* Writes the times of one size. */
static inline void prtt_write(FILE *out, const struct prtt *p, size_t bytes, bool first,
                              const struct prtt_times *times) {
    fprintf(out, "%s{\"bytes\": %zu, \"delay_ns\": %.1f,\n", first ? "" : ",\n", bytes,
            times->delay_ns);
    prtt_list(out, "one_ns", times->one, p->repetitions);
    fprintf(out, ",\n");
    prtt_list(out, "many_ns", times->many, p->repetitions);
    fprintf(out, ",\n");
    prtt_list(out, "spaced_ns", times->spaced, p->repetitions);
    fprintf(out, ",\n");
    prtt_list(out, "served_ns", times->served, p->repetitions);
    fprintf(out, "}");
}

#endif
