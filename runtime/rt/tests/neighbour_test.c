/* Neighbour collectives on random graphs, in every form and several at once; and bad input.
 *
 *   neighbour_test TRANSPORTS threads|processes|kill FIRST LAST [TRIALS [SEED [MOST]]]
 *
 * For each number of ranks from FIRST to LAST it runs by rounds, at once, as the model chooses,
 * and, with processes, with another choice at each rank. Kill: each of 4 ranks in turn, while all
 * work.
 */
#include <string.h>

#include "calls.h"
#include "coll/coll.h"
#include "neighbour_trial.h"
#include "ranks.h"

enum { CALLS_AT_ONCE = 4, EPOCHS = 3 };

struct options {
    const char *transports, *choice;
    uint64_t trials, seed, most;
};

static const char *const ALL[] = {"neighbour_allgather", "neighbour_allgatherv",
                                  "neighbour_alltoall", "neighbour_alltoallv",
                                  "neighbour_alltoallw"};

/* Sets this algorithm for all five operations; "": the model chooses; "mixed": each rank differs.
 */
static void choose(const char *algorithm, int rank) {
    char text[400] = "";
    if (strcmp(algorithm, "mixed") == 0) algorithm = rank % 2 == 0 ? "coloured" : "at_once";
    for (size_t i = 0; i < 5 && *algorithm != 0; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s", i > 0 ? "," : "",
                 ALL[i], algorithm);
    setenv("FLYLOOM_COLL", text, 1);
}

/* A rank sends once and receives once in a round, and there are as many rounds as neighbours. */
static void rounds(const struct fly_sched *s, const struct sparse *sparse) {
    size_t most = (size_t)sparse->degree, busy = 0;
    for (size_t i = 0; i < s->round_count; i++) { /* a round without messages may unpack */
        size_t out = s->rounds[i + 1].sending - s->rounds[i].sending;
        size_t in = s->rounds[i + 1].receiving - s->rounds[i].receiving;
        CHECK(out <= 1 && in <= 1, "round %zu: %zu sent, %zu received", i, out, in);
        busy += out + in > 0;
    }
    CHECK(busy <= most && s->round_count <= busy + 2, "%zu rounds, %zu with messages, %zu "
          "neighbours", s->round_count, busy, most);
}

static void requests(struct sparse *sparse, const struct options *options, uint64_t seed,
                     enum sparse_form form, uint64_t *own) {
    struct sparse_call calls[CALLS_AT_ONCE];
    fly_req *reqs[CALLS_AT_ONCE];
    int rank = sparse->rank;
    for (int i = 0; i < CALLS_AT_ONCE; i++) {
        sparse_call_draw(&calls[i], sparse, seed + (uint64_t)i, options->most);
        sparse_call_fill(&calls[i], 0);
        OK(sparse_call_make(&calls[i], form, &reqs[i]));
        if (strcmp(options->choice, "coloured") == 0)
            rounds((const struct fly_sched *)reqs[i], sparse);
    }
    OK(fly_graph_free(&sparse->graph)); /* requests do not need the graph */
    for (uint64_t epoch = 0; epoch < (form == SPARSE_PERSISTENT ? EPOCHS : 1); epoch++) {
        for (int i = 0; i < CALLS_AT_ONCE && form == SPARSE_PERSISTENT; i++) {
            sparse_call_fill(&calls[i], epoch);
            OK(fly_start(reqs[i]));
        }
        int first = (int)below(own, CALLS_AT_ONCE);
        for (int i = 0; i < CALLS_AT_ONCE; i++) {
            int which = (first + i) % CALLS_AT_ONCE;
            OK(fly_wait(reqs[which], NULL));
            sparse_call_check(&calls[which], epoch);
        }
    }
    for (int i = 0; i < CALLS_AT_ONCE; i++) {
        OK(fly_req_free(&reqs[i]));
        sparse_call_end(&calls[i]);
    }
}

static void blocking(struct sparse *sparse, const struct options *options, uint64_t seed) {
    int rank = sparse->rank;
    for (uint64_t i = 0; i < CALLS_AT_ONCE; i++) {
        struct sparse_call call;
        sparse_call_draw(&call, sparse, seed + i, options->most);
        for (uint64_t epoch = 0; epoch < 2; epoch++) { /* the second is kept */
            sparse_call_fill(&call, epoch);
            OK(sparse_call_make(&call, SPARSE_BLOCKING, NULL));
            sparse_call_check(&call, epoch);
        }
        sparse_call_end(&call);
    }
    OK(fly_graph_free(&sparse->graph));
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    int rank = boot->rank;
    fly_config config = {.transports = options->transports};
    uint64_t random = options->seed, own = options->seed + (uint64_t)rank;
    struct sparse *sparse = malloc(2 * sizeof *sparse);
    fly_rt *rt;
    CHECK(sparse != NULL, "memory");
    if (strcmp(options->choice, "mixed") == 0) choose("mixed", rank);
    OK(fly_init(boot, &config, &rt));
    for (uint64_t n = 0; n < options->trials; n++) {
        for (int i = 0; i < 2; i++) { /* two graphs take turns with two calls' memory */
            sparse_draw(&sparse[i], rank, boot->size, draw(&random));
            sparse_make(&sparse[i], fly_world(rt));
        }
        uint64_t seed = draw(&random);
        blocking(&sparse[0], options, seed);
        requests(&sparse[1], options, seed, n % 2 == 0 ? SPARSE_BEGUN : SPARSE_PERSISTENT, &own);
    }
    OK(fly_finalize(&rt));
    free(sparse);
    return 0;
}

/* A wrong argument of one rank is refused at all ranks. */
static void bad_graphs(fly_team *team, int rank) {
    int none[] = {-1}, three[] = {3}, next[] = {(rank + 1) % 3}, before[] = {(rank + 2) % 3};
    fly_graph *graph = (fly_graph *)team;
    FAILS(FLY_ERR_ARG, "team is NULL", fly_graph_create(NULL, 0, NULL, NULL, &graph));
    FAILS(FLY_ERR_ARG, "graph is NULL", fly_graph_create(team, 0, NULL, NULL, NULL));
    FAILS(FLY_ERR_RANK, rank == 1 ? "from[0]: -1 must be 0 to 2" : "rank 1 could not",
          fly_graph_create(team, 1, rank == 1 ? none : next, next, &graph));
    CHECK(graph == NULL, "no graph");
    FAILS(FLY_ERR_RANK, rank == 2 ? "targets[0]: 3 must be 0 to 2" : "rank 2 could not",
          fly_graph_adjacent(team, 1, before, 1, rank == 2 ? three : next, &graph));
    FAILS(FLY_ERR_ARG, rank == 0 ? "to is NULL, for 1" : "rank 0 could not",
          fly_graph_create(team, 1, next, rank == 0 ? NULL : next, &graph));
    FAILS(FLY_ERR_ARG, rank == 0 ? "must be at most" : "rank 0 could not",
          fly_graph_create(team, rank == 0 ? SIZE_MAX / 4 : 1, next, next, &graph));
    FAILS(FLY_ERR_ARG, "rank 1 has rank 2 1 times among its targets; rank 2 has rank 1 0 times",
          fly_graph_adjacent(team, rank == 2 ? 0 : 1, before, 1, next, &graph));
    FAILS(FLY_ERR_ARG, "rank 0 has rank 1 0 times among its targets; rank 1 has rank 0 1 times",
          fly_graph_adjacent(team, 1, before, rank == 0 ? 0 : 1, next, &graph));
    FAILS(FLY_ERR_ARG, rank == 1 ? "rank 1 calls fly_graph_adjacent, rank 0 fly_graph_create"
                                 : "rank 1 calls",
          rank == 1 ? fly_graph_adjacent(team, 0, NULL, 0, NULL, &graph)
                    : fly_graph_create(team, 0, NULL, NULL, &graph));
    CHECK(graph == NULL, "no graph");
    FAILS(FLY_ERR_ARG, "graph is NULL", fly_graph_free(&graph));
    FAILS(FLY_ERR_ARG, "graph is NULL", fly_graph_neighbours(NULL, NULL, NULL, NULL, NULL));
}

static void bad_weights(fly_team *team, int rank) {
    int to[] = {(rank + 1) % 3}, from[] = {(rank + 2) % 3}, wrong[] = {rank == 1 ? -4 : 4};
    fly_graph *graph;
    FAILS(FLY_ERR_ARG, rank == 1 ? "target_weights[0]: -4 must be 0 or more" : "rank 1",
          fly_graph_adjacent_weighted(team, 1, from, 1, to, wrong, &graph));
    FAILS(FLY_ERR_ARG, rank == 1 ? "weights[0]: -4" : "rank 1",
          fly_graph_create_weighted(team, 1, from, to, wrong, &graph));
}

static void bad_calls(fly_graph *graph, int rank) {
    char data[64] = {0}, other[64];
    size_t eight[] = {8, 8}, at[] = {0, 8}, close[] = {0, 4}, far[] = {0, SIZE_MAX - 4};
    size_t seven[] = {8, 7};
    fly_req *req = (fly_req *)data;
    FAILS(FLY_ERR_ARG, "graph is NULL", fly_neighbour_alltoall(NULL, data, other, 8));
    FAILS(FLY_ERR_ARG, "FLY_IN_PLACE", fly_neighbour_alltoall(graph, FLY_IN_PLACE, other, 8));
    FAILS(FLY_ERR_ARG, "FLY_IN_PLACE", fly_neighbour_alltoall(graph, data, FLY_IN_PLACE, 8));
    FAILS(FLY_ERR_ARG, "overlap", fly_neighbour_allgather(graph, data, data, 8));
    FAILS(FLY_ERR_ARG, "send is NULL", fly_neighbour_allgather(graph, NULL, data, 8));
    FAILS(FLY_ERR_ARG, "memory", fly_neighbour_allgather(graph, data, other, SIZE_MAX / 2));
    FAILS(FLY_ERR_ARG, "req is NULL", fly_ineighbour_allgather(graph, data, other, 8, NULL));
    FAILS(FLY_ERR_ARG, "neighbour 0 and 1 overlap",
          fly_ineighbour_allgatherv(graph, data, 8, other, eight, close, &req));
    CHECK(req == NULL, "no request");
    FAILS(FLY_ERR_ARG, "receive_at[1]",
          fly_neighbour_alltoallv(graph, data, eight, at, other, eight, far));
    FAILS(FLY_ERR_ARG, "send_bytes or send_at is NULL",
          fly_neighbour_alltoallv(graph, data, NULL, at, other, eight, at));
    FAILS(FLY_ERR_ARG, "receive_bytes[1]: 7 bytes from itself, which sends 8",
          fly_neighbour_alltoallv(graph, data, eight, at, other, seven, at));
}

/* With FLYLOOM_CHECK=1: the two ends of an edge have different sizes. Two edges lead from each rank
   to the next, and one to itself. */
static void other_sizes(fly_team *team, int rank) {
    int to[] = {(rank + 1) % 3, rank, (rank + 1) % 3}, from[] = {rank, (rank + 2) % 3,
                                                                 (rank + 2) % 3};
    char data[64] = {0}, more[64];
    size_t out[] = {4, 5, 6}, in[] = {5, 4, 6}, at[] = {0, 16, 32}, same[] = {3, 3, 3};
    fly_graph *graph;
    fly_req *req;
    OK(fly_graph_adjacent(team, 3, from, 3, to, &graph));
    OK(fly_neighbour_alltoallv(graph, data, out, at, more, in, at));
    if (rank == 2) in[2] = 7; /* the second edge of rank 1 */
    FAILS(FLY_ERR_ARG, "send_bytes[2]: 6 at rank 1, receive_bytes[2]: 7 at rank 2",
          fly_neighbour_alltoallv(graph, data, out, at, more, in, at));
    if (rank == 0) out[0] = 0; /* two are wrong: the lower receiver is reported */
    FAILS(FLY_ERR_ARG, "send_bytes[0]: 0 at rank 0, receive_bytes[1]: 4 at rank 1",
          fly_ineighbour_alltoallv(graph, data, out, at, more, in, at, &req));
    OK(fly_neighbour_allgatherv(graph, data, 3, more, same, at));
    if (rank == 0) same[1] = 2;
    FAILS(FLY_ERR_ARG, "bytes: 3 at rank 2, receive_bytes[1]: 2 at rank 0",
          fly_neighbour_allgatherv(graph, data, 3, more, same, at));
    if (rank == 0) same[1] = 3;
    OK(fly_neighbour_allgatherv(graph, data, 3, more, same, at));
    fly_shape halves[] = {{2, 2, 5}, {2, 2, 5}, {2, 2, 5}}, whole[] = {{1, 4, 0}, {1, 4, 0},
                                                                       {1, 4, 0}};
    OK(fly_neighbour_alltoallw(graph, data, halves, at, more, whole, at));
    if (rank == 1) halves[0].blocks = 3;
    FAILS(FLY_ERR_ARG, "send_shapes[0]: 6 bytes at rank 1, receive_shapes[1]: 4 bytes at rank 2",
          fly_neighbour_alltoallw(graph, data, halves, at, more, whole, at));
    OK(fly_graph_free(&graph));
}

/* A ring of three ranks with an edge from each to itself; in the end its team is gone. */
static int refused(const fly_boot *boot, void *context) {
    const struct options *options = context;
    int rank = boot->rank, to[] = {(rank + 1) % 3, rank}, from[] = {(rank + 2) % 3, rank};
    fly_config config = {.transports = options->transports};
    char data[16] = {0}, other[16];
    fly_rt *rt;
    fly_graph *graph;
    OK(fly_init(boot, &config, &rt));
    bad_graphs(fly_world(rt), rank);
    bad_weights(fly_world(rt), rank);
    OK(fly_graph_adjacent(fly_world(rt), 2, from, 2, to, &graph));
    bad_calls(graph, rank);
    if (getenv("FLYLOOM_CHECK") != NULL) {
        FAILS(FLY_ERR_ARG, "bytes: 4 at rank 2, 8 at rank 0",
              fly_neighbour_alltoall(graph, data, other, rank == 2 ? 4 : 8));
        fly_graph *second;
        OK(fly_graph_adjacent(fly_world(rt), 2, from, 2, to, &second));
        FAILS(FLY_ERR_ARG, "graph: 1 at rank 1, 0 at rank 0",
              fly_neighbour_alltoall(rank == 1 ? second : graph, data, other, 8));
        OK(fly_graph_free(&second));
        other_sizes(fly_world(rt), rank);
    }
    OK(fly_neighbour_alltoall(graph, data, other, 8));
    OK(fly_finalize(&rt));
    FAILS(FLY_ERR_STATE, "team is gone", fly_neighbour_alltoall(graph, data, other, 8));
    OK(fly_graph_free(&graph));
    return 0;
}

/* Makes graphs and calls until a rank is dead; then all soon get the error, and keep getting it. */
static int mortal(const fly_boot *boot, void *context) {
    const struct options *options = context;
    int rank = boot->rank, code = FLY_OK;
    fly_config config = {.transports = options->transports};
    uint64_t random = options->seed;
    struct sparse *s = malloc(sizeof *s);
    unsigned char mine[500] = {0}, *theirs = malloc(EDGES_MOST * sizeof mine);
    fly_rt *rt;
    CHECK(s != NULL && theirs != NULL, "memory");
    OK(fly_init(boot, &config, &rt));
    rank_has_begun();
    while (code == FLY_OK) {
        sparse_draw(s, rank, boot->size, draw(&random) | 1);
        code = fly_graph_adjacent(fly_world(rt), s->in_count, s->sources, s->out_count, s->targets,
                                  &s->graph);
        for (int i = 0; i < 5 && code == FLY_OK; i++)
            code = fly_neighbour_allgather(s->graph, mine, theirs, sizeof mine);
        if (s->graph != NULL) OK(fly_graph_free(&s->graph));
    }
    CHECK(code == FLY_ERR_PEER, "%d: %s", code, fly_last_error(NULL));
    FAILS(FLY_ERR_PEER, "died", fly_graph_create(fly_world(rt), 0, NULL, NULL, &s->graph));
    code = fly_finalize(&rt);
    CHECK(code == FLY_ERR_PEER && rt == NULL, "finalize: %d: %s", code, fly_last_error(NULL));
    free(theirs);
    free(s);
    return 0;
}

static int kills(struct options *options) {
    for (int victim = 0; victim < 4; victim++) {
        int result = run_and_kill_begun(4, mortal, options, victim, 20000 * (unsigned)victim);
        CHECK(result == 0, "rank %d killed: result %d", victim, result);
    }
    printf("neighbour_test: %s, 4 killed\n", options->transports);
    return 0;
}

int main(int count, char **words) {
    static const char *const CHOICES[] = {"coloured", "at_once", "", "mixed"};
    CHECK(count > 4, "neighbour_test TRANSPORTS threads|processes|kill FIRST LAST [TRIALS [SEED "
          "[MOST]]]");
    struct options options = {words[1], "", argument(count, words, 5, 4),
                              argument(count, words, 6, 1), argument(count, words, 7, 3000)};
    bool threads = strcmp(words[2], "threads") == 0;
    if (strcmp(words[2], "kill") == 0) return kills(&options);
    int runs = 0, first = atoi(words[3]), last = atoi(words[4]);
    for (int size = first; size <= last; size++) {
        for (size_t c = 0; c < (threads ? 3 : 4); c++, runs++) {
            options.choice = CHOICES[c];
            choose(threads || c < 3 ? CHOICES[c] : "", 0);
            int result = threads ? run_threads(size, body, &options)
                                 : run_processes(size, body, &options);
            CHECK(result == 0, "%d ranks, %s: result %d", size, CHOICES[c], result);
            options.seed += 1000003;
        }
    }
    for (int checks = 0; checks < 2 && first <= 3 && last >= 3; checks++) {
        if (checks) setenv("FLYLOOM_CHECK", "1", 1);
        int result = threads ? run_threads(3, refused, &options)
                             : run_processes(3, refused, &options);
        CHECK(result == 0, "bad input: result %d", result);
    }
    printf("neighbour_test: %s, %d runs of %lu trials\n", words[1], runs,
           (unsigned long)options.trials);
    return 0;
}
