/* Fits measured costs, and prints coefficients and residuals beside published models; answers
   whether a fence is cheaper than post, start, complete and wait. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_fit.h"
#include "perf_model.h"

/* The published models: Gerstenberger, Besta, Hoefler, SC 2013, Cray XE6, section 4; notified
   access: Belli, Hoefler, IPDPS 2015, shared memory. */
const struct model_call MODEL_CALLS[] = {
    {"put, flush", BY_BYTES, 1000, 0.16},
    {"get, flush_local", BY_BYTES, 1900, 0.17},
    {"put_notify, matched", BY_BYTES, 250, 0.08},
    {"flush", BY_NOTHING, 76, 0},
    {"win_sync", BY_NOTHING, 17, 0},
    {"fetch_add", BY_NOTHING, 2400, 0},
    {"compare_swap", BY_NOTHING, 2400, 0},
    {"lock, shared", BY_NOTHING, 2700, 0},
    {"lock, exclusive", BY_NOTHING, 5400, 0},
    {"unlock, shared", BY_NOTHING, 400, 0},
    {"unlock, exclusive", BY_NOTHING, 400, 0},
    {"lock_all", BY_NOTHING, 2700, 0},
    {"unlock_all", BY_NOTHING, 400, 0},
    {"notify_init", BY_NOTHING, 70, 0},
    {"start", BY_NOTHING, 8, 0},
    {"req_free", BY_NOTHING, 40, 0},
    {"win_post", BY_NEIGHBOURS, 0, 350},
    {"win_start", BY_NEIGHBOURS, 700, 0},
    {"win_complete", BY_NEIGHBOURS, 0, 350},
    {"win_wait", BY_NEIGHBOURS, 1800, 0},
    {"epoch of fence", BY_LOG_RANKS, 0, 2900},
    {"epoch of post to wait", BY_NEIGHBOURS, 2500, 700},
};
const size_t MODEL_CALL_COUNT = sizeof MODEL_CALLS / sizeof *MODEL_CALLS;

static const char *const PER[] = {"", "byte", "log2 ranks", "neighbour"};

struct fitted {
    struct fit_line parts[FIT_PARTS_MOST];
    size_t count;
};

static double x_of(const struct model_sample *s, enum model_by by) {
    if (by == BY_BYTES) return (double)s->bytes;
    if (by == BY_LOG_RANKS) return log2(s->ranks);
    return by == BY_NEIGHBOURS ? s->neighbours : 0;
}

/* The samples of one regime, in ascending x. */
static size_t points_of(const struct model_samples *all, const struct model_call *call,
                        bool crowded, struct fit_point *points) {
    size_t n = 0;
    for (size_t i = 0; i < all->count && n < FIT_POINTS_MOST; i++) {
        const struct model_sample *s = &all->at[i];
        if (strcmp(s->call, call->name) != 0 || s->crowded != crowded) continue;
        struct fit_point new = {x_of(s, call->by), s->ns};
        size_t at = n++;
        for (; at > 0 && points[at - 1].x > new.x; at--) points[at] = points[at - 1];
        points[at] = new;
    }
    return n;
}

static void fit(const struct model_samples *all, const struct model_call *call, bool crowded,
                struct fitted *fitted) {
    struct fit_point points[FIT_POINTS_MOST];
    size_t n = points_of(all, call, crowded, points);
    fitted->count = 0;
    if (n == 0) return;
    if (call->by == BY_BYTES) {
        fitted->count = fit_parts(points, n, fitted->parts);
        return;
    }
    bool one = points[0].x >= points[n - 1].x;
    enum fit_form form = call->by == BY_NOTHING ? FIT_CONSTANT
                         : one && call->by == BY_LOG_RANKS ? FIT_SLOPE : FIT_BOTH;
    fitted->count = fit_line(points, n, form, fitted->parts);
}

static void row(const struct model_call *call, bool crowded, const struct fit_line *l, bool json,
                bool *first) {
    if (json) {
        printf("%s{\"call\": \"%s\", \"crowded\": %s, \"per\": ", *first ? "" : ",\n ", call->name,
               crowded ? "true" : "false");
        if (call->by == BY_NOTHING) printf("null"); else printf("\"%s\"", PER[call->by]);
        printf(", \"from\": %.6g, \"to\": %.6g, \"constant_ns\": %.6g, "
               "\"constant_error_ns\": %.3g, \"slope_ns\": %.6g, \"slope_error_ns\": %.3g, "
               "\"points\": %zu, \"residual_rms_fraction\": %.4f, "
               "\"residual_worst_fraction\": %.4f, \"published_constant_ns\": %g, "
               "\"published_slope_ns\": %g}", l->from, l->to, l->constant, l->constant_error,
               l->slope, l->slope_error, l->points, l->rms, l->worst, call->constant_ns,
               call->slope_ns);
    } else {
        char range[40] = "", ours[64];
        if (call->by == BY_BYTES) snprintf(range, sizeof range, "%.0f-%.0f B", l->from, l->to);
        snprintf(ours, sizeof ours, "%.1f", l->constant);
        if (call->by != BY_NOTHING)
            snprintf(ours, sizeof ours, "%.1f + %.4g / %s", l->constant, l->slope, PER[call->by]);
        printf("%-22s %-8s %-16s %-30s %4zu %6.1f %% %6.1f %%  %g + %g\n", call->name,
               crowded ? "crowded" : "apart", range, ours, l->points, l->rms * 100,
               l->worst * 100, call->constant_ns, call->slope_ns);
    }
    *first = false;
}

static const struct model_call *call_of(const char *name) {
    size_t i = 0;
    while (strcmp(MODEL_CALLS[i].name, name) != 0) i++;
    return &MODEL_CALLS[i];
}

/* The cost that each neighbour adds to the calls of PSCW, if only one number of them was measured.
 */
static double slopes(const struct model_samples *all) {
    static const char *const CALLS[] = {"win_post", "win_start", "win_complete", "win_wait"};
    struct fitted fitted;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        fit(all, call_of(CALLS[i]), true, &fitted);
        if (fitted.count != 0 && fitted.parts[0].slope > 0) sum += fitted.parts[0].slope;
    }
    return sum;
}

/* Answers by the regime without crowding if it was measured: a program has a processor per rank. */
static void answer(const struct model_samples *all, const struct model_question *q, bool json) {
    const struct model_call *of_fence = call_of("epoch of fence");
    const struct model_call *of_pscw = call_of("epoch of post to wait");
    struct fitted fence, pscw, put;
    fit(all, of_fence, false, &fence);
    bool crowded = fence.count == 0;
    if (crowded) fit(all, of_fence, true, &fence);
    fit(all, of_pscw, crowded, &pscw);
    fit(all, call_of("put, flush"), crowded, &put);
    if (fence.count == 0 || pscw.count == 0) return;
    struct fit_line *p = &pscw.parts[0];
    if (p->from >= p->to) {
        p->slope = slopes(all);
        p->constant -= p->slope * p->from;
    }
    double more = (fit_at(put.parts, put.count, (double)q->bytes) -
                   fit_at(put.parts, put.count, 8)) * (double)q->neighbours;
    double alone_ns = fit_at(fence.parts, 1, log2((double)q->ranks));
    double together_ns = fit_at(p, 1, (double)q->neighbours);
    double crossing = fit_crossing(alone_ns, p->constant, p->slope);
    double theirs = fit_crossing(of_fence->constant_ns +
                                     of_fence->slope_ns * log2((double)q->ranks),
                                 of_pscw->constant_ns, of_pscw->slope_ns);
    const char *best = alone_ns <= together_ns ? "fence" : "PSCW";
    if (json) {
        printf("{\"ranks\": %zu, \"neighbours\": %zu, \"bytes\": %zu, \"crowded\": %s, "
               "\"fence_ns\": %.1f, \"pscw_ns\": %.1f, \"best\": \"%s\", "
               "\"neighbours_at_equal_cost\": ", q->ranks, q->neighbours, q->bytes,
               crowded ? "true" : "false", alone_ns + more, together_ns + more, best);
        if (isfinite(crossing)) printf("%.2f", crossing); else printf("null");
        printf(", \"published_neighbours_at_equal_cost\": %.2f}", theirs);
        return;
    }
    printf("%zu ranks, %zu neighbours, %zu B each: fence %.0f ns, PSCW %.0f ns: %s; equal at %.1f "
           "neighbours (published: %.1f)\n", q->ranks, q->neighbours, q->bytes, alone_ns + more,
           together_ns + more, best, crossing, theirs);
}

static void answers(const struct model_samples *all, const struct model_question *asked,
                    bool json) {
    static const struct model_question USUAL[] = {{2, 1, 8}, {16, 6, 8}, {1024, 6, 8},
                                                  {65536, 6, 8}};
    if (asked->ranks != 0) {
        answer(all, asked, json);
        return;
    }
    for (size_t i = 0; i < sizeof USUAL / sizeof *USUAL; i++) {
        if (json && i > 0) printf(",\n ");
        answer(all, &USUAL[i], json);
    }
}

int model_print(const struct model_samples *all, const struct model_question *asked, bool json) {
    bool first = true;
    if (json)
        printf("{\"fits\": [\n ");
    else
        printf("%-22s %-8s %-16s %-30s %4s %8s %8s  %s\n", "call", "ranks", "", "ns", "of", "rms",
               "worst", "published ns");
    for (size_t c = 0; c < MODEL_CALL_COUNT; c++) {
        for (int crowded = 0; crowded < 2; crowded++) {
            struct fitted fitted;
            fit(all, &MODEL_CALLS[c], crowded, &fitted);
            for (size_t i = 0; i < fitted.count; i++)
                row(&MODEL_CALLS[c], crowded, &fitted.parts[i], json, &first);
        }
    }
    if (json) printf("],\n\"answers\": [\n ");
    answers(all, asked, json);
    if (json) printf("]}\n");
    return 0;
}
