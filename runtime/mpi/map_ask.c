/* Asks the core for a mapping: reads the environment, and loads the core's library.
 *
 * FLYLOOM_NETWORK         the network: family:key=value,... or a file
 * FLYLOOM_HOST_ENDPOINTS  a file with lines HOST ENDPOINT, where names differ; none
 * FLYLOOM_OBJECTIVE       congestion or hops; congestion
 * FLYLOOM_EFFORT          fast, normal or best; normal
 * FLYLOOM_SEED            of all that is random; 0
 * FLYLOOM_MAP_LIBRARY     the core for C; default: libflyloom_map.so beside this library
 *
 * Nothing is printed; an error goes into `said`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "map_ask.h"

#include "map.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIBRARY "libflyloom_map.so"
#define MOST_TEXT (1L << 31) /* bytes of a file */

static flyloom_map_type *map;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* A buffer for a message about the result. */
struct message_buffer {
    char *text;
    size_t room;
};

/* A variable of the environment; NULL where it is not set, or is empty. */
static const char *setting(const char *name) {
    const char *text = getenv(name);
    return text != NULL && text[0] != 0 ? text : NULL;
}

/* The path of the core, which is beside this library. */
static int beside(char *path, size_t room) {
    Dl_info here;
    if (dladdr((void *)&map, &here) == 0 || here.dli_fname == NULL) return -1;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash != NULL ? (int)(slash - here.dli_fname) + 1 : 0;
    int length = snprintf(path, room, "%.*s%s", folder, here.dli_fname, LIBRARY);
    return length >= 0 && (size_t)length < room ? 0 : -1;
}

static flyloom_map_type *loaded(const char *path, const struct message_buffer *said) {
    void *core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (core == NULL) {
        snprintf(said->text, said->room, "%s", dlerror());
        return NULL;
    }
    flyloom_map_interface_type *interface;
    flyloom_map_type *found;
    *(void **)&interface = dlsym(core, "flyloom_map_interface");
    *(void **)&found = dlsym(core, "flyloom_map");
    if (interface == NULL || found == NULL || interface() != FLYLOOM_MAP_INTERFACE) {
        snprintf(said->text, said->room,
                 "%s is of another version; `flyloom reorder --library` builds it anew", path);
        dlclose(core);
        return NULL;
    }
    return found;
}

/* The core's function, loaded once; NULL where it cannot be. */
static flyloom_map_type *core(const struct message_buffer *said) {
    char path[4096];
    pthread_mutex_lock(&loading);
    if (map == NULL) {
        const char *given = setting("FLYLOOM_MAP_LIBRARY");
        if (given != NULL)
            map = loaded(given, said);
        else if (beside(path, sizeof path) == 0)
            map = loaded(path, said);
        else
            snprintf(said->text, said->room, "the folder of this library is not known; "
                     "FLYLOOM_MAP_LIBRARY names " LIBRARY);
    }
    flyloom_map_type *found = map;
    pthread_mutex_unlock(&loading);
    return found;
}

/* A file as text that the caller frees; NULL where it cannot be read, with the reason said. */
static char *text_of(const char *name, const struct message_buffer *said) {
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
        snprintf(said->text, said->room, "%s: is no text; a text file, not packed", name);
        free(text);
        return NULL;
    }
    if (why != 0) {
        snprintf(said->text, said->room, "%s: cannot be read: %s", name, strerror(why));
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

int map_can(char *text, size_t room) {
    struct message_buffer said = {text, room};
    if (setting("FLYLOOM_NETWORK") == NULL) {
        snprintf(text, room,
                 "there is no network; FLYLOOM_NETWORK names a file, or family:key=value,...");
        return 0;
    }
    return core(&said) != NULL;
}

int map_ask(const struct mapping_request *asked, int *ranks, char *text, size_t room) {
    struct message_buffer said = {text, room};
    const char *network = setting("FLYLOOM_NETWORK"), *table = setting("FLYLOOM_HOST_ENDPOINTS");
    char *network_text = NULL, *table_text = NULL;
    int code = -1;
    text[0] = 0;
    if (!map_can(text, room)) return -1;
    if (!is_inline(network) && (network_text = text_of(network, &said)) == NULL) return -1;
    if (table == NULL || (table_text = text_of(table, &said)) != NULL) {
        struct flyloom_map_request request = {
            .network = network, .network_text = network_text,
            .table = table, .table_text = table_text,
            .objective = setting("FLYLOOM_OBJECTIVE"), .effort = setting("FLYLOOM_EFFORT"),
            .seed = setting("FLYLOOM_SEED"), .hosts = asked->hosts, .host_bytes = asked->host_bytes,
            .processes = asked->size, .edges = asked->edges, .edge_count = asked->count,
            .memory = memory(),
        };
        code = core(&said)(&request, ranks, text, room);
    }
    free(network_text);
    free(table_text);
    return code;
}
