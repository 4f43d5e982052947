/* Limits of the machine and the environment: ranks that share processors, sizes of files, time-outs
 * that never come early, and names of settings that nothing reads.
 *
 *   limits_test crowd|files|timeout|names
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "names.h"
#include "progress.h"
#include "ranks.h"

/* Binds the caller to the allowed processor with this number, counted from 0, with wrap-around. */
static int hold(int number) {
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "affinity");
    int there = CPU_COUNT(&allowed), left = number % there;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && left-- == 0) CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "affinity");
    return there;
}

static void begin(const fly_boot *boot, fly_config config, fly_rt **rt) {
    config.transports = "shm";
    CHECK(fly_init(boot, &config, rt) == FLY_OK, "rank %d: %s", boot->rank, fly_last_error(NULL));
}

/* Every rank is on the first processor, so each must yield to the others. */
static int share_one(const fly_boot *boot, void *context) {
    (void)context;
    fly_rt *rt;
    hold(0);
    begin(boot, (fly_config){0}, &rt);
    CHECK(rt->crowded && rt->crowd == boot->size, "%d ranks on one: %d", boot->size, rt->crowd);
    return fly_finalize(&rt);
}

/* Each rank is on its own processor, as far as there are enough. */
static int own_each(const fly_boot *boot, void *context) {
    (void)context;
    fly_rt *rt;
    int there = hold(boot->rank);
    begin(boot, (fly_config){0}, &rt);
    CHECK(rt->crowd == (boot->size + there - 1) / there, "%d ranks on %d: %d", boot->size, there,
          rt->crowd);
    return fly_finalize(&rt);
}

/* A window above the limit on files is refused, and a smaller one can be made afterwards. */
static int limited_files(const fly_boot *boot, void *context) {
    (void)context;
    fly_rt *rt;
    fly_win *win;
    void *base;
    begin(boot, (fly_config){0}, &rt);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    limit.rlim_cur = 1 << 20;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    int code = fly_win_allocate(fly_world(rt), (2 << 20) + 1, 1, 0, &base, &win);
    CHECK(code == FLY_ERR_NOMEM, "%d", code);
    CHECK(strstr(fly_last_error(NULL), "ulimit -f") != NULL, "%s", fly_last_error(NULL));
    code = fly_win_allocate(fly_world(rt), 1 << 19, 1, 0, &base, &win);
    CHECK(code == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_win_free(&win) == FLY_OK, "%s", fly_last_error(NULL));
    return fly_finalize(&rt);
}

/* Rank 0 has one credit and rank 1 takes nothing, so a time-out comes, and never early. rest_test
   checks by a clock of its own how late it may come. */
static int late(const fly_boot *boot, void *context) {
    enum { LIMIT_MS = 200, TIMES = 2 };
    (void)context;
    fly_rt *rt;
    fly_win *win;
    void *base;
    begin(boot, (fly_config){.credits = 1, .timeout_ms = LIMIT_MS}, &rt);
    CHECK(fly_win_allocate(fly_world(rt), 64, 1, 0, &base, &win) == FLY_OK, "%s",
          fly_last_error(NULL));
    if (boot->rank == 0) {
        while (fly_put_notify(win, "x", 1, 1, 0, 1) == FLY_OK) continue; /* until none is left */
        for (int i = 0; i < TIMES; i++) {
            uint64_t began = fly_now_ns();
            int code = fly_put_notify(win, "x", 1, 1, 0, 1);
            double took = (double)(fly_now_ns() - began) / 1e6;
            CHECK(code == FLY_ERR_TIMEOUT, "%d", code);
            CHECK(took >= LIMIT_MS, "after %.1f ms", took);
        }
    }
    uint64_t one = 1;
    CHECK(boot->allgather(boot->ctx, &one, (uint64_t[2]){0}, sizeof one) == 0, "gather");
    CHECK(fly_win_free(&win) == FLY_OK, "%s", fly_last_error(NULL));
    return fly_finalize(&rt);
}

static void names(void) {
    char *text;
    size_t length;
    setenv("FLYLOOM_CREDIT", "1", 1);
    setenv("FLYLOOM_TIMEOUT", "1", 1);
    setenv("FLYLOOM_CREDITS", "1", 1);
    setenv("FLYLOOM_ROOT", "/opt/flyloom", 1);
    setenv("FLYLOOM_TEST_ANYTHING", "1", 1);
    setenv("FLYLOOM", "1", 1);
    FILE *out = open_memstream(&text, &length);
    fly_names_unknown(out);
    fclose(out);
    CHECK(strstr(text, "FLYLOOM_CREDIT is no setting and has no effect; did you mean "
                       "FLYLOOM_CREDITS?") != NULL, "%s", text);
    CHECK(strstr(text, "FLYLOOM_TIMEOUT is no setting and has no effect; did you mean "
                       "FLYLOOM_TIMEOUT_MS?") != NULL, "%s", text);
    int lines = 0;
    for (const char *at = text; *at != 0; at++) lines += *at == '\n';
    CHECK(lines == 2, "%s", text);
    free(text);
}

int main(int count, char **words) {
    const char *what = count == 2 ? words[1] : "";
    int result = 0;
    if (strcmp(what, "crowd") == 0) {
        result = run_processes(3, share_one, NULL);
        if (result == 0) result = run_processes(3, own_each, NULL);
    } else if (strcmp(what, "files") == 0) {
        result = run_processes(2, limited_files, NULL);
    } else if (strcmp(what, "timeout") == 0) {
        result = run_processes(2, late, NULL);
    } else if (strcmp(what, "names") == 0) {
        names();
    } else {
        CHECK(false, "limits_test crowd|files|timeout|names");
    }
    CHECK(result == 0, "%d", result);
    return 0;
}
