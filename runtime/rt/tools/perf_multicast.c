/* flyloom-perf multicast: broadcasts by multicast, without loss and with, beside other
   algorithms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flyloom_coll.h"
#include "perf.h"
#include "perf_parts.h"

enum { METHODS = 5, BLOCKS = 15, WARM = 20, LIMIT_S = 3600, BYTES_MOST = 1 << 26 };

static const char PROGRAM[] = "flyloom-perf multicast";

/* Each algorithm runs on a team of its own, whose first collective reads the settings. */
static const struct {
    const char *name, *choice;
    bool multicast, lossy;
} ALL[METHODS] = {
    {"multicast, ring", "bcast=multicast:1", true, false},
    {"multicast, ring, lossy", "bcast=multicast:1", true, true},
    {"multicast, tree, lossy", "bcast=multicast:4", true, true},
    {"binomial", "bcast=binomial", false, false},
    {"pipeline", "bcast=pipeline", false, false},
};

struct wanted {
    uint64_t ranks, bytes, lost, repetitions;
    bool json;
};

/* Returns when all ranks have everything: after a broadcast, and a barrier of another team. */
static void once(fly_team *team, fly_team *world, void *data, size_t bytes) {
    CHECKED(fly_bcast(team, data, bytes, 0));
    CHECKED(fly_barrier(world));
}

static fly_team *team_of(fly_rt *rt, const fly_boot *boot, int method, uint64_t lost) {
    fly_team *team;
    fly_multicast facts;
    char faults[32], data[1] = {0};
    snprintf(faults, sizeof faults, "1,%d", (int)lost);
    setenv("FLYLOOM_COLL", ALL[method].choice, 1);
    if (ALL[method].lossy)
        setenv("FLYLOOM_MULTICAST_FAULTS", faults, 1);
    else
        unsetenv("FLYLOOM_MULTICAST_FAULTS");
    CHECKED(fly_team_create(rt, boot, &team));
    CHECKED(fly_bcast(team, data, sizeof data, 0));
    CHECKED(fly_multicast_query(team, &facts));
    if (!ALL[method].multicast || facts.open) return team;
    fprintf(stderr, "%s: rank %d: not open: %s\n", PROGRAM, boot->rank, facts.text);
    exit(2);
}

static void row(struct perf *p, int method, size_t bytes, double *means) {
    perf_sort(means, BLOCKS);
    struct perf_times times = {means[BLOCKS / 2], means[BLOCKS - 1]};
    perf_row(p, ALL[method].name, bytes, &times, 0);
}

static int as_rank(const fly_boot *boot, void *context) {
    const struct wanted *wanted = context;
    uint64_t block = wanted->repetitions / BLOCKS + 1;
    struct perf p = {.rank = boot->rank, .json = wanted->json, .first = true};
    static double means[METHODS][BLOCKS];
    unsigned char *data = calloc(1, wanted->bytes + 1);
    fly_team *teams[METHODS];
    fly_rt *rt;
    perf_apart(boot->rank % perf_processors());
    CHECKED(fly_init(boot, NULL, &rt));
    fly_team *world = fly_world(rt);
    for (int w = 0; w < METHODS; w++) {
        teams[w] = team_of(rt, boot, w, wanted->lost);
        for (int i = 0; i < WARM; i++) once(teams[w], world, data, wanted->bytes);
    }
    for (int b = 0; b < BLOCKS; b++) {
        for (int w = 0; w < METHODS; w++) {
            double began = perf_now_ns();
            for (uint64_t i = 0; i < block; i++) once(teams[w], world, data, wanted->bytes);
            means[w][b] = (perf_now_ns() - began) / (double)block;
        }
    }
    for (int w = 0; w < METHODS; w++) {
        row(&p, w, wanted->bytes, means[w]);
        CHECKED(fly_team_free(&teams[w]));
    }
    if (wanted->json && p.rank == 0) printf("]\n");
    CHECKED(fly_finalize(&rt));
    free(data);
    return 0;
}

int perf_multicast(int count, char **words) {
    struct wanted wanted = {.ranks = 4, .bytes = 65536, .lost = 1, .repetitions = 1500};
    int code = 0;
    for (int i = 0; i < count && code == 0; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(words[i], "--json") == 0) {
            wanted.json = true;
            continue;
        }
        if (strcmp(words[i], "--ranks") == 0)
            code = perf_read_number(PROGRAM, "--ranks", value, 2, 64, &wanted.ranks);
        else if (strcmp(words[i], "--bytes") == 0)
            code = perf_read_number(PROGRAM, "--bytes", value, 1, BYTES_MOST, &wanted.bytes);
        else if (strcmp(words[i], "--lost") == 0)
            code = perf_read_number(PROGRAM, "--lost", value, 0, 90, &wanted.lost);
        else if (strcmp(words[i], "--repetitions") == 0)
            code = perf_read_number(PROGRAM, "--repetitions", value, 1, 100000000,
                                    &wanted.repetitions);
        else
            code = perf_refuse(PROGRAM, "option", words[i],
                               "--ranks, --bytes, --lost, --repetitions or --json");
        i++;
    }
    if (code != 0) return code;
    return perf_start(PROGRAM, (int)wanted.ranks, LIMIT_S, as_rank, &wanted);
}
