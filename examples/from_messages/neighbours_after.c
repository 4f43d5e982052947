/* Blocks for all neighbours of a graph: one request counts the notified puts of a step. */
#include "start.h"

enum { NEIGHBOURS = 4, BLOCK = 8, STEPS = 20 };

static const int TO[NEIGHBOURS] = {1, -1, 2, -2}; /* how much further they are */

int main(int count, char **words) {
    int rank, size;
    long own[BLOCK];
    long (*in)[NEIGHBOURS][BLOCK]; /* by parity of the step */
    void *base;
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    fly_req *came[2];
    MPI_Init(&count, &words);
    fly_team *team = start(MPI_COMM_WORLD, &boot, &rt);
    DO(fly_team_self(team, &rank, &size));
    for (int i = 0; i < BLOCK; i++) own[i] = 10 * rank + i;

    DO(fly_win_allocate(team, 2 * sizeof *in, sizeof in[0][0], 0, &base, &win));
    in = base;
    for (int half = 0; half < 2; half++) {
        DO(fly_notify_init(win, FLY_ANY_SOURCE, half, NEIGHBOURS, &came[half]));
        DO(fly_start(came[half]));
    }

    for (int step = 0; step < STEPS; step++) {
        const int half = step % 2;
        for (int n = 0; n < NEIGHBOURS; n++) {
            const int to = (rank + TO[n] + size) % size;
            DO(fly_put_notify(win, own, sizeof own, to, (uint64_t)(NEIGHBOURS * half + n), half));
        }
        DO(fly_wait(came[half], NULL)); /* all of them */
        DO(fly_flush_local(win, FLY_ALL));
        for (int i = 0; i < BLOCK; i++) {
            own[i] += in[half][0][i] + 2 * in[half][1][i] + 3 * in[half][2][i] +
                      4 * in[half][3][i];
            own[i] %= 1000003;
        }
        DO(fly_start(came[half]));
    }

    printf("rank %d: %ld %ld\n", rank, own[0], own[BLOCK - 1]);
    for (int half = 0; half < 2; half++) {
        DO(fly_cancel(came[half], NULL));
        DO(fly_req_free(&came[half]));
    }
    DO(fly_win_free(&win));
    finish(&boot, &rt);
    MPI_Finalize();
    return 0;
}
