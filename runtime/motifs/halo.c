/* Halo: a four-dimensional lattice as in MILC, whose sites need their eight neighbours.
 *
 *   mpiexec -n P halo [SITES A SIDE AND RANK [ITERATIONS [mpi]]]
 *
 * A site has three complex numbers (48 bytes); a step takes the mean of its neighbours, each turned
 * by the phase of its link. Ranks send their faces, compute inside, then at the border. Notified:
 * one put for each face, and one request that counts the faces of a step. Halos are
 * double buffers that need no acknowledgement: a neighbour's face of the next step proves that the
 * neighbour has read this one. MPI_Isend with MPI_Irecv is measured beside it, and with "mpi" also
 * MPI_Put, a flush and a message without bytes.
 * The check: a plane wave, with a wave vector for each of the three numbers, turns by a known angle
 * in each step.
 */
#include "motif.h"

#include <math.h>

enum { DIMS = 4, FACES = 2 * DIMS, COLOURS = 3, NUMBERS = 2 * COLOURS };

struct lattice {
    struct motif *m;
    int side, sites, face_sites;     /* sites of this rank along an edge, in all, and on one face */
    int dims[DIMS], place[DIMS];     /* ranks in each dimension; this rank's coordinates */
    int peer[FACES], far;            /* neighbour at each face (may be itself); how many are not */
    int (*near)[FACES];              /* for each site its neighbours, or -1 - the place in halos */
    int *order, inside;              /* all sites; the first `inside` of them need no halo */
    int *border[FACES];              /* the sites of each face */
    double wave[COLOURS][DIMS];
    double link[FACES][NUMBERS];
    double *field[2];
    double *packed;                  /* faces to be sent, in two buffers */
    double *halos;                   /* faces received from others, in two buffers */
    double *window;                  /* where notified faces arrive, in two buffers */
    fly_win *win;
    fly_req *faces[2];
    MPI_Comm cart;
    MPI_Request pending[2 * FACES];
    struct motif_exposed exposed;
};

/* What a method supplies: how the faces of a step go out and come in; `half` is its parity. */
struct method {
    const char *name;
    void (*begin)(struct lattice *l, int half);
    void (*end)(struct lattice *l, int half);
};

static size_t face_bytes(const struct lattice *l) {
    return (size_t)l->face_sites * NUMBERS * sizeof(double);
}

static double *face_at(const struct lattice *l, double *faces, int half, int face) {
    return faces + ((size_t)half * FACES + (size_t)face) * (size_t)l->face_sites * NUMBERS;
}

static int is_far(const struct lattice *l, int face) { return l->dims[face / 2] > 1; }

static void fly_begin(struct lattice *l, int half) {
    for (int face = 0; face < FACES; face++) {
        if (!is_far(l, face)) continue;
        uint64_t place = ((uint64_t)half * FACES + (uint64_t)(face ^ 1)) * (uint64_t)l->face_sites;
        DO(fly_put_notify(l->win, face_at(l, l->packed, half, face), face_bytes(l), l->peer[face],
                          place, half));
    }
}

/* Copies the faces that have arrived. Their bytes are in the other processor's cache: a copy
   fetches them line after line, while reading single sites would wait for each line. */
static void take(const struct lattice *l, int half, double *window) {
    for (int face = 0; face < FACES; face++)
        if (is_far(l, face))
            memcpy(face_at(l, l->halos, half, face), face_at(l, window, half, face), face_bytes(l));
}

static void fly_end(struct lattice *l, int half) {
    DO(fly_wait(l->faces[half], NULL));
    take(l, half, l->window);
    DO(fly_start(l->faces[half]));
    DO(fly_flush_local(l->win, FLY_ALL)); /* the next step writes the packed faces again */
}

static void message_begin(struct lattice *l, int half) {
    int n = 0, bytes = (int)face_bytes(l);
    for (int face = 0; face < FACES; face++)
        if (is_far(l, face))
            MPI_Irecv(face_at(l, l->halos, half, face), bytes, MPI_BYTE, l->peer[face], face,
                      l->cart, &l->pending[n++]);
    for (int face = 0; face < FACES; face++)
        if (is_far(l, face))
            MPI_Isend(face_at(l, l->packed, half, face), bytes, MPI_BYTE, l->peer[face], face ^ 1,
                      l->cart, &l->pending[n++]);
}

static void message_end(struct lattice *l, int half) {
    MPI_Status found[2 * FACES];
    (void)half;
    MPI_Waitall(2 * l->far, l->pending, found);
}

static void put_begin(struct lattice *l, int half) {
    int bytes = (int)face_bytes(l);
    for (int face = 0; face < FACES; face++) {
        if (!is_far(l, face)) continue;
        MPI_Aint at = (MPI_Aint)((half * FACES + (face ^ 1)) * (long)bytes);
        MPI_Put(face_at(l, l->packed, half, face), bytes, MPI_BYTE, l->peer[face], at, bytes,
                MPI_BYTE, l->exposed.window);
    }
    MPI_Win_flush_all(l->exposed.window);
    for (int face = 0; face < FACES; face++)
        if (is_far(l, face))
            MPI_Send(NULL, 0, MPI_BYTE, l->peer[face], face ^ 1, l->cart);
}

static void put_end(struct lattice *l, int half) {
    for (int face = 0; face < FACES; face++)
        if (is_far(l, face))
            MPI_Recv(NULL, 0, MPI_BYTE, l->peer[face], face, l->cart, MPI_STATUS_IGNORE);
    MPI_Win_sync(l->exposed.window);
    take(l, half, (double *)l->exposed.base);
}

/* The exact wave of each colour at a site of this rank after `steps` steps. */
static void exact(const struct lattice *l, int site, int steps, double *u) {
    for (int c = 0; c < COLOURS; c++) {
        double angle = 0.7 * (c + 1) * steps;
        for (int d = 0, rest = site; d < DIMS; d++, rest /= l->side)
            angle += l->wave[c][d] * (l->place[d] * l->side + rest % l->side);
        u[2 * c] = cos(angle);
        u[2 * c + 1] = sin(angle);
    }
}

static void update(struct lattice *l, int half, int from, int to) {
    const double *old = l->field[half], *halos = face_at(l, l->halos, half, 0);
    for (int i = from; i < to; i++) {
        const int site = l->order[i];
        double sum[NUMBERS] = {0};
        for (int face = 0; face < FACES; face++) {
            const int at = l->near[site][face];
            const double *u = at >= 0 ? old + (size_t)at * NUMBERS
                                      : halos + (size_t)(-1 - at) * NUMBERS;
            const double *link = l->link[face];
            for (int c = 0; c < NUMBERS; c += 2) {
                sum[c] += link[c] * u[c] - link[c + 1] * u[c + 1];
                sum[c + 1] += link[c] * u[c + 1] + link[c + 1] * u[c];
            }
        }
        memcpy(l->field[1 - half] + (size_t)site * NUMBERS, sum, sizeof sum);
    }
}

static void pack(struct lattice *l, int half) {
    for (int face = 0; face < FACES; face++) {
        double *to = face_at(l, l->packed, half, face);
        for (int i = 0; i < l->face_sites && is_far(l, face); i++)
            memcpy(to + (size_t)i * NUMBERS,
                   l->field[half] + (size_t)l->border[face][i] * NUMBERS, NUMBERS * sizeof(double));
    }
}

/* Runs `warm` steps and then `timed` ones, whose times go into `took`, and checks the result. */
static void run(struct lattice *l, const struct method *method, int warm, int timed, double *took) {
    int steps = warm + timed;
    double wrong = 0;
    for (int site = 0; site < l->sites; site++)
        exact(l, site, 0, l->field[0] + (size_t)site * NUMBERS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < steps; step++) {
        int half = step % 2;
        double began = MPI_Wtime();
        pack(l, half);
        method->begin(l, half);
        update(l, half, 0, l->inside);
        method->end(l, half);
        update(l, half, l->inside, l->sites);
        if (step >= warm) took[step - warm] = MPI_Wtime() - began;
    }
    for (int site = 0; site < l->sites; site++) {
        double wanted[NUMBERS], *found = l->field[steps % 2] + (size_t)site * NUMBERS;
        exact(l, site, steps, wanted);
        for (int i = 0; i < NUMBERS; i++)
            if (!(fabs(found[i] - wanted[i]) < 1e-9)) wrong = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (wrong != 0) {
        fprintf(stderr, "halo %s: %g ranks: not the plane wave\n", method->name, wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Runs all methods in turn, so that other load on the machine disturbs each of them alike. */
static void run_all(struct lattice *l, const struct method *methods, int count, int iterations) {
    int passes = motif_recorded() ? 1 : 10;
    double *took = (double *)motif_memory((size_t)count * (size_t)iterations, sizeof *took);
    for (int pass = 0; pass < passes; pass++) {
        int from = (int)((long)iterations * pass / passes);
        int to = (int)((long)iterations * (pass + 1) / passes), warm = (to - from) / 10 + 1;
        for (int k = 0; k < count; k++)
            run(l, &methods[k], warm, to - from, took + (size_t)k * (size_t)iterations + from);
    }
    for (int k = 0; k < count; k++) {
        double median = motif_median(took + (size_t)k * (size_t)iterations, iterations);
        if (l->m->rank == 0)
            printf("halo %s: %d x %d x %d x %d ranks of %d^4 sites, waves right, %.2f us a step\n",
                   methods[k].name, l->dims[0], l->dims[1], l->dims[2], l->dims[3], l->side,
                   median * 1e6);
    }
    free(took);
}

/* Finds the neighbours of a site; near[] is -1 - the place in halos where another rank has one. */
static void connect(struct lattice *l, int site, int filled[FACES]) {
    int stride = 1;
    for (int d = 0; d < DIMS; d++, stride *= l->side) {
        int x = site / stride % l->side, last = l->side - 1;
        for (int above = 0; above < 2; above++) {
            int face = 2 * d + above, edge = x == (above ? last : 0);
            int beside = site + (above ? stride : -stride);
            if (edge) {
                int at = filled[face]++;
                l->border[face][at] = site;
                beside = is_far(l, face) ? -1 - (face * l->face_sites + at)
                                        : site + (above ? -last : last) * stride;
            }
            l->near[site][face] = beside;
        }
    }
}

static void prepare(struct lattice *l) {
    int periods[DIMS] = {1, 1, 1, 1}, filled[FACES] = {0}, outside = 0;
    MPI_Dims_create(l->m->size, DIMS, l->dims);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, l->dims, periods, 0, &l->cart);
    MPI_Cart_coords(l->cart, l->m->rank, DIMS, l->place);
    for (int d = 0; d < DIMS; d++)
        MPI_Cart_shift(l->cart, d, 1, &l->peer[2 * d], &l->peer[2 * d + 1]);
    for (int face = 0; face < FACES; face++) {
        l->far += is_far(l, face);
        l->border[face] = (int *)motif_memory((size_t)l->face_sites, sizeof(int));
    }
    l->near = (int(*)[FACES])motif_memory((size_t)l->sites, sizeof *l->near);
    l->order = (int *)motif_memory((size_t)l->sites, sizeof(int));
    for (int site = 0; site < l->sites; site++) {
        int halo = 0;
        connect(l, site, filled);
        for (int face = 0; face < FACES; face++) halo |= l->near[site][face] < 0;
        l->order[halo ? l->sites - ++outside : l->inside++] = site;
    }
    for (int c = 0; c < COLOURS; c++)
        for (int d = 0; d < DIMS; d++)
            l->wave[c][d] = 2 * acos(-1) * (c + d + 1) / (l->side * l->dims[d]);
    for (int face = 0; face < FACES; face++)
        for (int c = 0; c < COLOURS; c++) {
            double along = l->wave[c][face / 2];
            double angle = 0.7 * (c + 1) + (face % 2 ? -along : along);
            l->link[face][2 * c] = cos(angle) / FACES;
            l->link[face][2 * c + 1] = sin(angle) / FACES;
        }
    for (int half = 0; half < 2; half++)
        l->field[half] = (double *)motif_memory((size_t)l->sites, NUMBERS * sizeof(double));
    l->packed = (double *)motif_memory(2 * FACES, face_bytes(l));
    l->halos = (double *)motif_memory(2 * FACES, face_bytes(l));
}

static void forget(struct lattice *l) {
    motif_listen_no_more(l->faces);
    for (int half = 0; half < 2; half++) free(l->field[half]);
    DO(fly_win_free(&l->win));
    MPI_Comm_free(&l->cart);
    for (int face = 0; face < FACES; face++) free(l->border[face]);
    free(l->near);
    free(l->order);
    free(l->packed);
    free(l->halos);
}

int main(int count, char **words) {
    static const struct method METHODS[] = {{"notified", fly_begin, fly_end},
                                            {"by messages", message_begin, message_end},
                                            {"by MPI's puts", put_begin, put_end}};
    struct motif m;
    struct lattice lattice = {.m = &m}, *l = &lattice;
    void *base;
    motif_open(&m, &count, &words);
    l->side = motif_number(count, words, 1, 4, 1);
    int iterations = motif_number(count, words, 2, 2000, 1);
    if (l->side > 64) {
        fprintf(stderr, "halo: %d sites a side must be at most 64\n", l->side);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    l->face_sites = l->side * l->side * l->side;
    l->sites = l->face_sites * l->side;
    prepare(l);
    size_t bytes = 2 * FACES * face_bytes(l), unit = NUMBERS * sizeof(double);
    DO(fly_win_allocate(fly_world(m.rt), bytes, unit, 0, &base, &l->win));
    motif_listen(l->win, (uint64_t)l->far, l->faces);
    l->window = (double *)base;
    int puts = motif_puts(count, words, 3);
    if (puts) motif_expose(&l->exposed, bytes);
    run_all(l, METHODS, motif_recorded() ? 1 : puts ? 3 : 2, iterations);
    if (puts) motif_unexpose(&l->exposed);
    forget(l);
    motif_close(&m);
    return 0;
}
