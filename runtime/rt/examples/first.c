/* First program: rank 0 hands ten numbers to rank 1, each with one notified put. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom.h"

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

static void produce(fly_win *win) {
    for (int i = 0; i < 10; i++) {
        int64_t square = i * i;
        check("put", fly_put_notify(win, &square, sizeof square, 1, (uint64_t)i, i));
    }
}

static void consume(fly_win *win, const int64_t *numbers) {
    fly_req *req;
    fly_status status;
    int64_t sum = 0;
    check("notify_init", fly_notify_init(win, 0, FLY_ANY_TAG, 1, &req));
    for (int i = 0; i < 10; i++) {
        size_t bytes;
        check("start", fly_start(req));
        check("wait", fly_wait(req, &status)); /* the number is in the window now */
        sum += numbers[status.tag];
        const int64_t *inside = fly_inline(req, &bytes); /* also inside the notification? */
        if (inside != NULL && *inside != numbers[status.tag]) exit(1);
    }
    check("req_free", fly_req_free(&req));
    printf("rank 1 got ten squares; their sum is %lld\n", (long long)sum);
}

int main(void) {
    fly_rt *rt;
    fly_win *win;
    void *base;
    const char *rank = getenv("FLYLOOM_RANK");
    check("init", fly_init(NULL, NULL, &rt)); /* FLYLOOM_RANK, FLYLOOM_SIZE, FLYLOOM_BOOT */
    check("win_allocate", fly_win_allocate(fly_world(rt), 10 * sizeof(int64_t), sizeof(int64_t), 0,
                                           &base, &win));
    if (rank[0] == '0') produce(win);
    if (rank[0] == '1') consume(win, base);
    check("win_free", fly_win_free(&win));
    check("finalize", fly_finalize(&rt));
    return 0;
}
