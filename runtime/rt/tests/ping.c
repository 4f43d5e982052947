/* First contact: rank 0 and 1 send a number back and forth. ping TRANSPORT threads|processes [N] */
#include <string.h>
#include <time.h>

#include "check.h"
#include "ranks.h"

struct options {
    const char *transport;
    uint64_t count;
};

#define OK(call)                                                     \
    do {                                                             \
        int code_ = (call);                                          \
        CHECK(code_ == FLY_OK, "%d: %s", code_, fly_last_error(NULL)); \
    } while (0)

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    fly_config config = {.transports = options->transport};
    fly_rt *rt;
    OK(fly_init(boot, &config, &rt));
    uint64_t *base;
    fly_win *win;
    OK(fly_win_allocate(fly_world(rt), 4096, 8, 0, (void **)&base, &win));
    int other = boot->rank ^ 1;
    struct timespec a, b;
    if (boot->rank < 2) {
        fly_req *req;
        OK(fly_notify_init(win, other, 7, 1, &req));
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (uint64_t i = 1; i <= options->count; i++) {
            uint64_t value = i;
            fly_status status;
            OK(fly_start(req));
            if (boot->rank == 0) OK(fly_put_notify(win, &value, 8, other, 1, 7));
            OK(fly_wait(req, &status));
            CHECK(base[1] == i && status.source == other && status.tag == 7, "%lu",
                  (unsigned long)base[1]);
            if (boot->rank == 1) OK(fly_put_notify(win, &value, 8, other, 1, 7));
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        if (boot->rank == 0)
            printf("%s: %.1f ns half round trip\n", options->transport,
                   ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / options->count / 2);
        OK(fly_req_free(&req));
    }
    OK(fly_win_free(&win));
    OK(fly_finalize(&rt));
    return 0;
}

int main(int count, char **words) {
    struct options options = {words[1], argument(count, words, 3, 100000)};
    return strcmp(words[2], "threads") == 0 ? run_threads(2, body, &options)
                                            : run_processes(2, body, &options, 60);
}
