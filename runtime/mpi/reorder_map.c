/* The process that maps for all: what the environment says, and the core, which is loaded here.
 *
 * FLYLOOM_NETWORK         the network: family:key=value,... or a file
 * FLYLOOM_HOST_ENDPOINTS  a file with lines HOST ENDPOINT, where names differ; none
 * FLYLOOM_OBJECTIVE       congestion or hops; congestion
 * FLYLOOM_EFFORT          fast, normal or best; normal
 * FLYLOOM_SEED            of all that is random; 0
 * FLYLOOM_VERBOSE         1: a line about each communicator
 * FLYLOOM_MAP_LIBRARY     the core for C; libflyloom_map.so beside this library
 */
#define _GNU_SOURCE
#include "reorder.h"

#include "map.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIBRARY "libflyloom_map.so"
#define MOST_TEXT (1L << 31) /* bytes of a file */

enum { WORDS = 2048 };

static flyloom_map_type *map;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

void reo_keep(const char *why, ...) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&told)) return;
    char words[WORDS];
    va_list more;
    va_start(more, why);
    vsnprintf(words, sizeof words, why, more);
    va_end(more);
    fprintf(stderr, "flyloom: reorder: ranks stay as they are: %s\n", words);
}

/* A variable of the environment; NULL where it is not set, or to nothing. */
static const char *told(const char *name) {
    const char *text = getenv(name);
    return text != NULL && text[0] != 0 ? text : NULL;
}

/* Where the core lies: beside this library. */
static int beside(char *path, size_t room) {
    Dl_info here;
    if (dladdr((void *)&map, &here) == 0 || here.dli_fname == NULL) return -1;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash != NULL ? (int)(slash - here.dli_fname) + 1 : 0;
    int length = snprintf(path, room, "%.*s%s", folder, here.dli_fname, LIBRARY);
    return length >= 0 && (size_t)length < room ? 0 : -1;
}

static flyloom_map_type *loaded(const char *path) {
    void *core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (core == NULL) {
        reo_keep("%s", dlerror());
        return NULL;
    }
    flyloom_map_interface_type *interface;
    flyloom_map_type *found;
    *(void **)&interface = dlsym(core, "flyloom_map_interface");
    *(void **)&found = dlsym(core, "flyloom_map");
    if (interface == NULL || found == NULL || interface() != FLYLOOM_MAP_INTERFACE) {
        reo_keep("%s is of another version; `flyloom reorder --library` builds both anew", path);
        dlclose(core);
        return NULL;
    }
    return found;
}

/* The core's function, loaded once; NULL where it cannot be. */
static flyloom_map_type *core(void) {
    char path[4096];
    pthread_mutex_lock(&loading);
    if (map == NULL) {
        const char *given = told("FLYLOOM_MAP_LIBRARY");
        if (given != NULL)
            map = loaded(given);
        else if (beside(path, sizeof path) == 0)
            map = loaded(path);
        else
            reo_keep("the folder of this library is not known; FLYLOOM_MAP_LIBRARY names " LIBRARY);
    }
    flyloom_map_type *found = map;
    pthread_mutex_unlock(&loading);
    return found;
}

int reo_can_map(void) {
    if (told("FLYLOOM_NETWORK") == NULL) {
        reo_keep("there is no network; FLYLOOM_NETWORK names a file, or family:key=value,...");
        return 0;
    }
    return core() != NULL;
}

/* A file as text that the caller frees; NULL where it cannot be read, with the reason said. */
static char *text_of(const char *name) {
    struct stat about;
    FILE *file = fopen(name, "rb");
    char *text = NULL;
    size_t length = 0;
    int why = 0;
    if (file == NULL || fstat(fileno(file), &about) != 0)
        why = errno;
    else if (!S_ISREG(about.st_mode))
        why = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    else if (about.st_size >= MOST_TEXT)
        why = EFBIG;
    else if ((text = malloc((size_t)about.st_size + 1)) == NULL)
        why = ENOMEM;
    else {
        length = fread(text, 1, (size_t)about.st_size, file);
        if (ferror(file)) why = EIO;
        text[length] = 0;
    }
    if (file != NULL) fclose(file);
    if (why == 0 && memchr(text, 0, length) != NULL) {
        reo_keep("%s: is no text; a text file, not packed", name);
        free(text);
        return NULL;
    }
    if (why != 0) {
        reo_keep("%s: cannot be read: %s", name, strerror(why));
        free(text);
        return NULL;
    }
    return text;
}

/* Bytes of memory that are free; 0 where that is not known. */
static uint64_t memory(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256];
    unsigned long long kilobytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1) break;
    if (file != NULL) fclose(file);
    return 1024 * (uint64_t)kilobytes;
}

/* Whether a network is named that is no file: then it is of a family. */
static int is_inline(const char *network) {
    struct stat about;
    return stat(network, &about) != 0 && strchr(network, '/') == NULL;
}

int reo_map(const struct edge *edges, size_t count, const char *hosts, int size, int *ranks) {
    flyloom_map_type *mapper = core();
    const char *network = told("FLYLOOM_NETWORK"), *table = told("FLYLOOM_HOST_ENDPOINTS");
    if (mapper == NULL || network == NULL) return 0;
    char said[WORDS] = "", *network_text = NULL, *table_text = NULL;
    int code = 0;
    if (!is_inline(network) && (network_text = text_of(network)) == NULL) return 0;
    if (table == NULL || (table_text = text_of(table)) != NULL) {
        struct flyloom_map_request request = {
            .network = network, .network_text = network_text,
            .table = table, .table_text = table_text,
            .objective = told("FLYLOOM_OBJECTIVE"), .effort = told("FLYLOOM_EFFORT"),
            .seed = told("FLYLOOM_SEED"), .hosts = hosts, .host_bytes = HOST_BYTES,
            .processes = size, .edges = (const int *)edges, .edge_count = count,
            .memory = memory(),
        };
        code = mapper(&request, ranks, said, sizeof said);
        const char *verbose = told("FLYLOOM_VERBOSE");
        if (code < 0)
            reo_keep("%s", said);
        else if (verbose != NULL && strcmp(verbose, "0") != 0)
            fprintf(stderr, "flyloom: reorder: %s\n", said);
    }
    free(network_text);
    free(table_text);
    return code == 1;
}
