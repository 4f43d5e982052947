/* Collectives: bad input, differing arguments, teams, kept schedules, and a rank that dies.
 *
 *   coll_errors_test TRANSPORTS threads|processes|kill [SEED]
 */
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "coll_trial.h"
#include "ranks.h"

enum { RANKS = 4 };

static const fly_fold SUM = {.type = FLY_INT64, .op = FLY_SUM};

/* Shapes are columns of 8 bytes of an array of RANKS + 1 columns; rank r's is number r. */
static void shapes(fly_team *team) {
    int rank = -1;
    int64_t data[8][RANKS + 1] = {{0}}, more[8][RANKS + 1];
    size_t at[RANKS], row = sizeof data[0];
    fly_shape columns[RANKS], bad[RANKS];
    for (size_t r = 0; r < RANKS; r++) {
        columns[r] = (fly_shape){8, 8, (ptrdiff_t)row};
        at[r] = 8 * r;
    }
    OK(fly_alltoallw(team, data, columns, at, more, columns, at));
    memcpy(bad, columns, sizeof bad);
    bad[0] = (fly_shape){1, 64, PTRDIFF_MIN}; /* one block alone, so its stride does not matter */
    OK(fly_alltoallw(team, data, bad, at, more, columns, at));
    bad[0] = columns[0];
    FAILS(FLY_ERR_ARG, "send_shapes or send_at is NULL",
          fly_alltoallw(team, data, NULL, at, more, columns, at));
    FAILS(FLY_ERR_ARG, "receive is NULL",
          fly_alltoallw(team, data, columns, at, NULL, columns, at));
    bad[2].stride_bytes = -(ptrdiff_t)row;
    FAILS(FLY_ERR_ARG, "send_shapes[2]: 8 blocks of 8 bytes, each -40 from the last, at 16 leave",
          fly_alltoallw(team, data, bad, at, more, columns, at));
    bad[2] = (fly_shape){SIZE_MAX / 8, 8, 8};
    FAILS(FLY_ERR_ARG, "leave memory", fly_alltoallw(team, data, bad, at, more, columns, at));
    bad[2] = (fly_shape){8, 8, 7};
    FAILS(FLY_ERR_ARG, "receive_shapes[2]: blocks of 8 bytes, each 7 from the last, overlap",
          fly_alltoallw(team, data, columns, at, more, bad, at));
    /* Two columns overlap: by one byte, in one row, in every other row. */
    bad[2] = (fly_shape){8, 8, (ptrdiff_t)row};
    at[2] = 23;
    FAILS(FLY_ERR_ARG, "the blocks of rank 2 and 3 overlap",
          fly_alltoallw(team, data, columns, at, more, columns, at));
    at[2] = 16;
    bad[0] = (fly_shape){1, 64, 0};
    at[0] = 7 * row + 17;
    FAILS(FLY_ERR_ARG, "the blocks of rank 0 and 2 overlap",
          fly_alltoallw(team, data, columns, at, more, bad, at));
    at[0] = 0;
    bad[0] = (fly_shape){4, 16, 2 * (ptrdiff_t)row}; /* every other row also touches column 1 */
    FAILS(FLY_ERR_ARG, "the blocks of rank 0 and 1 overlap",
          fly_alltoallw(team, data, columns, at, more, bad, at));
    /* The last column is sent, and received into the other columns of the same array. */
    size_t last[] = {8 * RANKS, 8 * RANKS, 8 * RANKS, 8 * RANKS};
    OK(fly_alltoallw(team, data, columns, last, data, columns, at));
    FAILS(FLY_ERR_ARG, "the blocks to rank 0 and from rank 0 overlap",
          fly_alltoallw(team, data, columns, at, data, columns, at));
}

static void no_fold(void *context, const void *left, void *inout, size_t count) {
    (void)context, (void)left, (void)inout, (void)count;
}

/* Elements may have 1 to 65536 bytes. */
static void large_elements(fly_team *team, int rank) {
    fly_fold fold = {.type = FLY_BYTES, .bytes = 65536, .apply = no_fold};
    char data[8] = {0}, more[8];
    OK(fly_scan(team, data, more, 0, &fold));
    fold.bytes = 65537;
    FAILS(FLY_ERR_ARG, "65537 bytes", fly_scan(team, data, more, 0, &fold));
    fold.bytes = 0;
    FAILS(FLY_ERR_ARG, "0 bytes", fly_scan(team, data, more, 0, &fold));
}

static void arguments(fly_team *team, int rank) {
    char data[64];
    int64_t numbers[2 * RANKS];
    size_t huge[RANKS] = {SIZE_MAX, 1, 1, 1}, two[RANKS] = {8, 8, 8, 8}, at[RANKS] = {0, 8, 4, 16};
    fly_fold bad = {.type = 99}, bits = {.type = FLY_DOUBLE, .op = FLY_BXOR};
    fly_fold none = {.type = FLY_BYTES, .bytes = 8};
    fly_req *req = (fly_req *)data;
    fly_multicast facts;
    FAILS(FLY_ERR_ARG, "team", fly_barrier(NULL));
    FAILS(FLY_ERR_ARG, "team", fly_multicast_query(NULL, &facts));
    FAILS(FLY_ERR_ARG, "facts", fly_multicast_query(team, NULL));
    FAILS(FLY_ERR_ARG, "req", fly_ibarrier(team, NULL));
    FAILS(FLY_ERR_RANK, "root: 4 must be 0 to 3", fly_bcast(team, data, 8, RANKS));
    FAILS(FLY_ERR_RANK, "root: -1", fly_igather(team, data, data, 8, -1, &req));
    CHECK(req == NULL, "no request");
    FAILS(FLY_ERR_ARG, "NULL", fly_bcast(team, NULL, 8, 0));
    FAILS(FLY_ERR_ARG, "overlap", fly_allreduce(team, numbers, numbers + 1, 2, &SUM));
    FAILS(FLY_ERR_ARG, "overlap", fly_alltoall(team, data, data, 4));
    FAILS(FLY_ERR_ARG, "fold", fly_allreduce(team, numbers, numbers + 2, 2, NULL));
    FAILS(FLY_ERR_ARG, "type 99", fly_scan(team, numbers, numbers + 2, 2, &bad));
    FAILS(FLY_ERR_ARG, "op", fly_scan(team, numbers, numbers + 2, 2, &bits));
    FAILS(FLY_ERR_ARG, "apply", fly_scan(team, numbers, numbers + 2, 2, &none));
    FAILS(FLY_ERR_ARG, "memory", fly_reduce_scatter(team, FLY_IN_PLACE, numbers, huge, &SUM));
    FAILS(FLY_ERR_ARG, "memory", fly_allgather(team, data, numbers, SIZE_MAX / 2));
    FAILS(FLY_ERR_ARG, "rank 0 and 2 overlap",
          fly_alltoallv(team, FLY_IN_PLACE, NULL, NULL, numbers, two, at));
    shapes(team);
    large_elements(team, rank);
    if (rank != 0)
        FAILS(FLY_ERR_ARG, "root", fly_gather(team, FLY_IN_PLACE, NULL, 8, 0));
}

static void states(fly_rt *rt, fly_team *team, int rank) {
    fly_req *once, *again;
    OK(fly_ibarrier(team, &once));
    FAILS(FLY_ERR_STATE, "active", fly_req_free(&once));
    FAILS(FLY_ERR_STATE, "starts once", fly_start(once));
    FAILS(FLY_ERR_STATE, "collective", fly_finalize(&rt));
    OK(fly_wait(once, NULL));
    FAILS(FLY_ERR_STATE, "starts once", fly_start(once));
    OK(fly_req_free(&once));
    OK(fly_barrier_init(team, &again));
    OK(fly_wait(again, NULL)); /* waiting for an inactive request returns at once */
    OK(fly_start(again));
    FAILS(FLY_ERR_STATE, "active", fly_start(again));
    FAILS(FLY_ERR_STATE, "cancel", fly_cancel(again, NULL));
    OK(fly_wait(again, NULL));
    OK(fly_req_free(&again));
    OK(fly_barrier(team));
}

/* More schedules than are kept, and many requests at once, with data in pieces. */
static void many(fly_team *team, int rank) {
    enum { REQUESTS = 150, BYTES = 5000 };
    static _Thread_local unsigned char data[REQUESTS][BYTES];
    fly_req *reqs[REQUESTS];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < REQUESTS; i++) {
            memset(data[i], rank == i % RANKS ? i + round : 0, BYTES);
            OK(fly_ibcast(team, data[i], BYTES, i % RANKS, &reqs[i]));
        }
        for (int i = REQUESTS - 1; i >= 0; i--) {
            OK(fly_wait(reqs[i], NULL));
            for (int b = 0; b < BYTES; b++)
                CHECK(data[i][b] == (unsigned char)(i + round), "bcast %d: byte %d", i, b);
            OK(fly_req_free(&reqs[i]));
        }
    }
}

/* Teams of the odd ranks and of the even ones, whose collectives run beside those of all. */
static void teams(fly_rt *rt, const fly_boot *half, int rank) {
    fly_team *team;
    fly_req *all, *left;
    int64_t mine = rank + 1, total = 0, part = 0;
    OK(fly_team_create(rt, half, &team));
    OK(fly_iallreduce(fly_world(rt), &mine, &total, 1, &SUM, &all));
    OK(fly_allreduce(team, &mine, &part, 1, &SUM));
    CHECK(part == (rank % 2 == 0 ? 1 + 3 : 2 + 4), "rank %d: %ld", rank, (long)part);
    FAILS(FLY_ERR_RANK, "0 to 1", fly_bcast(team, &part, 8, 2));
    OK(fly_wait(all, NULL));
    CHECK(total == 10, "%ld", (long)total);
    OK(fly_req_free(&all));
    OK(fly_barrier_init(team, &left));
    OK(fly_team_free(&team));
    FAILS(FLY_ERR_STATE, "gone", fly_start(left));
    OK(fly_req_free(&left));
}

/* With FLYLOOM_CHECK=1: a rank refuses its own arguments, and all others learn of it. */
static void refused_alone(fly_team *team, int rank) {
    int64_t data[4 * RANKS] = {0}, more[4 * RANKS];
    fly_fold bits = {.type = FLY_DOUBLE, .op = rank == 2 ? FLY_BXOR : FLY_SUM};
    fly_req *req;
    if (rank == 1) {
        FAILS(FLY_ERR_RANK, "root: 9 must be 0 to 3", fly_bcast(team, data, 8, 9));
        FAILS(FLY_ERR_ARG, "overlap", fly_allgather(team, data, data, 8));
        FAILS(FLY_ERR_ARG, "send is NULL", fly_alltoall(team, NULL, more, 8));
        FAILS(FLY_ERR_ARG, "req is NULL", fly_ibarrier(team, NULL));
    } else {
        FAILS(FLY_ERR_RANK, "arguments of rank 1 are refused", fly_bcast(team, data, 8, 0));
        FAILS(FLY_ERR_ARG, "rank 1", fly_allgather(team, data, more, 8));
        FAILS(FLY_ERR_ARG, "rank 1", fly_alltoall_init(team, data, more, 8, &req));
        FAILS(FLY_ERR_ARG, "rank 1", fly_ibarrier(team, &req));
    }
    FAILS(FLY_ERR_ARG, rank == 2 ? "op" : "rank 2 are refused",
          fly_scan(team, data, more, 1, &bits));
}

/* With FLYLOOM_CHECK=1: sender and receiver give different sizes. */
static void other_sizes(fly_team *team, int rank) {
    int64_t data[4 * RANKS] = {0}, more[4 * RANKS];
    size_t out[RANKS] = {8, 8, 8, 8}, in[RANKS] = {8, 8, 8, 8}, at[RANKS] = {0, 32, 64, 96};
    fly_req *req;
    OK(fly_alltoallv(team, data, out, at, more, in, at));
    if (rank == 3) out[1] = 16;
    FAILS(FLY_ERR_ARG, "send_bytes[1]: 16 at rank 3, receive_bytes[3]: 8 at rank 1",
          fly_alltoallv(team, data, out, at, more, in, at));
    if (rank == 2) in[0] = 0;
    FAILS(FLY_ERR_ARG, "receive_bytes[0]: 0 at rank 2, receive_bytes[2]: 8 at rank 0",
          fly_ialltoallv(team, FLY_IN_PLACE, NULL, NULL, more, in, at, &req));
    if (rank == 1) in[3] = 16;
    if (rank == 2) in[0] = 8;
    OK(fly_alltoallv(team, data, out, at, more, in, at));
    fly_shape given[RANKS], wanted[RANKS];
    for (int r = 0; r < RANKS; r++) {
        given[r] = (fly_shape){2, 4, 8};
        wanted[r] = (fly_shape){1, rank == 0 && r == 2 ? 12 : 8, 0};
    }
    FAILS(FLY_ERR_ARG, "send_shapes[0]: 8 bytes at rank 2, receive_shapes[2]: 12 bytes at rank 0",
          fly_alltoallw(team, data, given, at, more, wanted, at));
}

/* With FLYLOOM_CHECK=1: all ranks get the same error, and can continue. */
static void differing(fly_team *team, int rank) {
    int64_t data[4 * RANKS] = {0}, more[4 * RANKS];
    size_t counts[RANKS] = {1, 1, rank == 3 ? 2 : 1, rank == 3 ? 0 : 1};
    fly_fold fold = {.type = rank == 1 ? FLY_UINT64 : FLY_INT64, .op = FLY_SUM};
    fly_req *req;
    FAILS(FLY_ERR_ARG, "root: 1 at rank 2, 0 at rank 0", fly_bcast(team, data, 8, rank == 2));
    FAILS(FLY_ERR_ARG, "bytes: 16 at rank 3, 8 at rank 0",
          fly_ibcast(team, data, rank == 3 ? 16 : 8, 0, &req));
    FAILS(FLY_ERR_ARG, "fold type", fly_allreduce(team, data, more, 1, &fold));
    FAILS(FLY_ERR_ARG, "counts", fly_reduce_scatter(team, data, more, counts, &SUM));
    FAILS(FLY_ERR_ARG, "rank 1 calls fly_barrier, rank 0 fly_allgather",
          rank == 1 ? fly_barrier(team) : fly_allgather(team, data, more, 8));
    OK(fly_iallreduce(team, data, more, 2, &SUM, &req));
    OK(fly_wait(req, NULL));
    OK(fly_req_free(&req));
}

struct context {
    const char *transports;
    gathering *halves[2]; /* for ranks that are threads */
    bool checks;
};

static int body(const fly_boot *boot, void *context) {
    const struct context *c = context;
    int rank = boot->rank;
    fly_config config = {.transports = c->transports};
    fly_rt *rt;
    OK(fly_init(boot, &config, &rt));
    fly_team *team = fly_world(rt);
    if (c->checks) {
        differing(team, rank);
        refused_alone(team, rank);
        other_sizes(team, rank);
    } else {
        arguments(team, rank);
        states(rt, team, rank);
        many(team, rank);
        if (c->halves[0] != NULL) {
            fly_boot half = gathering_boot(c->halves[rank % 2], rank / 2);
            teams(rt, &half, rank);
            free(half.ctx);
        }
    }
    OK(fly_finalize(&rt));
    return 0;
}

/* Settings that are refused, at one rank or at all: the first collective fails at all ranks. */
static int refused(const fly_boot *boot, void *context) {
    const char *const *words = context;
    int rank = boot->rank;
    fly_config config = {.transports = words[0]};
    fly_rt *rt;
    OK(fly_init(boot, &config, &rt));
    FAILS(FLY_ERR_ARG, words[1], fly_barrier(fly_world(rt)));
    OK(fly_finalize(&rt));
    return 0;
}

static void settings(const char *transports) {
    static const char *const BAD[][3] = {
        {"FLYLOOM_COLL", "allreduce=fast", "doubling, ring, rabenseifner, tree"},
        {"FLYLOOM_COLL", "sort=ring", "OPERATION=ALGORITHM, of barrier, bcast, reduce, "},
        {"FLYLOOM_COLL", "scan", "alltoallw, scan, neighbour_allgather, neighbour_allgatherv, "},
        {"FLYLOOM_COLL", "neighbour_alltoall=ring", "one of coloured, at_once"},
        {"FLYLOOM_COLL", "allreduce=ring:4", "no parameter"},
        {"FLYLOOM_COLL", "bcast=pipeline:0", "1 to 1073741824"},
        {"FLYLOOM_COLL", "bcast=multicast:0", "1 to 1073741824"},
        {"FLYLOOM_COLL", "reduce=multicast", "one of binomial, pipeline:segment"},
        {"FLYLOOM_MULTICAST", "10.1.2.3", "224.0.1.0 to 239.255.255.255"},
        {"FLYLOOM_MULTICAST", "224.0.0.255", "224.0.1.0 to 239.255.255.255"},
        {"FLYLOOM_MULTICAST", "240.0.0.0%lo", "224.0.1.0 to 239.255.255.255"},
        {"FLYLOOM_MULTICAST", "239.1.1.1%", "INTERFACE"},
        {"FLYLOOM_MULTICAST", "239.1.1.1%longer_than_names_are", "INTERFACE"},
        {"FLYLOOM_MULTICAST", "", "0 for none"},
        {"FLYLOOM_MULTICAST_FAULTS", "1,101", "SEED[,LOST[,TWICE[,LATE]]]"},
        {"FLYLOOM_MULTICAST_FAULTS", "1,2,3,4,5", "SEED[,LOST[,TWICE[,LATE]]]"},
        {"FLYLOOM_MULTICAST_FAULTS", "many", "SEED[,LOST[,TWICE[,LATE]]]"},
        {"FLYLOOM_CHECK", "yes", "0 or 1"},
        {"FLYLOOM_REPEAT", "2", "0 or 1"},
        {"FLYLOOM_LOGGP", "/nowhere/at/all", "No such file"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        const char *words[] = {transports, BAD[i][2]};
        setenv(BAD[i][0], BAD[i][1], 1);
        CHECK(run_threads(2, refused, words) == 0, "%s=%s", BAD[i][0], BAD[i][1]);
        unsetenv(BAD[i][0]);
    }
    static const char *const FILES[][2] = {
        {"{\"L_ns\": 0, \"o_ns\": 1, \"g_ns\": 1, \"G_ns_per_byte\": 1}", "above 0"},
        {"{\n\"o_ns\": 1,\n\"L_ns\": -3, \"g_ns\": 1}", "line 3: L_ns: -3 must be above 0"},
        {"{\"L\": 5, \"o_ns\": 1, \"g_ns\": 1, \"G_ns_per_byte\": 1}", "\"L\" must be \"L_ns\""},
        {"{\"L_us\": 5, \"o_ns\": 1, \"g_ns\": 1}", "\"L_us\" must be \"L_ns\""},
        {"{\"L_ns\": 5, \"o_s\": 1, \"o_r_ns\": 2, \"g_ns\": 1}", "\"o_s\" must be \"o_s_ns\""},
        {"{\"L_ns\": 5, \"o_ns\": 1, \"g_ns\": 1}", "G_ns_per_byte is missing"},
        {"{\"L_ns\": 5, \"o_s_ns\": 1, \"g_ns\": 1, \"G_ns_per_byte\": 1}", "o_r_ns is missing"},
        {"{\"L_ns\": \"5\", \"o_ns\": 1}", "L_ns must be a number"},
        {"{\"L_ns\": 5, \"o_ns\": -1}", "o_ns: -1 must be 0 or more"},
        {"{\"datagram_o_us\": 5}", "\"datagram_o_us\" must be \"datagram_o_ns\""},
        {"{\"datagram_o_ns\": -5}", "datagram_o_ns: -5 must be 0 or more"},
        {"[1]", "must be an object"},
        {"{\"L_ns\": 5", "is missing"},
        {"{\"L_ns\": 5} x", "more behind"},
        {"", "must be an object"},
    };
    char folder[FOLDER_BYTES], path[FOLDER_BYTES + 8];
    CHECK(new_folder(folder), "a folder");
    snprintf(path, sizeof path, "%s/net", folder);
    setenv("FLYLOOM_LOGGP", path, 1);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        const char *words[] = {transports, FILES[i][1]};
        FILE *file = fopen(path, "w");
        CHECK(file != NULL && fputs(FILES[i][0], file) >= 0 && fclose(file) == 0, "%s", path);
        CHECK(run_threads(2, refused, words) == 0, "%s", FILES[i][0]);
    }
    unlink(path);
    rmdir(folder);
    unsetenv("FLYLOOM_LOGGP");
}

/* Runs random collectives until a rank is dead; then all soon get the error, and keep getting
   it. */
static int mortal(const fly_boot *boot, void *context) {
    const struct context *c = context;
    int rank = boot->rank;
    fly_config config = {.transports = c->transports};
    uint64_t random = 11;
    fly_rt *rt;
    OK(fly_init(boot, &config, &rt));
    rank_has_begun();
    for (;;) {
        struct trial trial;
        trial_draw(&trial, fly_world(rt), rank, boot->size, draw(&random), 20000);
        trial_fill(&trial, 0);
        int code = trial_call(&trial, BLOCKING, NULL);
        if (code == FLY_OK) trial_check(&trial, 0);
        trial_end(&trial);
        if (code == FLY_OK) continue;
        CHECK(code == FLY_ERR_PEER, "%d: %s", code, fly_last_error(NULL));
        break;
    }
    CHECK(fly_barrier(fly_world(rt)) == FLY_ERR_PEER, "a team with a death");
    CHECK(fly_finalize(&rt) == FLY_ERR_PEER && rt == NULL, "finalize");
    return 0;
}

int main(int count, char **words) {
    CHECK(count > 2, "coll_errors_test TRANSPORTS threads|processes|kill [SEED]");
    struct context context = {.transports = words[1]};
    int result = 0;
    if (strcmp(words[2], "kill") == 0) {
        uint64_t random = argument(count, words, 3, 1);
        for (int i = 0; i < 3 && result == 0; i++) {
            unsigned after = (unsigned)below(&random, 80000);
            int victim = (int)below(&random, RANKS);
            result = run_and_kill_begun(RANKS, mortal, &context, victim, after);
        }
    } else if (strcmp(words[2], "processes") == 0) {
        result = run_processes(RANKS, body, &context);
    } else {
        context.halves[0] = gathering_new(RANKS / 2);
        context.halves[1] = gathering_new(RANKS / 2);
        result = run_threads(RANKS, body, &context);
        gathering_end(context.halves[0]);
        gathering_end(context.halves[1]);
        settings(words[1]);
        setenv("FLYLOOM_CHECK", "1", 1);
        context.checks = true;
        if (result == 0) result = run_threads(RANKS, body, &context);
    }
    CHECK(result == 0, "result %d", result);
    printf("coll_errors_test: %s %s\n", words[1], words[2]);
    return 0;
}
