/* A sum over all ranks by recursive doubling with notified puts; the ranks are a power of two. */
#include "start.h"

enum { TIMES = 20, ROUNDS = 32 };

int main(int count, char **words) {
    int rank, size;
    long value;
    const long *in; /* a place for each round, for sums of even and of odd number */
    void *base;
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    fly_req *came[ROUNDS];
    MPI_Init(&count, &words);
    fly_team *team = start(MPI_COMM_WORLD, &boot, &rt);
    DO(fly_team_self(team, &rank, &size));
    value = rank + 1;

    DO(fly_win_allocate(team, 2 * ROUNDS * sizeof(long), sizeof(long), 0, &base, &win));
    in = base;
    for (int round = 0; 1 << round < size; round++)
        DO(fly_notify_init(win, rank ^ 1 << round, round, 1, &came[round]));

    for (int time = 0; time < TIMES; time++) {
        long sum = value;
        for (int round = 0; 1 << round < size; round++) {
            const int place = time % 2 * ROUNDS + round;
            DO(fly_start(came[round]));
            DO(fly_put_notify(win, &sum, sizeof sum, rank ^ 1 << round, (uint64_t)place, round));
            DO(fly_wait(came[round], NULL));
            DO(fly_flush_local(win, FLY_ALL));
            sum += in[place];
        }
        value = (value * 3 + sum) % 1000003;
    }

    printf("rank %d: %ld\n", rank, value);
    for (int round = 0; 1 << round < size; round++) DO(fly_req_free(&came[round]));
    DO(fly_win_free(&win));
    finish(&boot, &rt);
    MPI_Finalize();
    return 0;
}
