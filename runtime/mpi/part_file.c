/* A file that is written under another name first: its name, who may remove it, how it ends. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "part_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME = 100, OLD_S = 24 * 3600 };
static const char FIRST[] = ".flyloom-", LAST[] = ".part";

static uint64_t fold(uint64_t hash, const char *text) { /* FNV-1a */
    for (; *text != 0; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

/* This host and PID namespace as a number; 0: unknown, and no process is looked for by it. */
static uint64_t place(void) {
    char host[256] = "", boot[64] = "", space[64] = "";
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, boot, sizeof boot - 1);
    if (file >= 0) close(file);
    if (got <= 0 || readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0 ||
        gethostname(host, sizeof host - 1) != 0)
        return 0;
    return fold(fold(fold(UINT64_C(14695981039346656037), host), boot), space);
}

/* Whether nobody will continue a part: its writer has ended; or it is on another host, and the part
   is a day old. */
static int is_left(int folder, const char *name, uint64_t here) {
    char random[17], where[NAME];
    int pid, end = 0;
    struct stat found;
    if (sscanf(name, ".flyloom-%16[0-9a-f]-%80[^.].%d.part%n", random, where, &pid, &end) != 3 ||
        end == 0 || name[end] != 0 || pid <= 0)
        return 0;
    char own[17];
    snprintf(own, sizeof own, "%016llx", (unsigned long long)here);
    if (here != 0 && strcmp(where, own) == 0) return kill(pid, 0) != 0 && errno == ESRCH;
    return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           time(NULL) - found.st_mtime > OLD_S;
}

static void remove_left(const char *path, uint64_t here) {
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strncmp(entry->d_name, FIRST, sizeof FIRST - 1) == 0 &&
            is_left(dirfd(folder), entry->d_name, here))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

int part_file_open(struct part_file *made, const char *path) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    uint64_t random, here = place();
    *made = (struct part_file){.path = path, .part = malloc(folder + NAME)};
    if (made->part == NULL) return ENOMEM;
    memcpy(made->part, path, folder);
    strcpy(made->part + folder, folder == 0 ? "." : "");
    remove_left(made->part, here);
    int file = -1, failed = EIO;
    if (getrandom(&random, sizeof random, 0) == sizeof random) {
        snprintf(made->part + folder, NAME, "%s%016llx-%016llx.%d%s", FIRST,
                 (unsigned long long)random, (unsigned long long)here, (int)getpid(), LAST);
        file = open(made->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        failed = errno;
    }
    if (file >= 0 && (made->file = fdopen(file, "w")) != NULL) {
        file_limit_begin(&made->limit);
        return 0;
    }
    if (file >= 0) {
        failed = errno;
        close(file);
        unlink(made->part);
    }
    free(made->part);
    return failed;
}

int part_file_end(struct part_file *made, int failed) {
    errno = 0;
    if ((fflush(made->file) != 0 || ferror(made->file) != 0) && failed == 0)
        failed = errno != 0 ? errno : EIO;
    /* Some file systems sync no files. */
    if (failed == 0 && fsync(fileno(made->file)) != 0 && errno != EINVAL && errno != ENOTSUP)
        failed = errno;
    if (fclose(made->file) != 0 && failed == 0) failed = errno;
    if (file_limit_end(&made->limit) && failed == EIO) failed = EFBIG;
    if (failed == 0 && rename(made->part, made->path) != 0) failed = errno;
    if (failed != 0) unlink(made->part);
    free(made->part);
    return failed;
}
