/* flyloom-perf explain: the algorithms of a collective, with the times that the model predicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/settings.h"
#include "perf_parts.h"

enum { RANKS_MOST = 1 << 20 };

static const char PROGRAM[] = "flyloom-perf explain";

static int unknown(const char *name) {
    fprintf(stderr, "flyloom-perf explain: \"%s\" must be one of", name);
    for (int i = 0; i < FLY_C_OPERATIONS; i++)
        if (fly_operations[i].name != NULL) fprintf(stderr, " %s", fly_operations[i].name);
    fprintf(stderr, "\n");
    return 2;
}

static void print(const struct fly_operation_table *table, const struct fly_loggp *net, int ranks,
                  size_t bytes, bool ordered) {
    double times[8], least = -1;
    size_t parameters[8];
    for (int i = 0; i < table->count; i++) {
        const struct fly_algorithm *one = &table->algorithms[i];
        parameters[i] = one->best == NULL ? 0 : one->best(net, ranks, bytes);
        times[i] = one->predict(net, ranks, bytes, parameters[i]);
        if (ordered && !one->ordered) continue;
        if (isfinite(times[i]) && (least < 0 || times[i] < least)) least = times[i];
    }
    bool sparse = fly_on_graph((int)(table - fly_operations));
    printf("%s of %zu bytes, %d %s; L %g, o_s %g, o_r %g, g %g ns, G %g ns/B\n", table->name,
           bytes, ranks, sparse ? "neighbours" : "ranks", net->latency_ns, net->send_ns,
           net->receive_ns, net->gap_ns, net->byte_ns);
    bool chosen = false;
    for (int i = 0; i < table->count; i++) {
        const struct fly_algorithm *one = &table->algorithms[i];
        char what[64];
        bool out = ordered && !one->ordered, best = !chosen && !out && times[i] == least;
        chosen |= best;
        if (!isfinite(times[i])) continue;
        if (one->parameter != NULL)
            snprintf(what, sizeof what, "%s:%zu", one->name, parameters[i]);
        else
            snprintf(what, sizeof what, "%s", one->name);
        printf("%-24s %14.1f ns%s\n", what, times[i],
               best ? "  chosen" : out ? "  folds in another order than the ranks'" : "");
    }
}

/* Opens a multicast group to find out whether that works here, and reports it in words; then the
   model counts with its datagrams. 0, or the exit code. */
static int open_group(struct fly_loggp *net, char *text, size_t room) {
    const char *group = getenv("FLYLOOM_MULTICAST");
    uint64_t token = 0;
    if (group == NULL || strcmp(group, "0") == 0) {
        snprintf(text, room, "not asked for: FLYLOOM_MULTICAST");
        return 0;
    }
    if (!fly_datagrams_valid(group, text, room))
        return perf_refuse(PROGRAM, "FLYLOOM_MULTICAST", group, text);
    struct fly_datagrams *link = fly_datagrams_open(group, &token, text, room);
    if (link == NULL) return 0;
    net->datagram_bytes = link->most_bytes - FLY_MULTICAST_HEAD;
    snprintf(text, room, "%s, %zu bytes a datagram, each %g ns", link->place, net->datagram_bytes,
             net->datagram_ns);
    link->ops->close(link);
    return 0;
}

int perf_explain(int count, char **words) {
    struct fly_loggp net;
    uint64_t ranks = 0, bytes = 8, crowd = 1;
    const char *path = getenv("FLYLOOM_LOGGP");
    bool ordered = false;
    int operation = 0, code = 0;
    if (count < 1) return perf_refuse(PROGRAM, "OPERATION", "", "one, such as allreduce");
    while (operation < FLY_C_OPERATIONS && (fly_operations[operation].name == NULL ||
                                            strcmp(fly_operations[operation].name, words[0]) != 0))
        operation++;
    if (operation == FLY_C_OPERATIONS) return unknown(words[0]);
    for (int i = 1; i < count && code == 0; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(words[i], "--ordered") == 0) {
            ordered = true;
            continue;
        }
        if (strcmp(words[i], "--ranks") == 0)
            code = perf_read_number(PROGRAM, "--ranks", value, 1, RANKS_MOST, &ranks);
        else if (strcmp(words[i], "--bytes") == 0)
            code = perf_read_number(PROGRAM, "--bytes", value, 0, 1ULL << 40, &bytes);
        else if (strcmp(words[i], "--crowd") == 0)
            code = perf_read_number(PROGRAM, "--crowd", value, 1, RANKS_MOST, &crowd);
        else if (strcmp(words[i], "--loggp") == 0)
            path = value;
        else
            code = perf_refuse(PROGRAM, "option", words[i],
                               "--ranks, --bytes, --loggp, --crowd or --ordered");
        i++;
    }
    if (code != 0) return code;
    if (ranks == 0) return perf_refuse(PROGRAM, "--ranks", "", "given: how many take part");
    char error[400];
    net = fly_loggp_near((int)crowd);
    if (path != NULL && fly_loggp_read(path, &net, error, sizeof error) != 0) {
        fprintf(stderr, "%s: %s\n", PROGRAM, error);
        return 2;
    }
    char group[200];
    if (operation == FLY_C_BCAST) code = open_group(&net, group, sizeof group);
    if (code != 0) return code;
    print(&fly_operations[operation], &net, (int)ranks, operation == FLY_C_BARRIER ? 0 : bytes,
          ordered);
    if (operation == FLY_C_BCAST) printf("multicast here: %s\n", group);
    return 0;
}
