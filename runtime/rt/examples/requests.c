/* Requests: counting, wildcards, tests, waits, cancelling; operations with a request. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom.h"

enum { DATA = 1, DONE = 2, NEVER = 3 };

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

static void rank0(fly_win *win) {
    fly_req *writes[2];
    double word = 2.5, back = 0;
    for (int i = 0; i < 2; i++)
        check("rput", fly_rput(win, &word, sizeof word, 1, (uint64_t)i, DATA, &writes[i]));
    check("waitall", fly_waitall(2, writes, NULL)); /* `word` may be used again */
    check("rget", fly_rget(win, &back, sizeof back, 1, 0, FLY_NO_TAG, &writes[0]));
    check("wait", fly_wait(writes[0], NULL));
    if (back != 2.5) exit(1);
    check("get_notify", fly_get_notify(win, &back, sizeof back, 1, 1, DONE)); /* "I have read" */
    check("flush_local", fly_flush_local(win, 1));
    for (int i = 0; i < 2; i++) check("req_free", fly_req_free(&writes[i]));
}

static void rank1(fly_rt *rt, fly_win *win) {
    fly_req *reqs[3];
    fly_status status;
    size_t index;
    int flag = 0;
    while (!flag) check("probe", fly_probe(win, FLY_ANY_SOURCE, DATA, &flag, &status));
    check("notify_init", fly_notify_init(win, 0, DATA, 2, &reqs[0])); /* both writes */
    check("notify_init", fly_notify_init(win, 0, DONE, 1, &reqs[1]));
    check("notify_init", fly_notify_init(win, FLY_ANY_SOURCE, NEVER, 1, &reqs[2]));
    for (int i = 0; i < 3; i++) check("start", fly_start(reqs[i]));
    check("waitany", fly_waitany(3, reqs, &index, &status));
    flag = 0;
    while (!flag) {
        check("progress", fly_progress(rt)); /* computing could go here */
        check("testany", fly_testany(2, reqs, &index, &flag, &status));
    }
    check("test", fly_test(reqs[2], &flag, &status));
    check("cancel", fly_cancel(reqs[2], &status));
    printf("rank 1: the last test says %d, the cancelled request had %d\n", flag,
           (int)status.count);
    for (int i = 0; i < 3; i++) check("req_free", fly_req_free(&reqs[i]));
}

int main(void) {
    fly_rt *rt;
    fly_win *win;
    void *base;
    const char *rank = getenv("FLYLOOM_RANK");
    check("init", fly_init(NULL, NULL, &rt));
    check("win_allocate", fly_win_allocate(fly_world(rt), 16, 8, 0, &base, &win));
    if (rank[0] == '0') rank0(win);
    if (rank[0] == '1') rank1(rt, win);
    check("win_free", fly_win_free(&win));
    check("finalize", fly_finalize(&rt));
    return 0;
}
