/* A graph of a file, "FROM TO WEIGHT" a line, and what fly_mpi_comm_mapped makes of it.
 *
 *   mpiexec -n P comm_mapped FILE     prints "process P rank R" for each, or "refused CODE TEXT"
 */
#include "flyloom_mpi.h"

#include "check.h"

int main(int count, char **words) {
    int rank, size, from, to, weight, out = 0, place, targets[256], weights[256], degree;
    MPI_Comm graph, mapped, dup;
    MPI_Init(&count, &words);
    CHECK(count > 1, "comm_mapped FILE");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = fopen(words[1], "r");
    CHECK(file != NULL, "%s", words[1]);
    while (fscanf(file, "%d %d %d", &from, &to, &weight) == 3) {
        if (from != rank) continue;
        CHECK(out < 256, "room");
        targets[out] = to;
        weights[out++] = weight;
    }
    fclose(file);
    CHECK(fly_mpi_comm_mapped(MPI_COMM_WORLD, &mapped) == FLY_ERR_ARG && mapped == MPI_COMM_NULL,
          "a communicator without a graph");
    CHECK(fly_mpi_comm_mapped(MPI_COMM_WORLD, NULL) == FLY_ERR_ARG, "NULL");
    degree = out;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, targets, weights, MPI_INFO_NULL, 0,
                          &graph);
    int code = fly_mpi_comm_mapped(graph, &mapped);
    if (code != FLY_OK) {
        printf("refused %d %s\n", code, fly_last_error(NULL));
        CHECK(mapped == MPI_COMM_NULL, "nothing is made");
    } else {
        MPI_Comm_rank(mapped, &place);
        printf("process %d rank %d\n", rank, place);
        MPI_Comm_dup(mapped, &dup); /* the communicator works */
        MPI_Barrier(dup);
        MPI_Comm_free(&dup);
        MPI_Comm_free(&mapped);
    }
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
