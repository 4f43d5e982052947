/* Grids and graphs whose ranks may move: what test_reorder_grid.py runs. Arguments: grid or graph,
 * whether ranks may move, and sides of a torus; negative ones do not close to a ring. Each process
 * prints its rank in MPI_COMM_WORLD, its new one or -1, and those of its neighbours in
 * MPI_COMM_WORLD. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 };

int main(int argc, char **argv) {
    int world, all, now = -1, sides[MOST], rounds[MOST], near[2 * MOST], known[2 * MOST];
    int count = argc - 3, ranks = 1, degree = 0;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    for (int i = 0; i < count; i++) {
        int side = atoi(argv[3 + i]);
        rounds[i] = side > 0;
        sides[i] = abs(side);
        ranks *= sides[i];
    }
    if (strcmp(argv[1], "grid") == 0) {
        MPI_Cart_create(MPI_COMM_WORLD, count, sides, rounds, atoi(argv[2]), &made);
        for (int i = 0; made != MPI_COMM_NULL && i < count; i++, degree += 2)
            MPI_Cart_shift(made, i, 1, &near[degree], &near[degree + 1]);
    } else if (strcmp(argv[1], "graph") == 0) { /* a ring of all ranks */
        int *index = malloc(sizeof(int) * (size_t)ranks);
        int *to = malloc(sizeof(int) * 2 * (size_t)ranks);
        for (int i = 0; i < ranks; i++) {
            index[i] = 2 * (i + 1);
            to[2 * i] = (i + 1) % ranks;
            to[2 * i + 1] = (i + ranks - 1) % ranks;
        }
        MPI_Graph_create(MPI_COMM_WORLD, ranks, index, to, atoi(argv[2]), &made);
        if (made != MPI_COMM_NULL) {
            MPI_Comm_rank(made, &now);
            MPI_Graph_neighbors_count(made, now, &degree);
            MPI_Graph_neighbors(made, now, degree, near);
        }
        free(index);
        free(to);
    }
    if (made != MPI_COMM_NULL) {
        MPI_Request r[4 * MOST];
        MPI_Comm_rank(made, &now);
        for (int i = 0; i < degree; i++) {
            known[i] = -1;
            MPI_Irecv(&known[i], 1, MPI_INT, near[i], 0, made, &r[2 * i]);
            MPI_Isend(&world, 1, MPI_INT, near[i], 0, made, &r[2 * i + 1]);
        }
        MPI_Waitall(2 * degree, r, MPI_STATUSES_IGNORE);
        MPI_Comm_free(&made);
    }
    char line[400];
    int at = snprintf(line, sizeof line, "%d is %d:", world, now);
    for (int i = 0; i < degree; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " %d", known[i]);
    at += snprintf(line + at, sizeof line - (size_t)at, ";\n");
    /* at once: launchers put parts of lines of several ranks together */
    if (write(1, line, (size_t)at) != at) return 1;
    MPI_Finalize();
    return 0;
}
