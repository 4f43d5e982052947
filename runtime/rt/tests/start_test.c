/* Programs that cannot start: fly_init reports the true reason, and returns at every rank.
 *
 *   start_test few|sizes|files|length TRANSPORTS
 *
 * few: some ranks were not started. sizes: ranks are given different numbers of ranks. files: each
 * number of files that may be open, from none to as many as it needs. length: limits on the length
 * of files, from 0 bytes on.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "ranks.h"

enum { TEXT = 512 };

struct outcome {
    int code;
    char text[TEXT];
};

struct limits {
    int resource;
    rlim_t most; /* RLIM_INFINITY: as it is */
};

/* Starts one rank, from the environment as programs do; does not return. */
static void start(const char *folder, int rank, int size, struct limits limits, int report) {
    char text[2][16];
    struct outcome outcome = {0};
    struct rlimit limit;
    snprintf(text[0], sizeof text[0], "%d", rank);
    snprintf(text[1], sizeof text[1], "%d", size);
    setenv("FLYLOOM_BOOT", folder, 1);
    setenv("FLYLOOM_RANK", text[0], 1);
    setenv("FLYLOOM_SIZE", text[1], 1);
    if (limits.most != RLIM_INFINITY) {
        CHECK(getrlimit(limits.resource, &limit) == 0, "getrlimit");
        limit.rlim_cur = limits.most;
        CHECK(setrlimit(limits.resource, &limit) == 0, "setrlimit");
    }
    fly_rt *rt;
    outcome.code = fly_init(NULL, NULL, &rt);
    snprintf(outcome.text, sizeof outcome.text, "%s", fly_last_error(NULL));
    if (outcome.code == FLY_OK && fly_finalize(&rt) != FLY_OK) outcome.code = -1;
    if (write(report, &outcome, sizeof outcome) != sizeof outcome) _exit(1);
    _exit(0);
}

/* Runs `count` ranks that are given these sizes, and collects the outcome of each. */
static void run(int count, const int sizes[], struct limits limits, struct outcome *outcomes) {
    char folder[FOLDER_BYTES];
    CHECK(new_folder(folder), "folder");
    int ends[16], status;
    pid_t children[16];
    fflush(NULL);
    for (int r = 0; r < count; r++) {
        int both[2];
        CHECK(pipe2(both, O_CLOEXEC) == 0, "pipe");
        children[r] = fork();
        if (children[r] == 0) start(folder, r, sizes[r], limits, both[1]);
        close(both[1]);
        ends[r] = both[0];
    }
    for (int r = 0; r < count; r++) {
        bool whole = read(ends[r], &outcomes[r], sizeof *outcomes) == sizeof *outcomes;
        CHECK(waitpid(children[r], &status, 0) == children[r] && whole && status == 0,
              "rank %d ended with status %d", r, status);
        close(ends[r]);
    }
    CHECK(rmdir(folder) == 0, "%s is not empty", folder);
}

static void expect(const struct outcome *outcome, int rank, int code, const char *words) {
    CHECK(outcome->code == code && strstr(outcome->text, words) != NULL,
          "rank %d: %d: \"%s\" in place of %d: \"%s\"", rank, outcome->code, outcome->text, code,
          words);
}

static const struct limits NONE = {RLIMIT_NOFILE, RLIM_INFINITY};

/* Three of 8 ranks are started. FLYLOOM_TIMEOUT_MS, for operations, must have no influence. */
static void few(void) {
    const int sizes[] = {8, 8, 8};
    struct outcome outcomes[3];
    setenv("FLYLOOM_START_TIMEOUT_MS", "300", 1);
    run(3, sizes, NONE, outcomes);
    /* On a busy machine a rank may time out on one of the other two. */
    bool named = false;
    for (int r = 0; r < 3; r++) {
        expect(&outcomes[r], r, FLY_ERR_TIMEOUT, "FLYLOOM_START_TIMEOUT_MS");
        named |= strstr(outcomes[r].text, "5 of 8 ranks have not come in 300 ms") != NULL &&
                 strstr(outcomes[r].text, ": ranks 3 to 7;") != NULL;
    }
    CHECK(named, "%s", outcomes[0].text);
    setenv("FLYLOOM_START_TIMEOUT_MS", "soon", 1);
    run(1, sizes, NONE, outcomes);
    expect(&outcomes[0], 0, FLY_ERR_ARG, "FLYLOOM_START_TIMEOUT_MS");
    unsetenv("FLYLOOM_START_TIMEOUT_MS");
    setenv("FLYLOOM_TIMEOUT_MS", "1", 1);
    const int two[] = {2, 2};
    run(2, two, NONE, outcomes);
    for (int r = 0; r < 2; r++) expect(&outcomes[r], r, FLY_OK, "");
}

static void sizes_differ(void) {
    static const int SIZES[][3] = {{2, 3, 3}, {3, 3, 4}, {3, 2, 3}};
    struct outcome outcomes[3];
    setenv("FLYLOOM_START_TIMEOUT_MS", "5000", 1);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        run(3, SIZES[i], NONE, outcomes);
        int named = 0;
        for (int r = 0; r < 3; r++) {
            /* The others do not wait for long for a rank that comes late. */
            if (outcomes[r].code == FLY_ERR_TIMEOUT) continue;
            named++;
            char words[80], *at = strstr(outcomes[r].text, "the sizes differ: rank ");
            int one, ones, other, others;
            CHECK(outcomes[r].code == FLY_ERR_ARG && at != NULL &&
                      sscanf(at, "the sizes differ: rank %d is one of %d ranks, rank %d one of %d",
                             &one, &ones, &other, &others) == 4,
                  "rank %d: %d: %s", r, outcomes[r].code, outcomes[r].text);
            snprintf(words, sizeof words, "%d of %d, %d of %d", one, ones, other, others);
            CHECK(one < 3 && other == r && ones == SIZES[i][one] && others == SIZES[i][r] &&
                      ones != others, "rank %d: %s", r, words);
        }
        CHECK(named > 0, "%s", outcomes[0].text);
    }
}

/* Applies each limit to all ranks, until all can start; below that the error names the limit. */
static void limited(int resource, const rlim_t limits[], int count, const char *words) {
    const int sizes[] = {2, 2};
    struct outcome outcomes[2];
    bool started = false;
    setenv("FLYLOOM_START_TIMEOUT_MS", "5000", 1);
    for (int i = 0; i < count && !started; i++) {
        run(2, sizes, (struct limits){resource, limits[i]}, outcomes);
        started = outcomes[0].code == FLY_OK && outcomes[1].code == FLY_OK;
        bool named = false;
        for (int r = 0; r < 2 && !started; r++) {
            named |= strstr(outcomes[r].text, words) != NULL;
            /* A time-out is right here, too, for a rank that comes late. */
            CHECK(outcomes[r].code == FLY_ERR_NOMEM || outcomes[r].code == FLY_ERR_TIMEOUT,
                  "limit %lu: rank %d: %d: %s", (unsigned long)limits[i], r, outcomes[r].code,
                  outcomes[r].text);
        }
        CHECK(started || named, "limit %lu: %s", (unsigned long)limits[i], outcomes[0].text);
        if (i == 0) CHECK(!started, "there is no limit");
    }
    CHECK(started, "limit %lu: %s", (unsigned long)limits[count - 1], outcomes[0].text);
}

int main(int count, char **words) {
    CHECK(count == 3, "start_test few|sizes|files|length TRANSPORTS");
    const char *what = words[1];
    setenv("FLYLOOM_TRANSPORTS", words[2], 1);
    if (strcmp(what, "few") == 0) few();
    if (strcmp(what, "sizes") == 0) sizes_differ();
    if (strcmp(what, "files") == 0) {
        rlim_t open[60];
        int lowest = dup(0), most = sizeof open / sizeof *open;
        close(lowest);
        for (int i = 0; i < most; i++) open[i] = (rlim_t)(lowest + 1 + i);
        limited(RLIMIT_NOFILE, open, most, "ulimit -n");
    }
    if (strcmp(what, "length") == 0) {
        static const rlim_t BYTES[] = {0, 4, 100, 4096, 1 << 16, 1 << 22};
        limited(RLIMIT_FSIZE, BYTES, sizeof BYTES / sizeof *BYTES, "ulimit -f");
    }
    printf("start_test: %s, %s\n", what, words[2]);
    return 0;
}
