/* Rounds by edge colouring: they are valid, and never more than the largest degree, which is
 * counted.
 *
 *   colour_test [SEED]
 *   colour_test rounds RANKS   prints Koenig's round of each message that is read as "FROM TO"
 */
#include <string.h>

#include "check.h"
#include "coll/colour.h"
#include "coll/plan.h"

enum { ARCS_MOST = 20000, RANKS_MOST = 4096 };

static struct fly_arc arcs[ARCS_MOST];
static size_t count;
static int worse; /* graphs for which the first fit is not enough */

static void arc(int from, int to) {
    CHECK(count < ARCS_MOST, "room");
    arcs[count++] = (struct fly_arc){from, to};
}

/* Checks that no rank sends or receives two messages in a round; returns the number of rounds. */
static uint32_t proper(const char *what, int ranks, const uint32_t *rounds) {
    static uint8_t seen[2][RANKS_MOST];
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        if (rounds[i] >= all) all = rounds[i] + 1;
    for (uint32_t round = 0; round < all; round++) {
        memset(seen[0], 0, (size_t)ranks);
        memset(seen[1], 0, (size_t)ranks);
        for (size_t i = 0; i < count; i++) {
            if (rounds[i] != round) continue;
            CHECK(!seen[0][arcs[i].from]++, "%s: %d sends twice in %u", what, arcs[i].from, round);
            CHECK(!seen[1][arcs[i].to]++, "%s: %d receives twice in %u", what, arcs[i].to, round);
        }
    }
    return all;
}

static void try(const char *what, int ranks) {
    static uint32_t rounds[ARCS_MOST];
    uint32_t used, degree = 0, degrees[2][RANKS_MOST] = {{0}};
    for (size_t i = 0; i < count; i++) {
        uint32_t out = ++degrees[0][arcs[i].from], in = ++degrees[1][arcs[i].to];
        degree = out > degree ? out : degree;
        degree = in > degree ? in : degree;
    }
    CHECK(fly_colour_first_fit(ranks, count, arcs, rounds, &used), "memory");
    CHECK(proper(what, ranks, rounds) == used && used >= degree, "%s: first fit %u", what, used);
    worse += used > degree;
    CHECK(fly_colour_koenig(ranks, count, arcs, rounds, &used), "memory");
    CHECK(proper(what, ranks, rounds) == used && used == degree, "%s: Koenig %u, degree %u", what,
          used, degree);
    CHECK(fly_colour(ranks, count, arcs, rounds, &used), "memory");
    CHECK(proper(what, ranks, rounds) == used && used == degree, "%s: %u, degree %u", what, used,
          degree);
    count = 0;
}

static void torus(int side) {
    int ranks = side * side * side;
    for (int r = 0; r < ranks; r++)
        for (int stride = 1; stride < ranks; stride *= side)
            for (int step = 1; step < side; step += side - 2) {
                int at = r / stride % side;
                arc(r, r + ((at + step) % side - at) * stride);
            }
    try("torus", ranks);
}

/* A grid whose points send to all eight neighbours, without wrapping: fewer at the border. */
static void stencil(int side) {
    for (int r = 0; r < side * side; r++)
        for (int k = 0; k < 9; k++) {
            int x = r % side + k % 3 - 1, y = r / side + k / 3 - 1;
            if (k != 4 && x >= 0 && y >= 0 && x < side && y < side) arc(r, y * side + x);
        }
    try("stencil", side * side);
}

/* A graph in which few ranks have most of the messages. */
static void power_law(int ranks, int messages, uint64_t *random) {
    for (int i = 0; i < messages; i++) {
        int ends[2];
        for (int e = 0; e < 2; e++) {
            uint64_t within = 1 + below(random, (uint64_t)ranks);
            ends[e] = (int)below(random, 1 + below(random, within));
        }
        if (ends[0] != ends[1]) arc(ends[0], ends[1]);
    }
    try("power law", ranks);
}

/* The time of rounds that run one after another: the sum of the heaviest message of each. */
static uint64_t taken(const struct fly_plan *plan, const int *weights, size_t edges, int ranks) {
    static int heaviest[ARCS_MOST];
    uint64_t sum = 0;
    size_t at = 0;
    memset(heaviest, 0, sizeof heaviest);
    /* The plan lists for each rank its sources, then its targets, in the order given. */
    for (int r = 0; r < ranks; r++) {
        size_t in = 0;
        for (size_t i = 0; i < edges; i++) in += arcs[i].to == r;
        at += in;
        for (size_t i = 0; i < edges; i++) {
            if (arcs[i].from != r) continue;
            int colour = plan->slots[at++].colour;
            if (weights[i] > heaviest[colour]) heaviest[colour] = weights[i];
        }
    }
    for (int c = 0; c < ARCS_MOST; c++) sum += (uint64_t)heaviest[c];
    return sum;
}

static uint64_t planned(const int *weights, const int *given, size_t edges, int ranks) {
    static int words[3 * ARCS_MOST];
    struct fly_verdict verdicts[RANKS_MOST] = {{0}};
    size_t starts[RANKS_MOST + 1] = {0};
    struct fly_plan plan;
    for (size_t i = 0; i < edges; i++) {
        words[i] = arcs[i].from;
        words[edges + i] = arcs[i].to;
        words[2 * edges + i] = given[i];
    }
    for (int r = 1; r <= ranks; r++) starts[r] = 3 * edges; /* rank 0 gives all */
    fly_plan_make(&plan, FLY_GRAPH_EDGES, ranks, words, starts, verdicts);
    CHECK(verdicts[0].code == 0, "code %d", verdicts[0].code);
    uint64_t sum = taken(&plan, weights, edges, ranks);
    fly_plan_end(&plan);
    return sum;
}

/* With weights the rounds take less time in all, and never less than one rank needs to send or to
   receive; if there are a few heavy messages, one for each rank, they are in one round. */
static void weights(uint64_t *random) {
    static int weight[ARCS_MOST], ones[ARCS_MOST];
    uint64_t with = 0, without = 0;
    for (int n = 0; n < 300; n++) {
        int ranks = 4 + (int)below(random, 30);
        uint64_t sums[2][RANKS_MOST] = {{0}}, most = 0;
        for (uint64_t i = 6 * (uint64_t)ranks; i > 0; i--) {
            int from = (int)below(random, (uint64_t)ranks);
            int to = (from + 1 + (int)below(random, (uint64_t)ranks - 1)) % ranks;
            weight[count] = 1 + (int)(1000 >> below(random, 10));
            ones[count] = 1;
            sums[0][from] += (uint64_t)weight[count];
            sums[1][to] += (uint64_t)weight[count];
            arc(from, to);
        }
        for (int r = 0; r < ranks; r++)
            for (int k = 0; k < 2; k++)
                if (sums[k][r] > most) most = sums[k][r];
        uint64_t heavy = planned(weight, weight, count, ranks);
        uint64_t any = planned(weight, ones, count, ranks);
        CHECK(heavy >= most && any >= most, "%lu, %lu, %lu", (unsigned long)heavy,
              (unsigned long)any, (unsigned long)most);
        with += heavy;
        without += any;
        count = 0;
    }
    CHECK(with * 10 < without * 9, "rounds of weights take %lu, others %lu", (unsigned long)with,
          (unsigned long)without);
    for (int r = 0; r < 8; r++) /* light messages both up and down a ring, heavy ones across */
        for (int k = 0; k < 3; k++) {
            weight[count] = k == 2 ? 100 : 1;
            ones[count] = 1;
            arc(r, (r + (k == 0 ? 1 : k == 1 ? 7 : 4)) % 8);
        }
    CHECK(planned(weight, weight, count, 8) == 102, "a heavy round and two light ones");
    count = 0;
    printf("colour_test: by weight %.2f of what rounds take else\n",
           (double)with / (double)without);
}

static int print_rounds(int ranks) {
    static uint32_t rounds[ARCS_MOST];
    uint32_t used;
    int from, to;
    while (scanf("%d %d", &from, &to) == 2) {
        CHECK(from >= 0 && from < ranks && to >= 0 && to < ranks, "%d %d", from, to);
        arc(from, to);
    }
    CHECK(fly_colour_koenig(ranks, count, arcs, rounds, &used), "memory");
    for (size_t i = 0; i < count; i++) printf("%u\n", rounds[i]);
    return 0;
}

int main(int words_count, char **words) {
    if (words_count > 2 && strcmp(words[1], "rounds") == 0) return print_rounds(atoi(words[2]));
    uint64_t random = argument(words_count, words, 1, 1);
    for (int n = 0; n < 1000; n++) {
        int ranks = 2 + (int)below(&random, 40);
        uint64_t messages = below(&random, 12 * (uint64_t)ranks);
        for (uint64_t i = 0; i < messages; i++) {
            int from = (int)below(&random, (uint64_t)ranks);
            int to = (from + 1 + (int)below(&random, (uint64_t)ranks - 1)) % ranks;
            for (uint64_t twice = below(&random, 5) == 0 ? 3 : 1; twice > 0; twice--) arc(from, to);
        }
        try("random", ranks);
    }
    CHECK(worse > 100 && worse < 1000, "%d of 1,000 need more than the first fit", worse);
    torus(3);
    torus(8);
    stencil(3);
    stencil(30);
    power_law(256, 4096, &random);
    power_law(2000, 9000, &random);
    weights(&random);
    printf("colour_test: 1,000 random graphs, %d in all beyond the first fit\n", worse);
    return 0;
}
