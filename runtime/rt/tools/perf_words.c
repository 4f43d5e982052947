/* Reads the numbers in flyloom-perf's options, and says what is valid. */
#include <stdio.h>
#include <stdlib.h>

#include "perf_parts.h"

int perf_refuse(const char *program, const char *option, const char *value, const char *valid) {
    fprintf(stderr, "%s: %s: \"%s\" must be %s\n", program, option, value, valid);
    return 2;
}

int perf_read_number(const char *program, const char *option, const char *text, uint64_t least,
                     uint64_t most, uint64_t *number) {
    char *end, valid[80];
    unsigned long long value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == 0 && value >= least && value <= most) {
        *number = value;
        return 0;
    }
    snprintf(valid, sizeof valid, "a whole number of %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return perf_refuse(program, option, text, valid);
}

int perf_read_list(const char *program, const char *option, const char *text, uint64_t least,
                   uint64_t most, size_t *numbers, int room, int *count) {
    const char *at = text;
    char valid[100];
    snprintf(valid, sizeof valid, "1 to %d numbers of %llu to %llu, with commas between", room,
             (unsigned long long)least, (unsigned long long)most);
    for (int n = 0;; n++) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);
        bool whole = *at >= '0' && *at <= '9' && value >= least && value <= most;
        if (!whole || n == room || (*end != 0 && *end != ','))
            return perf_refuse(program, option, text, valid);
        numbers[n] = (size_t)value;
        *count = n + 1;
        if (*end == 0) return 0;
        at = end + 1;
    }
}
