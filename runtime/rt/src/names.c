/* The names of settings in the environment: a misspelt one is reported, not ignored. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

extern char **environ;

/* Names that this library and the project's other programs read. */
static const char *const NAMES[] = {
    "FLYLOOM_BOOT",        "FLYLOOM_CHECK",          "FLYLOOM_COLL",
    "FLYLOOM_COLL_DUMP",   "FLYLOOM_CREDITS",        "FLYLOOM_EFFORT",
    "FLYLOOM_HOST",        "FLYLOOM_HOST_ENDPOINTS", "FLYLOOM_LOGGP",
    "FLYLOOM_LOOP",        "FLYLOOM_MAP_LIBRARY",    "FLYLOOM_MPICC",
    "FLYLOOM_MULTICAST",   "FLYLOOM_MULTICAST_FAULTS", "FLYLOOM_NETWORK",
    "FLYLOOM_OBJECTIVE",   "FLYLOOM_OFI_PATH",       "FLYLOOM_PIECE_BYTES",
    "FLYLOOM_PROGRESS",
    "FLYLOOM_PROVIDER",    "FLYLOOM_RANK",           "FLYLOOM_RECORD",
    "FLYLOOM_RECORD_CALLS", "FLYLOOM_RECORD_COLLECTIVES", "FLYLOOM_RECORD_FILE",
    "FLYLOOM_RECORD_MESSAGES",
    "FLYLOOM_RECORD_TIME", "FLYLOOM_REPEAT",         "FLYLOOM_SEED",
    "FLYLOOM_SIZE",        "FLYLOOM_START_TIMEOUT_MS", "FLYLOOM_THREADS",
    "FLYLOOM_TIMEOUT_MS",
    "FLYLOOM_TRANSPORTS",  "FLYLOOM_UNEXPECTED_MAX", "FLYLOOM_VERBOSE",
};
/* Names that installations set (module files, build systems), or only the project's tests use. */
static const char *const OTHERS[] = {"APT", "BIN", "CAMPAIGN", "DIR", "EXTERNAL", "HOME", "INC",
                                     "INCLUDE", "LIB", "PATH", "PREFIX", "ROOT", "VERSION"};
enum { COUNT = sizeof NAMES / sizeof *NAMES, OTHER_COUNT = sizeof OTHERS / sizeof *OTHERS };
enum { PREFIX = sizeof "FLYLOOM_" - 1, LONGEST = 40 };

static int least(int a, int b) { return a < b ? a : b; }

/* The number of letters to change, add or leave out between two names (Levenshtein 1966). */
static int distance(const char *a, size_t a_length, const char *b) {
    int row[LONGEST + 1];
    size_t b_length = strlen(b);
    for (size_t j = 0; j <= b_length; j++) row[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int changed = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = least(changed, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[b_length];
}

static bool known(const char *name, size_t length) {
    for (int i = 0; i < COUNT; i++)
        if (strlen(NAMES[i]) == length && memcmp(NAMES[i], name, length) == 0) return true;
    for (int i = 0; i < OTHER_COUNT; i++)
        if (strlen(OTHERS[i]) == length - PREFIX &&
            memcmp(OTHERS[i], name + PREFIX, length - PREFIX) == 0)
            return true;
    return length > PREFIX + 5 && memcmp(name + PREFIX, "TEST_", 5) == 0;
}

void fly_names_unknown(FILE *out) {
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        size_t length = strcspn(*at, "=");
        if (strncmp(*at, "FLYLOOM_", PREFIX) != 0 || known(*at, length)) continue;
        int best = 0;
        for (int i = 1; i < COUNT; i++)
            if (distance(*at, length, NAMES[i]) < distance(*at, length, NAMES[best])) best = i;
        fprintf(out, "flyloom: %.*s is no setting and has no effect; did you mean %s?\n",
                (int)least((int)length, 2 * LONGEST), *at, NAMES[best]);
    }
}
