/* Bad input, and exhausted resources: the right error and text, no effect, no hang.
 *
 *   errors_test TRANSPORTS threads|processes
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "ranks.h"
#include "state.h"

/* Set when rank 0 has been refused; in memory of all ranks. */
static int *full;

static int starts(const fly_boot *boot, void *context) {
    int rank = boot->rank;
    const char *transports = context;
    fly_rt *rt = NULL;
    fly_boot bad = *boot;
    bad.rank = bad.size;
    FAILS(FLY_ERR_ARG, "rank", fly_init(&bad, NULL, &rt));
    bad = *boot;
    bad.allgather = NULL;
    FAILS(FLY_ERR_ARG, "allgather", fly_init(&bad, NULL, &rt));
    FAILS(FLY_ERR_ARG, "rt", fly_init(boot, NULL, NULL));
    fly_config unknown = {.transports = "shm,pigeons"};
    FAILS(FLY_ERR_ARG, "pigeons", fly_init(boot, &unknown, &rt));
    fly_config twice = {.transports = "loop,loop"};
    FAILS(FLY_ERR_ARG, "twice", fly_init(boot, &twice, &rt));
    fly_config threads = {.threads = 7};
    FAILS(FLY_ERR_ARG, "threads", fly_init(boot, &threads, &rt));
    fly_config credits = {.credits = 1000000};
    FAILS(FLY_ERR_ARG, "credits", fly_init(boot, &credits, &rt));
    fly_config no_messages = {.transports = "msg"}; /* the bootstrap brings none */
    FAILS(FLY_ERR_TRANSPORT, "reaches", fly_init(boot, &no_messages, &rt));
    fly_config here = {.transports = rank == 0 ? "shm,loop" : "loop,shm"};
    FAILS(FLY_ERR_ARG, "differ", fly_init(boot, &here, &rt));
    fly_config one_bad = {.transports = rank == 1 ? "pigeons" : transports};
    int code = fly_init(boot, &one_bad, &rt);
    CHECK(code == FLY_ERR_ARG && rt == NULL, "all or none: %d", code);
    return 0;
}

static int windows(const fly_boot *boot, fly_rt *rt) {
    int rank = boot->rank;
    fly_team *world = fly_world(rt);
    fly_win *win = NULL;
    void *base = &win;
    FAILS(FLY_ERR_ARG, "unit", fly_win_allocate(world, 8, 0, 0, &base, &win));
    CHECK(base == NULL && win == NULL, "outputs are NULL");
    FAILS(FLY_ERR_ARG, "flags", fly_win_allocate(world, 8, 1, 64, &base, &win));
    FAILS(FLY_ERR_ARG, "flags", fly_win_allocate(world, 8, 1, rank == 0 ? FLY_UNORDERED : 0, &base,
                                                 &win));
    FAILS(FLY_ERR_NOMEM, "", fly_win_allocate(world, SIZE_MAX / 4, 1, 0, &base, &win));
    int code = fly_win_allocate(world, 8, rank == 1 ? 0 : 1, 0, &base, &win);
    CHECK(code == FLY_ERR_ARG && win == NULL, "one rank's error is everybody's");
    FAILS(FLY_ERR_STATE, "fly_world", fly_team_free(&world));
    FAILS(FLY_ERR_ARG, "team", fly_win_allocate(NULL, 8, 1, 0, &base, &win));
    return 0;
}

static int calls(const fly_boot *boot, fly_rt *rt) {
    int rank = boot->rank, flag;
    uint64_t word = 0;
    int64_t value;
    fly_win *win;
    void *base;
    size_t bytes;
    fly_req *req = NULL;
    OK(fly_win_allocate(fly_world(rt), 64, 4, 0, &base, &win));
    FAILS(FLY_ERR_RANK, "target", fly_put(win, &word, 8, 9, 0));
    FAILS(FLY_ERR_RANK, "target", fly_put(win, &word, 8, -7, 0));
    FAILS(FLY_ERR_RANGE, "64", fly_put(win, &word, 8, 0, 15));
    FAILS(FLY_ERR_RANGE, "disp", fly_put(win, &word, 8, 0, UINT64_MAX));
    FAILS(FLY_ERR_RANGE, "disp", fly_put(win, &word, SIZE_MAX, 0, 1));
    OK(fly_put(win, &word, 8, 0, 14));
    OK(fly_put(win, NULL, 0, 0, 16));
    FAILS(FLY_ERR_RANGE, "disp", fly_put(win, NULL, 0, 0, 17));
    FAILS(FLY_ERR_ARG, "aligned", fly_fetch_add(win, &word, 1, 0, 1, FLY_NO_TAG));
    FAILS(FLY_ERR_TAG, "tag", fly_put_notify(win, &word, 8, 0, 0, FLY_NO_TAG));
    FAILS(FLY_ERR_TAG, "tag", fly_notify_init(win, 0, -5, 1, &req));
    FAILS(FLY_ERR_RANK, "source", fly_notify_init(win, boot->size, 0, 1, &req));
    CHECK(req == NULL, "no request");
    FAILS(FLY_ERR_ARG, "what", fly_win_query(win, 99, 0, &value));
    FAILS(FLY_ERR_RANK, "rank", fly_win_query(win, FLY_Q_TAG_UB, 5, &value));
    FAILS(FLY_ERR_RANK, "rank", fly_win_shared(win, 5, &base, &bytes));
    char how[8] = "";
    FAILS(FLY_ERR_ARG, "win", fly_win_path(NULL, 0, how, sizeof how));
    FAILS(FLY_ERR_ARG, "text", fly_win_path(win, 0, NULL, 8));
    FAILS(FLY_ERR_RANK, "rank", fly_win_path(win, -1, how, sizeof how));
    CHECK(how[0] == 0, "nothing is written");
    OK(fly_win_path(win, 0, how, sizeof how));
    CHECK(how[0] != 0 && how[7] == 0, "cut where the room ends: \"%.8s\"", how);
    fly_shape three = {3, 8, 8}, two = {2, 8, 16}, wide = {2, 8, INT64_MAX / 2};
    FAILS(FLY_ERR_ARG, "equal", fly_put_shape(win, &word, &three, 0, 0, &two, FLY_NO_TAG));
    FAILS(FLY_ERR_RANGE, "disp", fly_put_shape(win, &word, &two, 0, 0, &wide, FLY_NO_TAG));
    FAILS(FLY_ERR_ARG, "win", fly_put(NULL, &word, 8, 0, 0));
    FAILS(FLY_ERR_STATE, "lock", fly_unlock(win, 0));
    FAILS(FLY_ERR_STATE, "start", fly_win_complete(win));
    FAILS(FLY_ERR_STATE, "post", fly_win_test(win, &flag));
    FAILS(FLY_ERR_ARG, "twice", fly_win_post(win, 2, (int[]){0, 0}));
    FAILS(FLY_ERR_RANK, "ranks[1]", fly_win_start(win, 2, (int[]){0, 7}));
    FAILS(FLY_ERR_ARG, "kind", fly_lock(win, 5, 0));
    for (int all = 0; all < 2; all++) { /* an error at the target is reported once */
        int target = all ? FLY_ALL : rank;
        win->refused = FLY_ERR_NOMEM;
        FAILS(FLY_ERR_NOMEM, "could not answer", fly_flush_local(win, target));
        OK(fly_flush_local(win, target));
        win->refused = FLY_ERR_TRANSPORT;
        FAILS(FLY_ERR_TRANSPORT, "could not answer", fly_flush(win, target));
        OK(fly_flush(win, target));
    }
    OK(fly_notify_init(win, 0, 1, 1, &req));
    if (rank == 1) OK(fly_start(req));
    FAILS(FLY_ERR_STATE, "active", fly_win_free(&win));
    FAILS(FLY_ERR_STATE, "alive", fly_finalize(&rt));
    OK(fly_cancel(req, NULL));
    OK(fly_req_free(&req));
    OK(fly_win_free(&win));
    return 0;
}


/* The target takes notifications that match nothing. It returns credits in halves as long as it has
   room for `most`, so what can be sent is what was returned plus the credits themselves. */
static int overflow(const fly_boot *boot, fly_rt *rt, uint64_t most, uint64_t credits) {
    int rank = boot->rank;
    uint64_t half = (credits + 1) / 2, whole = most / half * half + credits;
    uint64_t sent = 0;
    fly_win *win;
    void *base;
    fly_req *req, *stop;
    fly_status status;
    OK(fly_win_allocate(fly_world(rt), 8, 1, 0, &base, &win));
    if (rank == 0) {
        int code;
        while (sent < whole) { /* a time-out may come before credits do */
            code = fly_put_notify(win, NULL, 0, 1, 0, (int)sent);
            CHECK(code == FLY_OK || code == FLY_ERR_TIMEOUT, "%d: %s", code, fly_last_error(NULL));
            sent += code == FLY_OK;
        }
        for (int i = 0; i < 2; i++)
            FAILS(FLY_ERR_TIMEOUT, "taken none", fly_put_notify(win, NULL, 0, 1, 0, 5));
        __atomic_store_n(full, 1, __ATOMIC_RELEASE);
        OK(fly_put_notify(win, NULL, 0, 0, 0, 0)); /* a put to itself has room */
        while ((code = fly_put_notify(win, NULL, 0, 1, 0, (int)sent)) == FLY_ERR_TIMEOUT) continue;
        CHECK(code == FLY_OK, "trying again is legal: %d", code);
    } else {
        int64_t unmatched = 0;
        while ((uint64_t)unmatched < whole) {
            OK(fly_progress(rt));
            OK(fly_win_query(win, FLY_Q_UNEXPECTED, 0, &unmatched));
        }
        while (!__atomic_load_n(full, __ATOMIC_ACQUIRE)) OK(fly_progress(rt));
        OK(fly_win_query(win, FLY_Q_UNEXPECTED, 0, &unmatched));
        CHECK((uint64_t)unmatched == whole, "%ld", (long)unmatched);
        OK(fly_notify_init(win, 0, (int)whole, 1, &stop));
        OK(fly_start(stop));
        OK(fly_notify_init(win, FLY_ANY_SOURCE, FLY_ANY_TAG, 1, &req));
        for (uint64_t i = 0; i < whole; i++) {
            OK(fly_start(req));
            OK(fly_wait(req, &status));
            CHECK(status.tag == (int)i && status.source == 0, "%d is not %d", status.tag, (int)i);
        }
        OK(fly_wait(stop, &status));
        OK(fly_req_free(&req));
        OK(fly_req_free(&stop));
    }
    OK(fly_win_free(&win));
    return 0;
}

static int body(const fly_boot *boot, void *context) {
    int rank = boot->rank;
    fly_rt *rt;
    starts(boot, context);
    fly_config config = {.transports = context, .credits = 3, .unexpected_max = 7};
    config.timeout_ms = 200;
    OK(fly_init(boot, &config, &rt));
    windows(boot, rt);
    calls(boot, rt);
    overflow(boot, rt, 7, 3);
    OK(fly_finalize(&rt));
    FAILS(FLY_ERR_ARG, "rt", fly_finalize(&rt));
    CHECK(strstr(fly_strerror(FLY_ERR_PEER), "FLY_ERR_PEER") != NULL, "named");
    CHECK(fly_strerror(-3) != NULL && fly_strerror(99) != NULL, "never NULL");
    return 0;
}

/* The environment overrides fly_config, and its errors name the variable. */
static void environment(void) {
    static const char *const BAD[][2] = {
        {"FLYLOOM_CREDITS", "0"},       {"FLYLOOM_CREDITS", "many"},   {"FLYLOOM_TIMEOUT_MS", "-1"},
        {"FLYLOOM_THREADS", "some"},    {"FLYLOOM_PROGRESS", "2"},     {"FLYLOOM_TRANSPORTS", ""},
        {"FLYLOOM_UNEXPECTED_MAX", ""}, {"FLYLOOM_CREDITS", "99999999999999999999"},
        {"FLYLOOM_CREDITS", "4097"},    {"FLYLOOM_TIMEOUT_MS", "4294967296"},
        {"FLYLOOM_PIECE_BYTES", "63"},  {"FLYLOOM_PIECE_BYTES", "4294967296"}};
    int rank = 0;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        char folder[FOLDER_BYTES];
        fly_boot boot;
        fly_rt *rt;
        CHECK(new_folder(folder), "folder");
        OK(fly_boot_files(folder, 0, 1, &boot));
        setenv(BAD[i][0], BAD[i][1], 1);
        int code = fly_init(&boot, NULL, &rt);
        CHECK(code == FLY_ERR_ARG, "%s=%s gave %d", BAD[i][0], BAD[i][1], code);
        unsetenv(BAD[i][0]);
        fly_boot_files_free(&boot);
        CHECK(remove(folder) == 0, "%s is not empty", folder);
    }
    fly_rt *rt;
    fly_boot boot;
    FAILS(FLY_ERR_ARG, "FLYLOOM_RANK", fly_init(NULL, NULL, &rt));
    FAILS(FLY_ERR_ARG, "/no/such", fly_boot_files("/no/such", 0, 1, &boot));
    FAILS(FLY_ERR_ARG, "rank", fly_boot_files("/tmp", 3, 2, &boot));
}

int main(int count, char **words) {
    CHECK(count == 3, "errors_test TRANSPORTS threads|processes");
    environment();
    full = mmap(NULL, sizeof *full, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(full != MAP_FAILED, "no memory");
    int result = strcmp(words[2], "threads") == 0 ? run_threads(2, body, words[1])
                                                  : run_processes(2, body, words[1]);
    CHECK(result == 0, "result %d", result);
    printf("errors_test: %s, %s\n", words[1], words[2]);
    return 0;
}
