/* Halo exchange with notified puts into halos of even and odd steps: means of cells on a ring. */
#include "start.h"

enum { CELLS = 100, LEFT = 0, RIGHT = 1 };

int main(int count, char **words) {
    int rank, size;
    double cells[2][CELLS + 2];
    double *halo; /* by parity of the step, then by side; neighbours write here */
    void *base;
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    fly_req *came[2];
    MPI_Comm ring;
    int left, right;
    const int steps = count > 1 ? atoi(words[1]) : 50;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 1, &ring); /* ranks may be reordered */
    MPI_Comm_rank(ring, &rank);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    fly_team *team = start(ring, &boot, &rt); /* its ranks are those of the ring */
    for (int i = 1; i <= CELLS; i++) cells[0][i] = (rank * CELLS + i) % 17;

    DO(fly_win_allocate(team, 4 * sizeof(double), sizeof(double), 0, &base, &win));
    halo = base;
    for (int half = 0; half < 2; half++) { /* two cells come in a step; the tag is its parity */
        DO(fly_notify_init(win, FLY_ANY_SOURCE, half, 2, &came[half]));
        DO(fly_start(came[half]));
    }

    for (int step = 0; step < steps; step++) {
        const int half = step % 2;
        double *now = cells[half], *next = cells[1 - half];
        /* this rank's first cell is what lies to the right of its left neighbour */
        DO(fly_put_notify(win, &now[1], sizeof(double), left, 2 * half + RIGHT, half));
        DO(fly_put_notify(win, &now[CELLS], sizeof(double), right, 2 * half + LEFT, half));
        for (int i = 2; i < CELLS; i++) next[i] = (now[i - 1] + now[i] + now[i + 1]) / 3;
        DO(fly_wait(came[half], NULL));
        next[1] = (halo[2 * half + LEFT] + now[1] + now[2]) / 3;
        next[CELLS] = (now[CELLS - 1] + now[CELLS] + halo[2 * half + RIGHT]) / 3;
        DO(fly_start(came[half]));
        DO(fly_flush_local(win, FLY_ALL)); /* `now` is written again in the next step */
    }

    printf("rank %d: %.12f %.12f\n", rank, cells[steps % 2][1],
           cells[steps % 2][CELLS]);
    for (int half = 0; half < 2; half++) {
        DO(fly_cancel(came[half], NULL));
        DO(fly_req_free(&came[half]));
    }
    DO(fly_win_free(&win));
    finish(&boot, &rt);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
