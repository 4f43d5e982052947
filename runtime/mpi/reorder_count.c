/* What became of the calls of a program that could have moved ranks, and a line at its end where
 * none did. FLYLOOM_REORDER_ENDED names a file that is made then, for who started the program. */
#define _GNU_SOURCE
#include "reorder.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNTS = REO_CALLS * REO_OUTCOMES };

static const char *const NAMES[REO_CALLS] = {"MPI_Cart_create", "MPI_Graph_create",
                                             "MPI_Dist_graph_create",
                                             "MPI_Dist_graph_create_adjacent"};
static const char *const WHY[REO_MOVED] = {
    "without reorder", "with arguments that are wrong", "with reorder that could not be mapped",
    "with reorder whose old order is as good"};

static atomic_int counts[COUNTS];

/* Makes the file: the program has come to its end, or a rank has moved. */
static void mark(void) {
    const char *file = getenv("FLYLOOM_REORDER_ENDED");
    int made = file != NULL && file[0] != 0 ? open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (made >= 0) close(made);
}

void reo_count(enum reo_call which, enum reo_outcome outcome) {
    atomic_fetch_add(&counts[which * REO_OUTCOMES + outcome], 1);
    if (outcome == REO_MOVED) mark();
}

void reo_count_fixed(MPI_Comm comm, enum reo_call which) {
    int rank = -1;
    if (comm != MPI_COMM_NULL && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == 0)
        reo_count(which, REO_FIXED);
}

/* The calls of all, in words. */
static void list(const int *all, char *text, size_t room) {
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < COUNTS && at < room; i++) {
        int outcome = i % REO_OUTCOMES;
        if (all[i] == 0 || outcome == REO_MOVED) continue;
        int wrote = snprintf(text + at, room - at, "%s%s was called %d time%s %s",
                             at != 0 ? ", " : "", NAMES[i / REO_OUTCOMES], all[i],
                             all[i] == 1 ? "" : "s", WHY[outcome]);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    if (at == 0)
        snprintf(text, room, "it called none of MPI_Cart_create, MPI_Graph_create, "
                             "MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent");
}

void reo_end(void) {
    int mine[COUNTS + 1], all[COUNTS + 1] = {0}, rank = -1, moved = 0;
    char text[1024];
    for (int i = 0; i < COUNTS; i++) mine[i] = atomic_load(&counts[i]);
    mine[COUNTS] = reo_has_kept();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (PMPI_Reduce(mine, all, COUNTS + 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD) != MPI_SUCCESS ||
        rank != 0)
        return;
    mark();
    for (int i = 0; i < REO_CALLS; i++) moved += all[i * REO_OUTCOMES + REO_MOVED];
    if (moved != 0 || all[COUNTS] != 0) return;
    list(all, text, sizeof text);
    fprintf(stderr, "flyloom: reorder: no rank of the program was moved: %s\n", text);
}
