/* Use beside an MPI: its communicator gives the processes, its types the shapes and numbers. */
#include <flyloom_mpi.h>
#include <stdio.h>

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The second column of a matrix at the rank before, put into the first column of this one's. */
static void columns(fly_team *team, int rank, int size) {
    double *matrix;
    void *base;
    fly_win *win;
    fly_shape shape;
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &column); /* of 4 rows and 3 columns */
    MPI_Type_commit(&column);
    check("shape", fly_mpi_shape(column, 1, &shape));
    check("allocate", fly_win_allocate(team, 12 * sizeof(double), 1, 0, &base, &win));
    matrix = (double *)base;
    for (int i = 0; i < 12; i++) matrix[i] = 100 * rank + i;
    check("fence", fly_fence(win));
    check("put", fly_put_shape(win, matrix + 1, &shape, (rank + 1) % size, 0, &shape,
                               FLY_NO_TAG));
    check("fence", fly_fence(win));
    printf("rank %d has %g in its last row\n", rank, matrix[9]);
    check("free", fly_win_free(&win));
    MPI_Type_free(&column);
}

int main(int count, char **words) {
    fly_boot boot;
    fly_rt *rt;
    int sum = 0;
    MPI_Init(&count, &words);
    check("boot", fly_mpi_boot(MPI_COMM_WORLD, &boot));
    int rank = boot.rank, size = boot.size;
    check("init", fly_init(&boot, NULL, &rt));
    check("allreduce", fly_mpi_allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, fly_world(rt)));
    printf("rank %d has the sum %d\n", rank, sum);
    columns(fly_world(rt), rank, size);
    check("finalize", fly_finalize(&rt));
    fly_mpi_boot_free(&boot);
    MPI_Finalize();
    return 0;
}
