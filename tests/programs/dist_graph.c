/* Makes a topology of a graph in a file, and says what became of it: for test_dist_graph.py.
 *
 * dist_graph FILE FORM WEIGHTS REORDER TIMES COLOURS: lines of the file are `from to weight`. FORM
 * is who gives an edge: adjacent (both ends, each its own), own (the sender), next (the rank before
 * the sender), one (rank 0), bad (-1 sources). A communicator is split by rank % COLOURS.
 *
 * A line for each process: its rank in MPI_COMM_WORLD, colour, old and new rank, whether there are
 * weights, its sources and destinations with their weights, what each source sent: the source's
 * rank times 1000 and the number of this neighbour in its list.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, WORDS = 1 << 14 };

static int count, from[MOST], to[MOST], weight[MOST], world, colour, rank, size, weighted;
static char words[WORDS];

static void read_graph(const char *path) {
    FILE *file = fopen(path, "r");
    while (file != NULL && count < MOST &&
           fscanf(file, "%d %d %d", &from[count], &to[count], &weight[count]) == 3)
        count++;
    if (file != NULL) fclose(file);
}

/* The other ends of edges with this end, in their order, and weights. */
static int ends(const int *here, const int *there, int of, int *ranks, int *weights) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (here[i] != of) continue;
        ranks[found] = there[i];
        weights[found++] = weight[i];
    }
    return found;
}

static int adjacent(MPI_Comm comm, int reorder, MPI_Comm *made) {
    static int sources[MOST], in_weights[MOST], destinations[MOST], out_weights[MOST];
    int in = ends(to, from, rank, sources, in_weights);
    int out = ends(from, to, rank, destinations, out_weights);
    const int *a = in_weights, *b = out_weights;
    if (in == 0) a = MPI_WEIGHTS_EMPTY;
    if (out == 0) b = MPI_WEIGHTS_EMPTY;
    if (!weighted) a = b = MPI_UNWEIGHTED;
    return MPI_Dist_graph_create_adjacent(comm, in, sources, a, out, destinations, b,
                                          MPI_INFO_NULL, reorder, made);
}

/* Sources that are given here, each with all of its destinations. */
static int create(MPI_Comm comm, const char *form, int reorder, MPI_Comm *made) {
    static int sources[MOST], degrees[MOST], destinations[MOST], weights[MOST];
    int n = 0, all = 0;
    for (int r = 0; r < size; r++) {
        int giver = strcmp(form, "one") == 0 ? 0 : strcmp(form, "next") == 0 ? r + size - 1 : r;
        if (giver % size != rank) continue;
        int found = ends(from, to, r, destinations + all, weights + all);
        if (found == 0 && r % 2 == 0) continue; /* half of those without edges are left out */
        sources[n] = r;
        degrees[n++] = found;
        all += found;
    }
    if (strcmp(form, "bad") == 0) n = -1;
    const int *given = weights;
    if (n == 0) given = MPI_WEIGHTS_EMPTY;
    if (!weighted) given = MPI_UNWEIGHTED;
    return MPI_Dist_graph_create(comm, n, sources, degrees, destinations, given, MPI_INFO_NULL,
                                 reorder, made);
}

static void say(const char *name, int degree, const int *ranks, const int *weights) {
    sprintf(words + strlen(words), " %s", name);
    for (int i = 0; i < degree; i++)
        sprintf(words + strlen(words), " %d:%d", ranks[i], weights != NULL ? weights[i] : 1);
}

static void tell(MPI_Comm comm) {
    static int sources[MOST], destinations[MOST], in_weights[MOST], out_weights[MOST];
    static int sent[MOST], got[MOST], ones[MOST], at[MOST];
    int in, out, has_weights, now;
    MPI_Comm_rank(comm, &now);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &has_weights);
    MPI_Dist_graph_neighbors(comm, in, sources, has_weights ? in_weights : MPI_UNWEIGHTED, out,
                             destinations, has_weights ? out_weights : MPI_UNWEIGHTED);
    for (int i = 0; i < MOST; i++) {
        sent[i] = 1000 * now + i;
        ones[i] = 1;
        at[i] = i;
        got[i] = -1;
    }
    MPI_Neighbor_alltoallv(sent, ones, at, MPI_INT, got, ones, at, MPI_INT, comm);
    sprintf(words, "%d %d %d %d %d", world, colour, rank, now, has_weights);
    say("in", in, sources, has_weights ? in_weights : NULL);
    say("out", out, destinations, has_weights ? out_weights : NULL);
    sprintf(words + strlen(words), " got");
    for (int i = 0; i < in; i++) sprintf(words + strlen(words), " %d", got[i]);
    sprintf(words + strlen(words), "\n");
}

/* Rank 0 prints the words of all ranks, since launchers mix the output of several. */
static void print_all(void) {
    int all;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    char *lines = malloc((size_t)all * WORDS);
    MPI_Gather(words, WORDS, MPI_CHAR, lines, WORDS, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; world == 0 && i < all; i++) fputs(lines + (size_t)i * WORDS, stdout);
    free(lines);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 7) MPI_Abort(MPI_COMM_WORLD, 9);
    read_graph(argv[1]);
    const char *form = argv[2];
    int reorder = atoi(argv[4]), times = atoi(argv[5]), colours = atoi(argv[6]);
    weighted = atoi(argv[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    colour = world % colours;
    MPI_Comm comm = MPI_COMM_WORLD, made;
    if (colours > 1) MPI_Comm_split(MPI_COMM_WORLD, colour, world, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < times; i++) {
        int any = -1, token = rank, code;
        MPI_Request request; /* the program waits for anything, from anyone, all the while */
        MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
        code = strcmp(form, "adjacent") == 0 ? adjacent(comm, reorder, &made)
                                             : create(comm, form, reorder, &made);
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 5, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (any != (rank + size - 1) % size) MPI_Abort(MPI_COMM_WORLD, 8);
        if (code != MPI_SUCCESS) {
            sprintf(words, "%d failed\n", world);
            continue;
        }
        if (i == times - 1) tell(made);
        MPI_Comm_free(&made);
    }
    if (colours > 1) MPI_Comm_free(&comm);
    print_all();
    MPI_Finalize();
    return 0;
}
