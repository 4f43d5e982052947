/* Random programs under an MPI, compared with the model of the rules; built by its mpicc.
 *
 *   mpiexec -n P program_mpi TRANSPORTS [PROGRAMS [STEPS [SEED]]]
 */
#include "flyloom_mpi.h"

#include <string.h>

#include "check.h"
#include "program.h"

static void meet(void *context, fly_rt *rt) {
    MPI_Request request;
    int done = 0;
    (void)context;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        fly_progress(rt);
    }
}

static void shapes(void) {
    MPI_Datatype vector, rows, pair;
    fly_shape shape;
    CHECK(fly_mpi_shape(MPI_DOUBLE, 5, &shape) == FLY_OK && shape.blocks == 1 &&
              shape.block_bytes == 40, "five doubles");
    MPI_Type_vector(3, 2, 7, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    CHECK(fly_mpi_shape(vector, 1, &shape) == FLY_OK && shape.blocks == 3 &&
              shape.block_bytes == 8 && shape.stride_bytes == 28, "a vector");
    CHECK(fly_mpi_shape(vector, 2, &shape) == FLY_ERR_UNSUPPORTED, "two vectors overlap");
    MPI_Type_create_hvector(4, 1, -16, MPI_DOUBLE, &rows);
    CHECK(fly_mpi_shape(rows, 1, &shape) == FLY_ERR_UNSUPPORTED, "it starts before its address");
    MPI_Type_contiguous(3, MPI_SHORT, &pair);
    CHECK(fly_mpi_shape(pair, 2, &shape) == FLY_OK && shape.block_bytes == 12, "six shorts");
    MPI_Type_free(&vector);
    MPI_Type_free(&rows);
    MPI_Type_free(&pair);
}

int main(int count, char **words) {
    fly_boot boot;
    CHECK(fly_mpi_boot(MPI_COMM_WORLD, &boot) == FLY_ERR_STATE, "MPI comes first");
    MPI_Init(&count, &words);
    CHECK(count > 1, "program_mpi TRANSPORTS [PROGRAMS [STEPS [SEED]]]");
    struct program program = {.transports = words[1]};
    uint64_t programs = argument(count, words, 2, 2), seed = argument(count, words, 4, 1);
    program.steps = (int)argument(count, words, 3, 100);
    shapes();
    for (uint64_t i = 0; i < programs; i++) {
        CHECK(fly_mpi_boot(MPI_COMM_WORLD, &boot) == FLY_OK, "bootstrap");
        program.seed = seed + i;
        program.credits = i % 2 == 0 ? 3 : 0;
        program_run(&boot, &program, meet, NULL);
        fly_mpi_boot_free(&boot);
    }
    if (boot.rank == 0)
        printf("program_mpi: %s, %d ranks, %lu programs of %d steps\n", words[1], boot.size,
               (unsigned long)programs, program.steps);
    MPI_Finalize();
    CHECK(fly_mpi_boot(MPI_COMM_WORLD, &boot) == FLY_ERR_STATE, "MPI is over");
    return 0;
}
