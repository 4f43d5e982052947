/* FFT: a three-dimensional transform of N x N x N complex numbers, shared among ranks in slabs.
 *
 *   mpiexec -n P fft [N [ROUNDS]]
 *
 * A rank has planes of x and y. It transforms each plane; then every rank needs its rows of y from
 * all planes, to transform along z. The notified method sends the rows of a plane as soon as it is
 * finished, by one put to each rank, and one request counts the planes of others. The receive
 * buffer is double: rows of the next transform prove that their sender is done with the last one.
 * MPI_Alltoall (MPI_Alltoallv where P does not divide N) of all planes, packed, and one
 * MPI_Ialltoallv for each plane are measured beside it. N may be any number, best of small factors.
 * The check: the input a^x b^y c^z has a transform by formula; for N up to 12 random numbers are
 * also compared with the sum that defines the transform.
 */
#include "motif.h"

#include <math.h>

enum { SMALL = 12 };

struct number {
    double re, im;
};

struct fft {
    struct motif *m;
    int n, round;
    int *first;            /* for each rank its first plane (and row); last entry: n */
    int planes, rows;      /* how many planes, and rows, this rank has: the same number */
    int most;              /* planes of the rank that has most */
    struct number *turn;   /* e^(-2 pi i j / n) */
    struct number *scratch, *square;
    struct number *given;  /* this rank's planes [plane][y][x] of the input */
    struct number *slab;   /* the same planes, transformed along x and y */
    struct number *packed; /* for MPI_Alltoall */
    struct number *come;   /* this rank's rows of all planes, as received */
    struct number *made;   /* the result [row][x][z] */
    struct number *sides;  /* for x, y and z, n factors of the input and n of its transform */
    fly_win *win;
    fly_req *req[2];
    struct number *window;
    int *counts;           /* MPI_Ialltoallv of each plane: counts to send and to receive */
    MPI_Request *pending;
    MPI_Status *found;
};

/* What a method supplies: what to do with a finished plane, and after the last plane. */
struct method {
    const char *name;
    void (*plane)(struct fft *f, int i);
    void (*end)(struct fft *f);
};

static struct number times(struct number a, struct number b) {
    return (struct number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct number plus(struct number a, struct number b) {
    return (struct number){a.re + b.re, a.im + b.im};
}

static struct number minus(struct number a, struct number b) {
    return (struct number){a.re - b.re, a.im - b.im};
}

static struct number unit(double angle) { return (struct number){cos(angle), sin(angle)}; }

static int at(const struct fft *f, int rank) { return f->first[rank]; }

static int share(const struct fft *f, int rank) { return at(f, rank + 1) - at(f, rank); }

/* Sums p numbers that stand m apart in `out`, for each of m places; n = p m. */
static void combine(const struct fft *f, int p, int m, struct number *out) {
    int step = f->n / (p * m);
    struct number *t = f->scratch;
    for (int k = 0; k < m; k++) {
        for (int r = 0; r < p; r++) t[r] = times(out[k + r * m], f->turn[r * k * step]);
        for (int q = 0; q < p; q++) {
            struct number sum = t[0];
            for (int r = 1; r < p; r++)
                sum = plus(sum, times(t[r], f->turn[(int)((long)r * q % p) * (f->n / p)]));
            out[k + q * m] = sum;
        }
    }
}

static void combine_4(const struct fft *f, int m, struct number *out) {
    int step = f->n / (4 * m);
    for (int k = 0; k < m; k++) {
        struct number *a = out + k, t0 = a[0], t1 = times(a[m], f->turn[k * step]),
                      t2 = times(a[2 * m], f->turn[2 * k * step]),
                      t3 = times(a[3 * m], f->turn[3 * k * step]);
        struct number even = plus(t0, t2), odd = minus(t0, t2), sum = plus(t1, t3),
                      rest = minus(t1, t3), turned = {rest.im, -rest.re};
        a[0] = plus(even, sum);
        a[m] = plus(odd, turned);
        a[2 * m] = minus(even, sum);
        a[3 * m] = minus(odd, turned);
    }
}

/* Transforms n numbers that stand `stride` apart, n a divisor of f->n (Cooley and Tukey). */
static void line(const struct fft *f, int n, const struct number *in, size_t stride,
                 struct number *out) {
    int p = n % 4 == 0 ? 4 : 2;
    while (p < n && n % p != 0) p++;
    int m = n / p;
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    for (int r = 0; r < p; r++) {
        if (m == 1) out[r] = in[(size_t)r * stride];
        else line(f, m, in + (size_t)r * stride, stride * (size_t)p, out + r * m);
    }
    if (p == 4) combine_4(f, m, out);
    else combine(f, p, m, out);
}

/* Transforms plane i along x, then along y. */
static void plane(struct fft *f, int i) {
    size_t n = (size_t)f->n;
    const struct number *from = f->given + (size_t)i * n * n;
    struct number *to = f->slab + (size_t)i * n * n, *column = f->square + n * n;
    for (size_t y = 0; y < n; y++) line(f, f->n, from + y * n, 1, f->square + y * n);
    for (size_t x = 0; x < n; x++) {
        line(f, f->n, f->square + x, n, column);
        for (size_t y = 0; y < n; y++) to[y * n + x] = column[y];
    }
}

static void rows_along_z(struct fft *f) {
    size_t n = (size_t)f->n, all = (size_t)f->rows * n;
    for (size_t i = 0; i < all; i++) line(f, f->n, f->come + i, all, f->made + i * n);
}

/* The rows of plane i that a rank needs. */
static struct number *rows_of(const struct fft *f, int i, int rank) {
    return f->slab + ((size_t)i * (size_t)f->n + (size_t)at(f, rank)) * (size_t)f->n;
}

static void notified_plane(struct fft *f, int i) {
    int size = f->m->size, half = f->round % 2;
    size_t n = (size_t)f->n, z = (size_t)(at(f, f->m->rank) + i);
    for (int k = 1; k <= size; k++) {
        int rank = (f->m->rank + k) % size;
        size_t part = (size_t)share(f, rank) * n, place = ((size_t)half * n + z) * part;
        if (rank == f->m->rank)
            memcpy(f->window + place, rows_of(f, i, rank), part * sizeof(struct number));
        else if (part != 0)
            DO(fly_put_notify(f->win, rows_of(f, i, rank), part * sizeof(struct number), rank,
                              place, half));
    }
}

static void notified_end(struct fft *f) {
    int half = f->round % 2;
    DO(fly_wait(f->req[half], NULL));
    DO(fly_start(f->req[half]));
    DO(fly_flush_local(f->win, FLY_ALL));
    f->come = f->window + (size_t)half * (size_t)f->n * (size_t)f->rows * (size_t)f->n;
}

static void nothing(struct fft *f, int i) {
    (void)f;
    (void)i;
}

static void alltoall_end(struct fft *f) {
    int size = f->m->size, *sent = f->counts, *sent_at = sent + size, *got = sent_at + size,
        *got_at = got + size, n = f->n;
    struct number *to = f->packed;
    for (int rank = 0; rank < size; rank++) {
        size_t part = (size_t)share(f, rank) * (size_t)n;
        sent[rank] = 2 * f->planes * share(f, rank) * n;
        sent_at[rank] = (int)(to - f->packed) * 2;
        got[rank] = 2 * share(f, rank) * f->rows * n;
        got_at[rank] = 2 * at(f, rank) * f->rows * n;
        for (int i = 0; i < f->planes; i++, to += part)
            memcpy(to, rows_of(f, i, rank), part * sizeof *to);
    }
    if (n % size == 0)
        MPI_Alltoall(f->packed, sent[0], MPI_DOUBLE, f->come, got[0], MPI_DOUBLE, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(f->packed, sent, sent_at, MPI_DOUBLE, f->come, got, got_at, MPI_DOUBLE,
                      MPI_COMM_WORLD);
}

/* The call is collective: ranks with fewer planes take part with empty ones. */
static void ialltoall_plane(struct fft *f, int i) {
    int size = f->m->size, *sent = f->counts + (size_t)i * 4 * (size_t)size,
        *sent_at = sent + size, *got = sent_at + size, *got_at = got + size, done, n = f->n;
    for (int rank = 0; rank < size; rank++) {
        sent[rank] = i < f->planes ? 2 * share(f, rank) * n : 0;
        sent_at[rank] = 2 * at(f, rank) * n;
        got[rank] = i < share(f, rank) ? 2 * f->rows * n : 0;
        got_at[rank] = 2 * (at(f, rank) + i) * f->rows * n;
    }
    MPI_Ialltoallv(i < f->planes ? rows_of(f, i, 0) : f->slab, sent, sent_at, MPI_DOUBLE, f->come,
                   got, got_at, MPI_DOUBLE, MPI_COMM_WORLD, &f->pending[i]);
    MPI_Testall(i + 1, f->pending, &done, f->found); /* lets the earlier operations make progress */
}

static void ialltoall_end(struct fft *f) {
    for (int i = f->planes; i < f->most; i++) ialltoall_plane(f, i);
    MPI_Waitall(f->most, f->pending, f->found);
}

/* Transforms the input once and returns the seconds that it took. */
static double transform(struct fft *f, const struct method *method) {
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < f->planes; i++) {
        plane(f, i);
        method->plane(f, i);
    }
    method->end(f);
    rows_along_z(f);
    return MPI_Wtime() - began;
}

static struct number product(const struct fft *f, int which, int x, int y, int z) {
    const struct number *of = f->sides + (size_t)which * 3 * (size_t)f->n;
    return times(times(of[x], of[f->n + y]), times(of[2 * f->n + z], unit(f->round)));
}

/* Random input, for the check against the sum that defines the transform. */
static struct number random_at(const struct fft *f, int x, int y, int z) {
    uint64_t k = (((uint64_t)z * (uint64_t)f->n + (uint64_t)y) * (uint64_t)f->n + (uint64_t)x + 1) *
                 UINT64_C(0x9E3779B97F4A7C15);
    k = (k ^ k >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    k ^= k >> 27;
    return (struct number){(double)(k & 0xffff) / 65536, (double)(k >> 20 & 0xffff) / 65536};
}

static struct number sum_at(const struct fft *f, int x, int y, int z) {
    struct number sum = {0, 0};
    int n = f->n;
    for (int c = 0; c < n; c++)
        for (int b = 0; b < n; b++)
            for (int a = 0; a < n; a++)
                sum = plus(sum, times(random_at(f, a, b, c),
                                      f->turn[((long)a * x + (long)b * y + (long)c * z) % n]));
    return sum;
}

static void fill(struct fft *f, int random) {
    int n = f->n, z0 = at(f, f->m->rank);
    struct number *to = f->given;
    for (int i = 0; i < f->planes; i++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                *to++ = random ? random_at(f, x, y, z0 + i) : product(f, 0, x, y, z0 + i);
}

static void expect(const struct fft *f, const char *name, int random) {
    int n = f->n, y0 = at(f, f->m->rank);
    const struct number *made = f->made;
    for (int i = 0; i < f->rows; i++)
        for (int x = 0; x < n; x++)
            for (int z = 0; z < n; z++, made++) {
                struct number wanted = random ? sum_at(f, x, y0 + i, z)
                                              : product(f, 1, x, y0 + i, z);
                struct number off = minus(*made, wanted);
                if (fabs(off.re) + fabs(off.im) <= 1e-10) continue;
                fprintf(stderr, "fft %s: %d, %d, %d: %g + %g i, not %g + %g i\n", name, x, y0 + i,
                        z, made->re, made->im, wanted.re, wanted.im);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
}

/* Runs all methods in turn, so that other load on the machine disturbs each of them alike. */
static void run(struct fft *f, const struct method *methods, int count, struct number *come,
                int rounds) {
    int warm = rounds / 10 + 1, random = f->n <= SMALL;
    double *took = (double *)motif_memory((size_t)count * (size_t)rounds, sizeof *took);
    for (f->round = 0; f->round < warm + rounds + random; f->round++)
        for (int k = 0; k < count; k++) {
            int last = f->round == warm + rounds, timed = f->round >= warm && !last;
            f->come = come;
            fill(f, last);
            double seconds = transform(f, &methods[k]);
            if (timed) took[(size_t)k * (size_t)rounds + (size_t)(f->round - warm)] = seconds;
            expect(f, methods[k].name, last);
        }
    for (int k = 0; k < count; k++) {
        double median = motif_median(took + (size_t)k * (size_t)rounds, rounds);
        if (f->m->rank == 0)
            printf("fft %s: %d ranks, %d^3, transform right, %.2f us\n", methods[k].name,
                   f->m->size, f->n, median * 1e6);
    }
    free(took);
}

/* Fills in factors a^x, and their transform (1 - a^n) / (1 - a e^(-2 pi i k / n)). */
static void geometric(struct fft *f, int side, double size, double angle) {
    struct number *factor = f->sides + (size_t)side * (size_t)f->n, *sum = factor + 3 * f->n;
    struct number a = {size * cos(angle), size * sin(angle)}, power = {1, 0}, one = {1, 0};
    for (int x = 0; x < f->n; x++, power = times(power, a)) factor[x] = power;
    for (int k = 0; k < f->n; k++) {
        struct number above = minus(one, power), below = minus(one, times(a, f->turn[k]));
        double square = below.re * below.re + below.im * below.im;
        sum[k] = times(above, (struct number){below.re / square, -below.im / square});
    }
}

static void prepare(struct fft *f) {
    int size = f->m->size, rank = f->m->rank;
    size_t n = (size_t)f->n, one = sizeof(struct number), count = (size_t)size;
    void *base;
    f->first = (int *)motif_memory(count + 1, sizeof(int));
    for (int i = 0; i <= size; i++) f->first[i] = (int)((long)f->n * i / size);
    for (int i = 0; i < size; i++) f->most = share(f, i) > f->most ? share(f, i) : f->most;
    f->planes = f->rows = share(f, rank);
    size_t slab = (size_t)f->planes * n * n;
    f->turn = (struct number *)motif_memory(n, one);
    for (int j = 0; j < f->n; j++) f->turn[j] = unit(-2 * acos(-1) * j / f->n);
    f->scratch = (struct number *)motif_memory(n, one);
    f->square = (struct number *)motif_memory(n * n + n, one);
    f->given = (struct number *)motif_memory(slab, one);
    f->slab = (struct number *)motif_memory(slab, one);
    f->made = (struct number *)motif_memory(slab, one);
    f->sides = (struct number *)motif_memory(6 * n, one);
    geometric(f, 0, 0.9, 0.3);
    geometric(f, 1, 0.8, 1.7);
    geometric(f, 2, 0.95, -2.2);
    f->packed = (struct number *)motif_memory(slab, one);
    f->counts = (int *)motif_memory((size_t)f->most * 4 * count, sizeof(int));
    f->pending = (MPI_Request *)motif_memory((size_t)f->most, sizeof *f->pending);
    f->found = (MPI_Status *)motif_memory((size_t)f->most, sizeof *f->found);
    DO(fly_win_allocate(fly_world(f->m->rt), 2 * slab * one, one, 0, &base, &f->win));
    f->window = (struct number *)base;
    motif_listen(f->win, f->rows == 0 ? 0 : (uint64_t)(f->n - f->planes), f->req);
}

static void forget(struct fft *f) {
    motif_listen_no_more(f->req);
    DO(fly_win_free(&f->win));
    free(f->first);
    free(f->turn);
    free(f->scratch);
    free(f->square);
    free(f->given);
    free(f->slab);
    free(f->made);
    free(f->sides);
    free(f->packed);
    free(f->counts);
    free(f->pending);
    free(f->found);
}

int main(int count, char **words) {
    static const struct method METHODS[] = {{"notified", notified_plane, notified_end},
                                      {"by alltoall", nothing, alltoall_end},
                                      {"by ialltoall", ialltoall_plane, ialltoall_end}};
    struct motif m;
    struct fft fft = {.m = &m}, *f = &fft;
    motif_open(&m, &count, &words);
    f->n = motif_number(count, words, 1, 32, 1);
    int rounds = motif_number(count, words, 2, 100, 1);
    if (f->n > 512) {
        fprintf(stderr, "fft: %d must be at most 512\n", f->n);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    prepare(f);
    size_t slab = (size_t)f->planes * (size_t)f->n * (size_t)f->n;
    struct number *come = (struct number *)motif_memory(slab, sizeof *come);
    run(f, METHODS, motif_recorded() ? 1 : (int)(sizeof METHODS / sizeof *METHODS), come, rounds);
    free(come);
    forget(f);
    motif_close(&m);
    return 0;
}
