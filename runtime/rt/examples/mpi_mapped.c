/* Ranks by the network in use: a ring of processes, and how often its neighbours are on one host.
 *
 * FLYLOOM_NETWORK=ring:n=2,p=2 mpiexec -n 4 ./mpi_mapped, with FLYLOOM_MAP_LIBRARY as
 * `flyloom reorder --library` has it beside the library that it prints.
 */
#include <flyloom_mpi.h>
#include <stdio.h>
#include <string.h>

static void host_of(char host[64]) {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    const char *given = getenv("FLYLOOM_HOST");
    MPI_Get_processor_name(name, &length);
    snprintf(host, 64, "%.63s", given != NULL ? given : name);
}

/* How many of a ring's edges stay on a host, with the ranks of this communicator. */
static int near_edges(MPI_Comm comm) {
    char host[64] = "", next[64] = "";
    int rank, size, near = 0, mine;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    host_of(host);
    MPI_Sendrecv(host, 64, MPI_CHAR, (rank + size - 1) % size, 0, next, 64, MPI_CHAR,
                 (rank + 1) % size, 0, comm, MPI_STATUS_IGNORE);
    mine = strcmp(host, next) == 0;
    MPI_Allreduce(&mine, &near, 1, MPI_INT, MPI_SUM, comm);
    return near;
}

int main(int count, char **words) {
    int rank, size, ones[] = {1, 1}, place;
    MPI_Comm graph, mapped;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int both[] = {(rank + size - 1) % size, (rank + 1) % size};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, ones, 2, both, ones, MPI_INFO_NULL, 0,
                                   &graph);
    int code = fly_mpi_comm_mapped(graph, &mapped);
    if (code != FLY_OK) {
        if (rank == 0) printf("as they are: %s\n", fly_last_error(NULL));
        mapped = graph;
    }
    int before = near_edges(graph), after = near_edges(mapped);
    MPI_Comm_rank(mapped, &place);
    printf("process %d has rank %d; %d, then %d edges on a host\n", rank, place, before, after);
    if (code == FLY_OK) MPI_Comm_free(&mapped);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return code == FLY_OK || code == FLY_ERR_UNSUPPORTED ? 0 : 1;
}
