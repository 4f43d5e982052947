/* Fits of measured costs to lines: least squares of relative residuals, from a start that outliers
   do not move (Theil 1950, Sen 1968), with Tukey's bisquare weights. */
#include "model_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 30, PART_LEAST = 4 };
/* Tukey's constant; the factor from a median of absolute residuals to a standard deviation; the
   share of a value below which residuals are measurement noise. */
static const double TUKEY = 4.685, FROM_MEDIAN = 1.4826, FLOOR = 0.002;
/* Limits on a part's cost: the most that one residual counts; the least gain for another part. */
static const double FAR = 0.25, WORTH = 0.01;

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, by_size);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The residual of a point to a line, as a share of the measured value. */
static double residual(const struct fit_point *p, const struct fit_line *line) {
    return (p->y - line->constant - line->slope * p->x) / p->y;
}

/* Starts with the median of the slopes of all pairs, and the median of what is left. */
static void begin(const struct fit_point *p, size_t n, enum fit_form form, struct fit_line *line) {
    static double slopes[FIT_POINTS_MOST * FIT_POINTS_MOST / 2];
    double left[FIT_POINTS_MOST];
    size_t count = 0;
    line->constant = line->slope = 0;
    if (form == FIT_SLOPE) {
        for (size_t i = 0; i < n; i++)
            if (p[i].x > 0) left[count++] = p[i].y / p[i].x;
        if (count > 0) line->slope = median(left, count);
        return;
    }
    for (size_t i = 0; i < n && form == FIT_BOTH; i++)
        for (size_t j = i + 1; j < n; j++)
            if (p[j].x > p[i].x) slopes[count++] = (p[j].y - p[i].y) / (p[j].x - p[i].x);
    if (count > 0) line->slope = median(slopes, count);
    for (size_t i = 0; i < n; i++) left[i] = p[i].y - line->slope * p[i].x;
    line->constant = median(left, n);
}

/* The weighted sums of the normal equations. */
struct sums {
    double one, x, xx, y, xy;
};

static struct sums sum(const struct fit_point *p, size_t n, const double *weights) {
    struct sums s = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        double w = weights[i] / (p[i].y * p[i].y);
        s.one += w;
        s.x += w * p[i].x;
        s.xx += w * p[i].x * p[i].x;
        s.y += w * p[i].y;
        s.xy += w * p[i].x * p[i].y;
    }
    return s;
}

static bool solve(const struct sums *s, enum fit_form form, struct fit_line *line) {
    double whole = s->one * s->xx - s->x * s->x;
    if (form == FIT_CONSTANT && s->one > 0) {
        line->constant = s->y / s->one;
    } else if (form == FIT_SLOPE && s->xx > 0) {
        line->slope = s->xy / s->xx;
    } else if (form == FIT_BOTH && whole > 1e-12 * s->one * s->xx) {
        line->slope = (s->one * s->xy - s->x * s->y) / whole;
        line->constant = (s->y - line->slope * s->x) / s->one;
    } else {
        return false;
    }
    return true;
}

static void weigh(const struct fit_point *p, size_t n, const struct fit_line *line,
                  double *weights) {
    double sizes[FIT_POINTS_MOST];
    for (size_t i = 0; i < n; i++) sizes[i] = fabs(residual(&p[i], line));
    double scale = median(sizes, n) * FROM_MEDIAN;
    if (scale < FLOOR) scale = FLOOR;
    for (size_t i = 0; i < n; i++) {
        double u = residual(&p[i], line) / (TUKEY * scale);
        weights[i] = fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
    }
}

/* Estimates the errors of the coefficients by the residuals of the points that count. */
static void errors(const struct fit_point *p, size_t n, enum fit_form form, const double *weights,
                   struct fit_line *line) {
    struct sums s = sum(p, n, weights);
    double all = 0, count = 0, taken = form == FIT_BOTH ? 2 : 1;
    line->rms = line->worst = 0;
    for (size_t i = 0; i < n; i++) {
        double r = residual(&p[i], line);
        line->rms += r * r / (double)n;
        if (fabs(r) > line->worst) line->worst = fabs(r);
        all += weights[i] * r * r;
        count += weights[i];
    }
    line->rms = sqrt(line->rms);
    line->constant_error = line->slope_error = 0;
    if (count <= taken) return;
    double each = all / (count - taken), whole = s.one * s.xx - s.x * s.x;
    if (form == FIT_CONSTANT) line->constant_error = sqrt(each / s.one);
    if (form == FIT_SLOPE) line->slope_error = sqrt(each / s.xx);
    if (form != FIT_BOTH || whole <= 0) return;
    line->constant_error = sqrt(each * s.xx / whole);
    line->slope_error = sqrt(each * s.one / whole);
}

bool fit_line(const struct fit_point *p, size_t n, enum fit_form form, struct fit_line *line) {
    double weights[FIT_POINTS_MOST];
    if (n == 0 || n > FIT_POINTS_MOST) return false;
    if (form == FIT_BOTH && p[0].x >= p[n - 1].x) form = FIT_CONSTANT;
    if (form == FIT_SLOPE && p[n - 1].x <= 0) return false;
    begin(p, n, form, line);
    for (int i = 0; i < STEPS; i++) {
        weigh(p, n, line, weights);
        struct sums s = sum(p, n, weights);
        if (!solve(&s, form, line)) break;
    }
    errors(p, n, form, weights, line);
    line->from = p[0].x;
    line->to = p[n - 1].x;
    line->points = n;
    return true;
}

static double cost(const struct fit_point *p, size_t n, const struct fit_line *line) {
    double all = 0;
    for (size_t i = 0; i < n; i++) {
        double r = fabs(residual(&p[i], line));
        all += r < FAR ? r * r : FAR * FAR;
    }
    return all;
}

/* For the points up to each one, the best fit with a given number of parts; `from` is where the
   last part begins. */
struct table {
    double cost[FIT_PARTS_MOST + 1][FIT_POINTS_MOST + 1];
    size_t first[FIT_PARTS_MOST + 1][FIT_POINTS_MOST + 1];
};

static void fill(const struct fit_point *p, size_t n, struct table *t) {
    for (int k = 0; k <= FIT_PARTS_MOST; k++)
        for (size_t i = 0; i <= n; i++) t->cost[k][i] = k == 0 && i == 0 ? 0 : INFINITY;
    for (size_t i = 0; i < n; i++) {
        for (size_t to = i + 1; to <= n; to++) {
            struct fit_line line;
            bool whole = i == 0 && to == n;
            if (to - i < PART_LEAST && !whole) continue;
            fit_line(p + i, to - i, FIT_BOTH, &line);
            double part = cost(p + i, to - i, &line);
            for (int k = 1; k <= FIT_PARTS_MOST; k++) {
                double all = t->cost[k - 1][i] + part;
                if (all >= t->cost[k][to]) continue;
                t->cost[k][to] = all;
                t->first[k][to] = i;
            }
        }
    }
}

size_t fit_parts(const struct fit_point *p, size_t n, struct fit_line parts[FIT_PARTS_MOST]) {
    static struct table t;
    if (n == 0 || n > FIT_POINTS_MOST) return 0;
    fill(p, n, &t);
    int best = 1; /* another part must halve residuals that matter */
    for (int k = 2; k <= FIT_PARTS_MOST; k++)
        if (t.cost[k][n] < t.cost[best][n] / 4 &&
            t.cost[best][n] / (double)n > WORTH * WORTH)
            best = k;
    size_t to = n;
    for (int k = best; k > 0; k--) {
        size_t from = t.first[k][to];
        fit_line(p + from, to - from, FIT_BOTH, &parts[k - 1]);
        to = from;
    }
    return (size_t)best;
}

double fit_at(const struct fit_line *parts, size_t count, double x) {
    size_t i = 0;
    if (count == 0) return 0;
    while (i + 1 < count && x >= parts[i + 1].from) i++;
    return parts[i].constant + parts[i].slope * x;
}

double fit_crossing(double fence_ns, double constant, double slope) {
    if (slope > 0) return (fence_ns - constant) / slope;
    return fence_ns < constant ? -1 : INFINITY;
}
