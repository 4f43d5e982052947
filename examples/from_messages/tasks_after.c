/* Tasks that ranks take themselves by an atomic counter; results arrive in their places. */
#include "start.h"

enum { TASKS = 30 };

struct board { uint64_t next; int64_t results[TASKS]; };

static int64_t work(int64_t task) { return task * task + 7; }

int main(int count, char **words) {
    int rank, size;
    struct board *board; /* at rank 0 */
    void *base;
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    MPI_Init(&count, &words);
    fly_team *team = start(MPI_COMM_WORLD, &boot, &rt);
    DO(fly_team_self(team, &rank, &size));
    DO(fly_win_allocate(team, rank == 0 ? sizeof *board : 0, 8, 0, &base, &win));
    board = base;

    if (rank == 0) { /* hands out nothing: it waits for all results, and could work meanwhile */
        fly_req *came;
        DO(fly_notify_init(win, FLY_ANY_SOURCE, FLY_ANY_TAG, TASKS, &came));
        DO(fly_start(came));
        DO(fly_wait(came, NULL));
        DO(fly_req_free(&came));
    } else {
        for (;;) {
            uint64_t task;
            DO(fly_fetch_add(win, &task, 1, 0, 0, FLY_NO_TAG));
            DO(fly_flush_local(win, 0)); /* the number is here */
            if (task >= TASKS) break;
            int64_t value = work((int64_t)task);
            DO(fly_put_notify(win, &value, sizeof value, 0, 1 + task, 0));
            DO(fly_flush_local(win, 0));
        }
    }

    if (rank == 0)
        for (int task = 0; task < TASKS; task += 10)
            printf("task %d: %ld, %ld\n", task, (long)board->results[task],
                   (long)board->results[task + 9]);
    DO(fly_win_free(&win));
    finish(&boot, &rt);
    MPI_Finalize();
    return 0;
}
