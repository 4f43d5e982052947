/* Teams: each half of the processes has a window of its own; a bootstrap by files for each. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flyloom.h"

/* A program's own error, reported as those of the library. */
static int expect_members(fly_team *team, int wanted) {
    char text[64];
    int rank, size, code = fly_team_self(team, &rank, &size);
    if (code != FLY_OK || size == wanted) return code;
    snprintf(text, sizeof text, "member %d sees %d members, not %d", rank, size, wanted);
    return fly_error_set(FLY_ERR_ARG, text);
}

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

int main(void) {
    fly_boot all, half;
    fly_rt *rt;
    fly_team *team;
    fly_win *win;
    void *base;
    char folder[512];
    uint64_t mine;
    int rank = atoi(getenv("FLYLOOM_RANK")), size = atoi(getenv("FLYLOOM_SIZE"));
    int which = rank % 2, members = (size + 1 - which) / 2;

    check("boot_files", fly_boot_files(getenv("FLYLOOM_BOOT"), rank, size, &all));
    check("init", fly_init(&all, NULL, &rt));
    snprintf(folder, sizeof folder, "%s/half%d", getenv("FLYLOOM_BOOT"), which);
    mkdir(folder, 0700);
    check("boot_files", fly_boot_files(folder, rank / 2, members, &half));
    check("team_create", fly_team_create(rt, &half, &team));
    check("members", expect_members(team, members));
    check("win_allocate", fly_win_allocate(team, 8, 8, 0, &base, &win));
    mine = (uint64_t)rank;
    check("fetch_add", fly_fetch_add(win, NULL, mine, 0, 0, FLY_NO_TAG)); /* rank 0 of the half */
    check("fence", fly_fence(win));
    if (rank < 2) printf("half %d adds up to %d\n", which, (int)*(uint64_t *)base);
    check("win_free", fly_win_free(&win));
    check("team_free", fly_team_free(&team));
    fly_boot_files_free(&half);
    rmdir(folder);
    check("finalize", fly_finalize(&rt));
    fly_boot_files_free(&all);
    return 0;
}
