/* Sums of doubles: with FLYLOOM_REPEAT=1 the bits that the bracketing by ranks gives, whatever the
 * algorithm, root and size; without, the same bits at all ranks.
 *
 *   coll_repeat_test TRANSPORTS LAST
 */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "flyloom_coll.h"
#include "ranks.h"

enum { COUNT_MOST = 700, RANKS_MOST = 17 };

static const char *const CHOICES[] = {
    "", "reduce=binomial,allreduce=doubling,reduce_scatter=linear,scan=doubling",
    "reduce=pipeline:64,allreduce=rabenseifner,reduce_scatter=ring,scan=chain",
    "allreduce=ring,reduce_scatter=tree",
};

struct options {
    const char *transports;
    bool repeats;
};

static double value_of(int rank, size_t i) {
    uint64_t state = (uint64_t)rank * 1000 + i;
    return ((double)below(&state, 2000001) - 1e6) / 3 * (i % 3 == 0 ? 1e-9 : 1);
}

/* The expected bracketing: at distance 1, 2, 4, ... the rank below adds the one above. */
static double bracketed(int size, size_t i) {
    double part[RANKS_MOST];
    for (int r = 0; r < size; r++) part[r] = value_of(r, i);
    for (int distance = 1; distance < size; distance *= 2)
        for (int r = 0; r + distance < size; r += 2 * distance) part[r] += part[r + distance];
    return part[0];
}

static void same(const char *what, const double *got, size_t first, size_t count, int size) {
    for (size_t i = 0; i < count; i++) {
        double wanted = bracketed(size, first + i);
        CHECK(memcmp(&got[i], &wanted, 8) == 0, "%s: element %zu of %d ranks: %a, not %a", what,
              first + i, size, got[i], wanted);
    }
}

static int body(const fly_boot *boot, void *context) {
    static const fly_fold SUM = {.type = FLY_DOUBLE, .op = FLY_SUM};
    static const size_t COUNTS[] = {1, 3, 5, 100, COUNT_MOST};
    const struct options *options = context;
    fly_config config = {.transports = options->transports};
    double mine[COUNT_MOST], total[COUNT_MOST], all[RANKS_MOST];
    size_t counts[RANKS_MOST] = {0};
    fly_rt *rt;
    CHECK(fly_init(boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    fly_team *team = fly_world(rt);
    for (size_t i = 0; i < COUNT_MOST; i++) mine[i] = value_of(boot->rank, i);
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++) {
        size_t count = COUNTS[c];
        CHECK(fly_allreduce(team, mine, total, count, &SUM) == FLY_OK, "allreduce");
        if (options->repeats) same("allreduce", total, 0, count, boot->size);
        CHECK(fly_allgather(team, &total[count - 1], all, 8) == FLY_OK, "allgather");
        for (int r = 0; r < boot->size; r++)
            CHECK(memcmp(&all[r], &all[0], 8) == 0, "rank %d has other bits than rank 0", r);
        if (!options->repeats) continue;
        for (int root = 0; root < boot->size; root++) {
            CHECK(fly_reduce(team, mine, total, count, &SUM, root) == FLY_OK, "reduce");
            if (root == boot->rank) same("reduce", total, 0, count, boot->size);
        }
        for (int r = 0; r < boot->size; r++) counts[r] = count / (size_t)boot->size;
        CHECK(fly_reduce_scatter(team, mine, total, counts, &SUM) == FLY_OK, "reduce_scatter");
        same("reduce_scatter", total, counts[0] * (size_t)boot->rank, counts[0], boot->size);
        CHECK(fly_scan(team, mine, total, count, &SUM) == FLY_OK, "scan");
        for (size_t i = 0; i < count; i++) {
            double wanted = value_of(0, i);
            for (int r = 1; r <= boot->rank; r++) wanted += value_of(r, i);
            CHECK(memcmp(&total[i], &wanted, 8) == 0, "scan: element %zu", i);
        }
    }
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    return 0;
}

int main(int count, char **words) {
    CHECK(count > 2, "coll_repeat_test TRANSPORTS LAST");
    for (int repeats = 0; repeats < 2; repeats++) {
        struct options options = {words[1], repeats != 0};
        setenv("FLYLOOM_REPEAT", repeats ? "1" : "0", 1);
        for (int size = 1; size <= atoi(words[2]) && size <= RANKS_MOST; size++)
            for (size_t c = 0; c < sizeof CHOICES / sizeof *CHOICES; c++) {
                setenv("FLYLOOM_COLL", CHOICES[c], 1);
                CHECK(run_threads(size, body, &options) == 0, "%d ranks, %s", size, CHOICES[c]);
            }
    }
    printf("coll_repeat_test: %s, 1 to %s ranks\n", words[1], words[2]);
    return 0;
}
