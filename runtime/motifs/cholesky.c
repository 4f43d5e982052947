/* Cholesky: A = L L^T by tiles, right-looking, tiles distributed to a grid of ranks.
 *
 *   mpiexec -n P cholesky [TILES [ROWS OF A TILE [REPETITIONS [mpi]]]]
 *
 * A finished tile goes to all ranks that need it. The notified method makes one put for each tile
 * and rank, whose tag is the tile's number; a rank takes what arrives, from any source, until it
 * has the tile it needs. MPI_Isend with MPI_Recv, and MPI_Put with a flush and a message, are
 * measured
 * beside it. The check: all of L against a factor that rank 0 computes row by row
 * (Cholesky-Banachiewicz).
 */
#include "motif.h"

#include <math.h>

struct factor {
    struct motif *m;
    int tiles, rows, across, down; /* ranks in each dimension */
    size_t bytes;                  /* of a tile */
    double *a;                     /* all tiles, row by row, of the method that runs */
    char *here;                    /* by tile: whether another rank's tile has arrived */
    fly_win *win;
    double *window;
    fly_req *any;
    struct motif_exposed exposed;
    MPI_Request *sends;
    int sent;
};

/* How a tile is handed to a rank, and how one is waited for. */
struct method {
    const char *name;
    void (*give)(struct factor *f, int tile, int rank);
    void (*need)(struct factor *f, int tile, int owner);
};

static int owner_of(const struct factor *f, int i, int j) {
    return i % f->down * f->across + j % f->across;
}

static double *tile_of(const struct factor *f, int tile) {
    return f->a + (size_t)tile * f->bytes / sizeof *f->a;
}

static double element(int n, int i, int j) {
    return 1.0 / (1 + abs(i - j)) + (i == j ? n : 0); /* definite by its diagonal */
}

static void fly_give(struct factor *f, int tile, int rank) {
    DO(fly_put_notify(f->win, tile_of(f, tile), f->bytes, rank, (uint64_t)tile, tile));
}

static void fly_need(struct factor *f, int tile, int owner) {
    (void)owner;
    while (!f->here[tile]) {
        fly_status status;
        DO(fly_start(f->any));
        DO(fly_wait(f->any, &status));
        f->here[status.tag] = 1;
    }
}

static void message_give(struct factor *f, int tile, int rank) {
    MPI_Isend(tile_of(f, tile), (int)f->bytes, MPI_BYTE, rank, tile, MPI_COMM_WORLD,
              &f->sends[f->sent++]);
}

static void message_need(struct factor *f, int tile, int owner) {
    if (!f->here[tile])
        MPI_Recv(tile_of(f, tile), (int)f->bytes, MPI_BYTE, owner, tile, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    f->here[tile] = 1;
}

static void put_give(struct factor *f, int tile, int rank) {
    motif_hand_over(&f->exposed, tile_of(f, tile), f->bytes, rank, (size_t)tile * f->bytes, tile);
}

static void put_need(struct factor *f, int tile, int owner) {
    if (!f->here[tile]) motif_take_over(&f->exposed, owner, tile);
    f->here[tile] = 1;
}

/* Factors a tile of the diagonal in place. */
static void factor_tile(double *a, int n) {
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) a[j * n + j] -= a[j * n + k] * a[j * n + k];
        a[j * n + j] = sqrt(a[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] /= a[j * n + j];
        }
        for (int i = 0; i < j; i++) a[i * n + j] = 0;
    }
}

/* Replaces a by a L^-T. */
static void solve_tile(const double *l, double *a, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * l[j * n + k];
            a[i * n + j] = sum / l[j * n + j];
        }
    }
}

/* Replaces c by c - a b^T. */
static void update_tile(double *c, const double *a, const double *b, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[j * n + k];
            c[i * n + j] -= sum;
        }
    }
}

/* Sends a finished tile of column k to the ranks whose tiles it changes. */
static void give_away(struct factor *f, const struct method *method, int i, int k) {
    for (int rank = 0; rank < f->m->size; rank++) {
        int needs = 0;
        for (int j = k + 1; j < f->tiles && rank != f->m->rank; j++) {
            if (i == k)
                needs |= owner_of(f, j, k) == rank;
            else
                needs |= owner_of(f, i > j ? i : j, i > j ? j : i) == rank;
        }
        if (needs) method->give(f, i * f->tiles + k, rank);
    }
}

static const double *have(struct factor *f, const struct method *method, int i, int k) {
    int owner = owner_of(f, i, k), tile = i * f->tiles + k;
    if (owner != f->m->rank) method->need(f, tile, owner);
    return tile_of(f, tile);
}

static void run_once(struct factor *f, const struct method *method) {
    int rank = f->m->rank, n = f->rows;
    for (int k = 0; k < f->tiles; k++) {
        if (owner_of(f, k, k) == rank) {
            factor_tile(tile_of(f, k * f->tiles + k), n);
            give_away(f, method, k, k);
        }
        for (int i = k + 1; i < f->tiles; i++) {
            if (owner_of(f, i, k) != rank) continue;
            solve_tile(have(f, method, k, k), tile_of(f, i * f->tiles + k), n);
            give_away(f, method, i, k);
        }
        for (int j = k + 1; j < f->tiles; j++)
            for (int i = j; i < f->tiles; i++)
                if (owner_of(f, i, j) == rank)
                    update_tile(tile_of(f, i * f->tiles + j), have(f, method, i, k),
                                have(f, method, j, k), n);
    }
    for (; f->sent > 0; f->sent--) MPI_Wait(&f->sends[f->sent - 1], MPI_STATUS_IGNORE);
}

static void fill(struct factor *f) {
    int n = f->rows, all = n * f->tiles;
    memset(f->here, 0, (size_t)f->tiles * (size_t)f->tiles);
    for (int i = 0; i < f->tiles; i++)
        for (int j = 0; j <= i; j++)
            for (int e = 0; e < n * n && owner_of(f, i, j) == f->m->rank; e++)
                tile_of(f, i * f->tiles + j)[e] = element(all, i * n + e / n, j * n + e % n);
}

/* Compares a rank's own tiles with a factor computed in one piece. */
static void check(const struct factor *f, const char *name) {
    int n = f->rows, all = n * f->tiles;
    double *whole = (double *)malloc((size_t)all * (size_t)all * sizeof *whole), worst = 0, most;
    if (whole == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    for (int e = 0; e < all * all; e++) whole[e] = element(all, e / all, e % all);
    for (int i = 0; i < all; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = whole[i * all + j];
            for (int k = 0; k < j; k++) sum -= whole[i * all + k] * whole[j * all + k];
            whole[i * all + j] = i == j ? sqrt(sum) : sum / whole[j * all + j];
        }
    }
    for (int i = 0; i < all; i++) {
        for (int j = 0; j <= i; j++) {
            if (owner_of(f, i / n, j / n) != f->m->rank) continue;
            const double *tile = tile_of(f, i / n * f->tiles + j / n);
            double off = fabs(tile[i % n * n + j % n] - whole[i * all + j]);
            if (!(off <= worst)) worst = off;
        }
    }
    free(whole);
    MPI_Allreduce(&worst, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (most <= 1e-12 * all) return;
    if (f->m->rank == 0) fprintf(stderr, "cholesky %s: off by %g\n", name, most);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void run(struct factor *f, const struct method *method, int repetitions) {
    double took = 0;
    for (int repetition = 0; repetition <= repetitions; repetition++) {
        fill(f);
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        run_once(f, method);
        MPI_Barrier(MPI_COMM_WORLD);
        if (repetition > 0) took += MPI_Wtime() - began; /* the first warms up */
    }
    check(f, method->name);
    if (f->m->rank == 0)
        printf("cholesky %s: %d x %d tiles of %d x %d, factor right, %.1f us\n", method->name,
               f->tiles, f->tiles, f->rows, f->rows, took / repetitions * 1e6);
}

static void run_all(struct factor *f, int repetitions, int puts) {
    static const struct method NOTIFIED = {"notified", fly_give, fly_need};
    static const struct method MESSAGES = {"by messages", message_give, message_need};
    static const struct method PUTS = {"by MPI's puts", put_give, put_need};
    size_t all = (size_t)f->tiles * (size_t)f->tiles;
    f->a = f->window;
    run(f, &NOTIFIED, repetitions);
    if (motif_recorded()) return;
    run(f, &MESSAGES, repetitions);
    if (!puts) return;
    motif_expose(&f->exposed, all * f->bytes);
    f->a = (double *)(void *)f->exposed.base;
    run(f, &PUTS, repetitions);
    motif_unexpose(&f->exposed);
}

int main(int count, char **words) {
    struct motif m;
    struct factor factor = {.m = &m}, *f = &factor;
    void *base;
    motif_open(&m, &count, &words);
    f->tiles = motif_number(count, words, 1, 16, 1);
    f->rows = motif_number(count, words, 2, 16, 1);
    int repetitions = motif_number(count, words, 3, 20, 1);
    if ((long)f->tiles * f->rows > 8192) {
        fprintf(stderr, "cholesky: %d tiles of %d rows are more than 8192 rows\n", f->tiles,
                f->rows);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    f->down = 1;
    for (int d = 1; d * d <= m.size; d++)
        if (m.size % d == 0) f->down = d;
    f->across = m.size / f->down;
    f->bytes = (size_t)f->rows * (size_t)f->rows * sizeof(double);
    size_t all = (size_t)f->tiles * (size_t)f->tiles;
    f->here = (char *)calloc(all, 1);
    f->sends = (MPI_Request *)malloc(all * (size_t)m.size * sizeof *f->sends);
    if (f->here == NULL || f->sends == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    DO(fly_win_allocate(fly_world(m.rt), all * f->bytes, f->bytes, 0, &base, &f->win));
    f->window = (double *)base;
    DO(fly_notify_init(f->win, FLY_ANY_SOURCE, FLY_ANY_TAG, 1, &f->any));
    run_all(f, repetitions, motif_puts(count, words, 4));
    DO(fly_req_free(&f->any));
    DO(fly_win_free(&f->win));
    free(f->here);
    free(f->sends);
    motif_close(&m);
    return 0;
}
