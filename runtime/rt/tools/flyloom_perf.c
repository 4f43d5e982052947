/* flyloom-perf: what a transport achieves on this machine, beside a ring written by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"
#include "perf_parts.h"

enum { LIMIT_S = 3600, SIZES_MOST = 16 };

static const char PROGRAM[] = "flyloom-perf";

static const char USAGE[] =
    "flyloom-perf [--transports LIST] [--bytes N[,N...]] [--repetitions N] [--json] [--loggp N]\n"
    "flyloom-perf --collectives RANKS [--repetitions N] [--json]\n"
    "flyloom-perf explain OPERATION --ranks N [--bytes N] [--loggp FILE | --crowd N] [--ordered]\n"
    "flyloom-perf overlap [--transports LIST] [--bytes N[,N...]] [--repetitions N] [--json]\n"
    "flyloom-perf model [--transports LIST] [--ranks N[,N...]] [--repetitions N]\n"
    "                   [--ask RANKS,NEIGHBOURS,BYTES] [--json]\n"
    "flyloom-perf multicast [--ranks N] [--bytes N] [--lost PERCENT] [--repetitions N] [--json]\n"
    "\n"
    "Measures between two processes that it starts, or between two that are started with\n"
    "FLYLOOM_RANK, FLYLOOM_SIZE=2 and FLYLOOM_BOOT, on two nodes perhaps: latency (half a round\n"
    "trip of a matched notification; median and 99th percentile) beside one by hand in the same\n"
    "run, a ring where memory is shared and else TCP sockets; with an empty list, with 64 posted\n"
    "requests and with 2048 notifications that nobody takes; then rate and bandwidth (time for\n"
    "each of many messages; median and largest of 15 rounds).\n"
    "\n"
    "flyloom-perf --loggp BYTES prints instead the times that LogGP parameters are found from,\n"
    "for sizes up to BYTES: flyloom measure --times FILE.\n"
    "\n"
    "--collectives: barrier and others between that many processes. explain: the algorithms of a\n"
    "collective with the times that the model predicts, and which one is chosen; --crowd: where\n"
    "that number of ranks of a node share a processor.\n"
    "overlap: how much of the time of an operation computation hides, with progress by calls and\n"
    "by a thread. model: what each call costs by size, processes and neighbours, fitted to what\n"
    "is measured here, with residuals, beside published models; and whether fence, or post,\n"
    "start, complete and wait, is cheaper for these processes and neighbours.\n"
    "multicast: broadcasts by it, without loss and with, beside others, until all have them.\n";

struct options {
    const char *transports;
    size_t bytes[SIZES_MOST];
    int count;
    uint64_t repetitions, loggp; /* loggp: the largest size, or 0 */
    uint64_t ranks;              /* ranks of collectives; 0: these are not measured */
    bool json;
};

static int read_options(int count, char **words, struct options *options) {
    *options = (struct options){NULL, {8, 64, 4096, 32768, 1 << 20}, 5, 20000, 0, 0, false};
    if (getenv("FLYLOOM_RANK") == NULL) options->transports = "shm";
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        int code = 0;
        if (strcmp(words[i], "--json") == 0) {
            options->json = true;
            continue;
        }
        if (strcmp(words[i], "--help") == 0) {
            fputs(USAGE, stdout);
            exit(0);
        }
        if (strcmp(words[i], "--transports") == 0) {
            options->transports = value;
        } else if (strcmp(words[i], "--bytes") == 0) {
            code = perf_read_list(PROGRAM, "--bytes", value, 0, 1 << 22, options->bytes,
                                  SIZES_MOST, &options->count);
        } else if (strcmp(words[i], "--collectives") == 0) {
            code = perf_read_number(PROGRAM, "--collectives", value, 1, 64, &options->ranks);
        } else if (strcmp(words[i], "--repetitions") == 0) {
            code = perf_read_number(PROGRAM, "--repetitions", value, 1, 100000000,
                                    &options->repetitions);
        } else if (strcmp(words[i], "--loggp") == 0) {
            code = perf_read_number(PROGRAM, "--loggp", value, 4, 1 << 22, &options->loggp);
        } else {
            fprintf(stderr, "flyloom-perf: \"%s\" is no option\n%s", words[i], USAGE);
            return 2;
        }
        if (code != 0) return code;
        i++;
    }
    return 0;
}

static int measure(const fly_boot *boot, const struct options *options) {
    struct perf p = {.repetitions = options->repetitions, .json = options->json};
    for (int i = 0; i < options->count; i++)
        if (options->bytes[i] > p.bytes_most) p.bytes_most = options->bytes[i];
    if (options->loggp > p.bytes_most) p.bytes_most = options->loggp;
    if (perf_open(boot, options->transports, &p) != FLY_OK) {
        fprintf(stderr, "flyloom-perf: %s\n", fly_last_error(NULL));
        return 2;
    }
    if (options->loggp != 0) {
        perf_loggp(&p, options->loggp);
        p.json = false; /* since that would close the list of rows */
        return perf_close(&p) == FLY_OK ? 0 : 3;
    }
    if (p.raw == NULL) p.raw = perf_sockets(&p);
    struct perf_method methods[] = {perf_notified, p.raw != NULL ? *p.raw : perf_raw};
    int count = p.raw != NULL ? 2 : 1;
    for (int i = 0; i < options->count; i++) {
        struct perf_times times[2];
        perf_latency(&p, methods, count, options->bytes[i], times);
        double raw = count == 2 ? times[1].median_ns : 0;
        for (int w = 0; w < count; w++) {
            char what[64];
            snprintf(what, sizeof what, "latency: %s", methods[w].name);
            perf_row(&p, what, options->bytes[i], &times[w], raw);
        }
    }
    p.raw_numbers = methods[1].sent;
    if (p.other != NULL && p.bytes_most >= 8) perf_used(&p);
    perf_posted(&p, 64);
    perf_unmatched(&p, 2048);
    perf_rate(&p, 8);
    for (int i = 0; i < options->count; i++)
        if (options->bytes[i] >= 4096) perf_bandwidth(&p, options->bytes[i]);
    return perf_close(&p) == FLY_OK ? 0 : 3;
}

static int as_rank(const fly_boot *boot, void *context) {
    if (!perf_apart(boot->rank) && boot->rank == 0)
        fprintf(stderr, "flyloom-perf: both ranks share a processor: latency is the scheduler's\n");
    return measure(boot, context);
}

int main(int count, char **words) {
    struct options options;
    if (count > 1 && strcmp(words[1], "explain") == 0) return perf_explain(count - 2, words + 2);
    if (count > 1 && strcmp(words[1], "overlap") == 0) return perf_overlap(count - 2, words + 2);
    if (count > 1 && strcmp(words[1], "model") == 0) return perf_model(count - 2, words + 2);
    if (count > 1 && strcmp(words[1], "multicast") == 0)
        return perf_multicast(count - 2, words + 2);
    int code = read_options(count, words, &options);
    if (code != 0) return code;
    if (options.ranks != 0)
        return perf_collectives((int)options.ranks, options.repetitions, options.json);
    const char *started = getenv("FLYLOOM_RANK");
    if (started != NULL) { /* started as one of two processes, perhaps on two nodes */
        perf_apart(atoi(started));
        return measure(NULL, &options);
    }
    return perf_start("flyloom-perf", 2, LIMIT_S, as_rank, &options);
}
