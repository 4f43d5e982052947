/* What flyloom-perf model measures, and how it reports it. */
#ifndef FLY_PERF_MODEL_H
#define FLY_PERF_MODEL_H

#include <stdbool.h>
#include <stddef.h>

enum { MODEL_SAMPLES = 512 };

/* The quantity that the cost of a call depends on. */
enum model_by { BY_NOTHING, BY_BYTES, BY_LOG_RANKS, BY_NEIGHBOURS };

struct model_sample {
    const char *call; /* one of MODEL_CALLS */
    size_t bytes;
    int ranks, neighbours;
    bool crowded; /* more ranks than processors */
    double ns;
};

struct model_call {
    const char *name;
    enum model_by by;
    /* The published model: a constant in ns, and ns for each unit of that quantity; 0, 0: none. */
    double constant_ns, slope_ns;
};

extern const struct model_call MODEL_CALLS[];
extern const size_t MODEL_CALL_COUNT;

struct model_samples {
    size_t count;
    struct model_sample at[MODEL_SAMPLES];
};

struct model_question {
    size_t ranks, neighbours, bytes;
};

/* Fits and prints all; the exit code. */
int model_print(const struct model_samples *samples, const struct model_question *question,
                bool json);

#endif
