/* Under a launcher that speaks PMIx, without an MPI: every rank tells the next one its rank.
 *
 *   cc pmix_boot.c $(pkg-config --cflags --libs flyloom pmix) && prterun -n 3 ./a.out
 */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom_pmix.h"

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

int main(void) {
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    fly_req *req;
    int *left;
    check("pmix_boot", fly_pmix_boot(&boot));
    check("init", fly_init(&boot, NULL, &rt));
    check("win_allocate", fly_win_allocate(fly_world(rt), sizeof *left, sizeof *left, 0,
                                           (void **)&left, &win));
    check("notify_init", fly_notify_init(win, FLY_ANY_SOURCE, 0, 1, &req));
    check("start", fly_start(req));
    check("put", fly_put_notify(win, &boot.rank, sizeof boot.rank, (boot.rank + 1) % boot.size,
                                0, 0));
    check("wait", fly_wait(req, NULL));
    printf("rank %d of %d is behind rank %d\n", boot.rank, boot.size, *left);
    check("req_free", fly_req_free(&req));
    check("win_free", fly_win_free(&win));
    check("finalize", fly_finalize(&rt));
    fly_pmix_boot_free(&boot);
    return 0;
}
