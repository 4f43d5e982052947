/* One-sided data: puts and gets, blocks, atomics, memory of the program's own, fences, flushes. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom.h"

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

int main(void) {
    static uint64_t matrix[4][4];
    fly_rt *rt;
    fly_win *win;
    void *near;
    size_t bytes;
    int64_t largest_tag;
    char how[200];
    uint64_t column[4] = {1, 2, 3, 4}, old, row[4];
    fly_shape whole = {4, 8, 8}, down = {4, 8, 32}; /* blocks, bytes of each, distance */
    const char *rank = getenv("FLYLOOM_RANK");

    check("init", fly_init(NULL, NULL, &rt));
    check("win_create", fly_win_create(fly_world(rt), matrix, sizeof matrix, 8, 0, &win));
    check("win_query", fly_win_query(win, FLY_Q_TAG_UB, 0, &largest_tag));
    check("win_path", fly_win_path(win, 0, how, sizeof how)); /* such as "shm: loads and stores" */
    check("win_shared", fly_win_shared(win, 0, &near, &bytes));
    check("fence", fly_fence(win));
    if (rank[0] == '1') { /* a column of rank 0's matrix, then its first row */
        check("put_shape", fly_put_shape(win, column, &whole, 0, 2, &down, FLY_NO_TAG));
        check("put", fly_put(win, &column[3], 8, 0, 0));
        check("flush", fly_flush(win, 0)); /* the bytes are at the target now */
        check("get", fly_get(win, row, sizeof row, 0, 0));
        check("flush_local", fly_flush_local(win, 0)); /* the bytes are here now */
        printf("rank 1 sees %d %d %d %d\n", (int)row[0], (int)row[1], (int)row[2], (int)row[3]);
        check("get_shape", fly_get_shape(win, row, &whole, 0, 2, &down, FLY_NO_TAG));
    }
    check("fetch_add", fly_fetch_add(win, &old, 1, 0, 15, FLY_NO_TAG)); /* all count up */
    check("compare_swap", fly_compare_swap(win, &old, 0, 9, 0, 14, FLY_NO_TAG));
    check("win_sync", fly_win_sync(win));
    check("fence", fly_fence(win));
    if (rank[0] == '0') printf("rank 0: %d in the corner\n", (int)matrix[3][3]);
    check("win_free", fly_win_free(&win));
    check("finalize", fly_finalize(&rt));
    return 0;
}
