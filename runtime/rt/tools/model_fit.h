/* Fits measured costs to lines; pure. It minimises residuals as fractions of the measured values;
 * points far from the others count less, or not at all.
 */
#ifndef FLY_MODEL_FIT_H
#define FLY_MODEL_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { FIT_POINTS_MOST = 64, FIT_PARTS_MOST = 3 };

struct fit_point {
    double x, y; /* y > 0 */
};

/* y = constant + slope x for x of `from` to `to`. */
struct fit_line {
    double constant, slope;
    double constant_error, slope_error; /* standard errors; 0 where there is no point to spare */
    double rms, worst;                  /* residuals as fractions of what was measured */
    double from, to;
    size_t points;
};

/* FIT_SLOPE: the constant is 0. FIT_CONSTANT: the slope is. */
enum fit_form { FIT_BOTH, FIT_SLOPE, FIT_CONSTANT };

/* One line through n points in ascending x; false: there are none, or too many. Where all x are
   the same FIT_BOTH becomes FIT_CONSTANT. */
bool fit_line(const struct fit_point *points, size_t n, enum fit_form form, struct fit_line *line);

/* Several lines one behind the other, where one does not do; how many, 0 as above. A part has at
   least four points. */
size_t fit_parts(const struct fit_point *points, size_t n, struct fit_line parts[FIT_PARTS_MOST]);

/* What the lines say at x; beyond the points, the nearest line goes on. */
double fit_at(const struct fit_line *parts, size_t count, double x);

/* A fence costs fence_ns whatever the neighbours; post, start, complete and wait constant + slope
   times neighbours: how many neighbours cost the same. Below 0: the fence is always the cheaper
   one; infinite: never. */
double fit_crossing(double fence_ns, double constant, double slope);

#endif
