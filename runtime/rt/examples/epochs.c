/* Synchronisation: post-start-complete-wait between two ranks, locks among all. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom.h"

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

int main(void) {
    fly_rt *rt;
    fly_win *win;
    void *base;
    int flag = 0, zero = 0, one = 1;
    uint64_t value = 7, counter;
    const char *rank = getenv("FLYLOOM_RANK");

    check("init", fly_init(NULL, NULL, &rt));
    check("win_allocate", fly_win_allocate(fly_world(rt), 16, 8, 0, &base, &win));
    if (rank[0] == '0') {
        check("win_start", fly_win_start(win, 1, &one)); /* waits until rank 1 has posted */
        check("put", fly_put(win, &value, 8, 1, 0));
        check("win_complete", fly_win_complete(win));
        check("win_post", fly_win_post(win, 1, &one));
        check("win_wait", fly_win_wait(win));
    } else if (rank[0] == '1') {
        check("win_post", fly_win_post(win, 1, &zero));
        while (!flag) check("win_test", fly_win_test(win, &flag));
        printf("rank 1 has %d\n", (int)*(uint64_t *)base);
        check("win_start", fly_win_start(win, 1, &zero));
        check("win_complete", fly_win_complete(win));
    }
    for (int i = 0; i < 100; i++) { /* not atomic, but under a lock */
        check("lock", fly_lock(win, FLY_EXCLUSIVE, 0));
        check("get", fly_get(win, &counter, 8, 0, 1));
        check("flush_local", fly_flush_local(win, 0));
        counter++;
        check("put", fly_put(win, &counter, 8, 0, 1));
        check("unlock", fly_unlock(win, 0)); /* completes the put */
    }
    check("fence", fly_fence(win));
    check("lock_all", fly_lock_all(win));
    check("get", fly_get(win, &counter, 8, 0, 1));
    check("unlock_all", fly_unlock_all(win));
    if (rank[0] == '0') printf("rank 0: counted to %d\n", (int)counter);
    check("win_free", fly_win_free(&win));
    check("finalize", fly_finalize(&rt));
    return 0;
}
