/* The fits of flyloom-perf: known coefficients are found in spite of noise, outliers and
   changes of slope; and the choice between fence and PSCW by the published models. */
#include <math.h>

#include "check.h"
#include "model_fit.h"

enum { POINTS = 40, SEEDS = 20 };

/* A pseudo-random number, uniform from -1 to 1. */
static double noise(uint64_t *state) {
    return (double)(draw(state) >> 11) / 4503599627370496.0 - 1;
}

static void near(const char *what, double found, double wanted, double share) {
    CHECK(fabs(found - wanted) <= share * fabs(wanted), "%s: %g, not %g", what, found, wanted);
}

/* Sizes from 1 B on, four in each doubling where there is room for them. */
static size_t sizes(struct fit_point *p, size_t n) {
    for (size_t i = 0; i < n; i++) p[i].x = floor(pow(2, (double)i / 2) + 0.5);
    return n;
}

static void exact(void) {
    struct fit_point p[POINTS];
    struct fit_line line, parts[FIT_PARTS_MOST];
    size_t n = sizes(p, POINTS);
    for (size_t i = 0; i < n; i++) p[i].y = 1000 + 0.16 * p[i].x;
    CHECK(fit_line(p, n, FIT_BOTH, &line), "none");
    near("constant", line.constant, 1000, 1e-9);
    near("slope", line.slope, 0.16, 1e-9);
    CHECK(line.worst < 1e-9 && line.points == n, "%g", line.worst);
    CHECK(fit_parts(p, n, parts) == 1, "one line does");
    for (size_t i = 0; i < n; i++) p[i].y = 2900 * log2((double)(i + 2)), p[i].x = log2(i + 2.0);
    CHECK(fit_line(p, n, FIT_SLOPE, &line) && line.constant == 0, "slope alone");
    near("slope", line.slope, 2900, 1e-9);
    for (size_t i = 0; i < n; i++) p[i].y = 76;
    CHECK(fit_line(p, n, FIT_CONSTANT, &line) && line.slope == 0, "constant alone");
    near("constant", line.constant, 76, 1e-9);
    for (size_t i = 0; i < n; i++) p[i].x = 3;
    CHECK(fit_line(p, n, FIT_BOTH, &line) && line.slope == 0 &&
          fabs(line.constant - 76) < 1e-9, "one x");
    CHECK(!fit_line(p, 0, FIT_BOTH, &line) && !fit_line(p, FIT_POINTS_MOST + 1, FIT_BOTH, &line) &&
          fit_parts(p, 0, parts) == 0, "none");
}

/* Data with 5 % of noise, and one point in ten at up to six times its value. */
static void disturbed(uint64_t seed) {
    struct fit_point p[POINTS];
    struct fit_line line;
    uint64_t state = seed;
    double constant = 100 + 900 * fabs(noise(&state)), slope = 50 + 400 * fabs(noise(&state));
    for (size_t i = 0; i < POINTS; i++) {
        p[i].x = (double)(i / 4 + 1);
        p[i].y = (constant + slope * p[i].x) * (1 + 0.05 * noise(&state));
        if (below(&state, 10) == 0) p[i].y *= 2 + 4 * fabs(noise(&state));
    }
    CHECK(fit_line(p, POINTS, FIT_BOTH, &line), "none");
    for (size_t x = 1; x <= 10; x += 9)
        near("value", fit_at(&line, 1, (double)x), constant + slope * (double)x, 0.04);
    CHECK(line.slope_error > 0 && line.constant_error > 0, "no errors");
    CHECK(fabs(line.slope - slope) < 5 * line.slope_error, "%g is %g errors off", line.slope,
          fabs(line.slope - slope) / line.slope_error);
}

/* The reported errors equal the spread of the coefficients over many measurements. */
static void errors_are_the_spread(void) {
    enum { TRIALS = 200 };
    struct fit_point p[POINTS];
    struct fit_line line;
    uint64_t state = 5;
    double off[2] = {0, 0}, said[2] = {0, 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < POINTS; i++) {
            p[i].x = (double)(i / 4 + 1);
            p[i].y = (1000 + 50 * p[i].x) * (1 + 0.02 * noise(&state));
        }
        CHECK(fit_line(p, POINTS, FIT_BOTH, &line), "none");
        off[0] += (line.constant - 1000) * (line.constant - 1000);
        off[1] += (line.slope - 50) * (line.slope - 50);
        said[0] += line.constant_error * line.constant_error;
        said[1] += line.slope_error * line.slope_error;
    }
    near("error of the constant", sqrt(said[0] / TRIALS), sqrt(off[0] / TRIALS), 0.3);
    near("error of the slope", sqrt(said[1] / TRIALS), sqrt(off[1] / TRIALS), 0.3);
}

/* Data with another constant and slope from 4 KiB on, and again from 256 KiB on. */
static void changing(uint64_t seed) {
    struct fit_point p[POINTS];
    struct fit_line parts[FIT_PARTS_MOST];
    uint64_t state = seed;
    size_t n = sizes(p, POINTS);
    for (size_t i = 0; i < n; i++) {
        double y = p[i].x < 4096     ? 120 + 0.02 * p[i].x
                   : p[i].x < 262144 ? 900 + 0.10 * p[i].x
                                     : 300 + 0.35 * p[i].x;
        p[i].y = y * (1 + 0.02 * noise(&state));
    }
    CHECK(fit_parts(p, n, parts) == 3, "three parts");
    CHECK(parts[1].from == 4096 && parts[2].from == 262144, "from %g and %g", parts[1].from,
          parts[2].from);
    CHECK(parts[0].to < 4096 && parts[2].to == p[n - 1].x, "to %g and %g", parts[0].to,
          parts[2].to);
    near("constant", parts[0].constant, 120, 0.03);
    near("slope", parts[1].slope, 0.10, 0.05);
    near("slope", parts[2].slope, 0.35, 0.05);
    near("inside", fit_at(parts, 3, 100000), 900 + 0.10 * 100000, 0.04);
    near("beyond", fit_at(parts, 3, 4e6), 300 + 0.35 * 4e6, 0.05);
}

/* Gerstenberger, Besta, Hoefler 2013: fence 2.9 us log2 p, PSCW 2.5 us + 0.7 us k: a fence wins for
   more than 13 neighbours at 16 processes, 37 at 1,024, 62 at 65,536. */
static void published(void) {
    static const struct {
        double ranks, most;
    } CASES[] = {{16, 13}, {1024, 37}, {65536, 62}};
    for (size_t i = 0; i < 3; i++) {
        double found = fit_crossing(2900 * log2(CASES[i].ranks), 2500, 700);
        CHECK(floor(found) == CASES[i].most, "%g ranks: %g", CASES[i].ranks, found);
    }
    CHECK(isinf(fit_crossing(100, 50, 0)) && fit_crossing(100, 200, 0) < 0, "flat lines");
}

int main(void) {
    exact();
    errors_are_the_spread();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        disturbed(seed);
        changing(seed);
    }
    published();
    printf("model_fit_test: %d seeds\n", SEEDS);
    return 0;
}
