/* The model of collectives under EVA: any figures up to 10^12, 2^SIZES ranks, 2^40 bytes. */
#include "eva.h"

#include "../src/coll/model.c"

#ifndef SIZES
#define SIZES 20
#endif

static double figure(void) { return Frama_C_double_interval(0, 1e12); }

void any_figures(void) {
    struct fly_loggp net = {
        .latency_ns = figure(), .send_ns = figure(), .receive_ns = figure(), .gap_ns = figure(),
        .byte_ns = figure(), .long_least = Frama_C_size_t_interval(0, 65536),
        .long_ns = figure(), .long_byte_ns = figure(), .move_byte_ns = figure(),
        .datagram_ns = figure(), .datagram_bytes = Frama_C_size_t_interval(0, 65536)};
    int size = Frama_C_interval(1, 1 << SIZES);
    size_t bytes = Frama_C_size_t_interval(0, (size_t)1 << 40);
    for (int o = 0; o < FLY_C_INNER; o++)
        for (int k = 0; k < fly_operations[o].count; k++) {
            const struct fly_algorithm *algorithm = &fly_operations[o].algorithms[k];
            size_t parameter = 0;
            if (algorithm->parameter != NULL) parameter = algorithm->best(&net, size, bytes);
            algorithm->predict(&net, size, bytes, parameter);
        }
}
