/* A pipeline with a notified put for every row, which has a place of its own at the next rank. */
#include "start.h"

enum { ROWS = 40, SWEEPS = 3, CORNER = ROWS };

int main(int count, char **words) {
    int rank, size;
    long own[ROWS], corner = 0;
    const long *in; /* a place for each row, and one for the corner */
    void *base;
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    fly_req *came;
    MPI_Init(&count, &words);
    fly_team *team = start(MPI_COMM_WORLD, &boot, &rt);
    DO(fly_team_self(team, &rank, &size));
    for (int row = 0; row < ROWS; row++) own[row] = rank + row;

    DO(fly_win_allocate(team, (ROWS + 1) * sizeof(long), sizeof(long), 0, &base, &win));
    in = base;
    /* notifications of one rank come in the order of its puts, so that no tag needs a row */
    const int before_me = rank > 0 ? rank - 1 : size - 1;
    DO(fly_notify_init(win, before_me, FLY_ANY_TAG, 1, &came));

    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int row = 0; row < ROWS; row++) {
            long before = corner;
            if (rank > 0) {
                DO(fly_start(came));
                DO(fly_wait(came, NULL));
                before = in[row];
            }
            own[row] = (own[row] + (row > 0 ? own[row - 1] : 0) + before) % 1000003;
            if (rank < size - 1)
                DO(fly_put_notify(win, &own[row], sizeof(long), rank + 1, (uint64_t)row, 0));
        }
        DO(fly_flush_local(win, FLY_ALL));
        /* the corner says, too, that all ranks have read their rows: the next sweep may come */
        if (rank == size - 1)
            DO(fly_put_notify(win, &own[ROWS - 1], sizeof(long), 0, CORNER, 1));
        if (rank == 0) {
            DO(fly_start(came));
            DO(fly_wait(came, NULL));
            corner = in[CORNER];
        }
    }

    printf("rank %d: %ld\n", rank, own[ROWS - 1]);
    DO(fly_req_free(&came));
    DO(fly_win_free(&win));
    finish(&boot, &rt);
    MPI_Finalize();
    return 0;
}
