/* The process that maps for all; it prints why ranks stay as they are.
 *
 * FLYLOOM_VERBOSE  1: a line about each communicator; map_ask.c has the other variables
 */
#define _GNU_SOURCE
#include "reorder.h"

#include "map_ask.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 2048 };

static atomic_int said_it;

int reo_has_kept(void) { return atomic_load(&said_it); }

void reo_keep(const char *why, ...) {
    if (atomic_exchange(&said_it, 1)) return;
    char words[WORDS];
    va_list more;
    va_start(more, why);
    vsnprintf(words, sizeof words, why, more);
    va_end(more);
    fprintf(stderr, "flyloom: reorder: ranks stay as they are: %s\n", words);
}

int reo_can_map(void) {
    char said[WORDS];
    if (map_can(said, sizeof said)) return 1;
    reo_keep("%s", said);
    return 0;
}

int reo_map(const struct edge *edges, size_t count, const char *hosts, int size, int *ranks) {
    char said[WORDS];
    struct mapping_request asked = {(const int *)edges, count, hosts, HOST_BYTES, size};
    int code = map_ask(&asked, ranks, said, sizeof said);
    const char *verbose = getenv("FLYLOOM_VERBOSE");
    if (code < 0)
        reo_keep("%s", said);
    else if (verbose != NULL && verbose[0] != 0 && strcmp(verbose, "0") != 0)
        fprintf(stderr, "flyloom: reorder: %s\n", said);
    return code == 1;
}
