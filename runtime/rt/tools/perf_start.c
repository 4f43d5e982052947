/* Starts the processes that are measured, each with a bootstrap, and waits for them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf.h"

enum { PATH_BYTES = 512 };

void *perf_shared(const char *program, size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) return memory;
    fprintf(stderr, "%s: no memory\n", program);
    return NULL;
}

/* Makes a folder for a bootstrap's files, in TMPDIR or /tmp; false: an error was printed. */
static bool new_folder(const char *program, char path[PATH_BYTES]) {
    const char *place = getenv("TMPDIR");
    if (place == NULL) place = "/tmp";
    int length = snprintf(path, PATH_BYTES, "%s/%s-XXXXXX", place, program);
    if (length < PATH_BYTES && mkdtemp(path) != NULL) return true;
    fprintf(stderr, "%s: no folder can be made in %s\n", program, place);
    return false;
}

/* Removes what killed processes have left in the folder. */
static void empty(const char *folder) {
    DIR *all = opendir(folder);
    char path[800];
    for (struct dirent *one; all != NULL && (one = readdir(all)) != NULL;) {
        if (one->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        unlink(path);
    }
    if (all != NULL) closedir(all);
}

static int as_rank(const char *folder, int rank, int ranks, perf_body *body, void *context) {
    fly_boot boot;
    if (fly_boot_files(folder, rank, ranks, &boot) != FLY_OK) {
        fprintf(stderr, "%s\n", fly_last_error(NULL));
        return 3;
    }
    int code = body(&boot, context);
    fly_boot_files_free(&boot);
    fflush(stdout);
    return code;
}

int perf_start(const char *program, int ranks, unsigned limit_s, perf_body *body, void *context) {
    char folder[PATH_BYTES];
    int result = 0, started = 0;
    if (!new_folder(program, folder)) return 3;
    fflush(NULL);
    for (; started < ranks; started++) {
        pid_t child = fork();
        if (child < 0) break;
        if (child != 0) continue;
        alarm(limit_s);
        _exit(as_rank(folder, started, ranks, body, context));
    }
    if (started < ranks) {
        fprintf(stderr, "%s: only %d of %d processes can be made\n", program, started, ranks);
        result = 3;
    }
    for (int r = 0, status; r < started; r++) {
        if (wait(&status) < 0 || status == 0) continue;
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
        if (code > result) result = code;
    }
    empty(folder);
    rmdir(folder);
    return result;
}
