/* Preloaded into a process: the k-th call that changes the file system fails, or kills it.
 *
 * Counted: opening a file to create it, writing into a regular file, rename, link, mkdir and the
 * syncs, whoever makes the call. faults_arm(k, error) starts to count at 1; with error 0 the
 * process is killed in place of the call. A write that fails has written half. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int armed, wanted, how;
static int count;

void faults_arm(int k, int error) {
    wanted = k, how = error, count = 0, armed = 1;
}

int faults_count(void) {
    armed = 0;
    return count;
}

/* Whether this call is the one that fails. */
static int strikes(void) {
    if (!armed || __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) != wanted)
        return 0;
    if (how == 0)
        kill(getpid(), SIGKILL);
    errno = how;
    return 1;
}

static int regular(int fd) {
    struct stat found;
    return armed && fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t length) {
    if (regular(fd) && strikes()) {
        if (REAL(write)(fd, data, length / 2) < 0)
            return -1;
        errno = how;
        return -1;
    }
    return REAL(write)(fd, data, length);
}

int rename(const char *from, const char *to) {
    return strikes() ? -1 : REAL(rename)(from, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
    return strikes() ? -1 : REAL(renameat)(from_dir, from, to_dir, to);
}

int link(const char *from, const char *to) {
    return strikes() ? -1 : REAL(link)(from, to);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
    return strikes() ? -1 : REAL(linkat)(from_dir, from, to_dir, to, flags);
}

int mkdir(const char *path, mode_t mode) {
    return strikes() ? -1 : REAL(mkdir)(path, mode);
}

int fsync(int fd) {
    return strikes() ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd) {
    return strikes() ? -1 : REAL(fdatasync)(fd);
}

#define OPEN(name, ...)                                                                            \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                         \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
        if (strikes())                                                                             \
            return -1;                                                                             \
    }                                                                                              \
    return REAL(name)(__VA_ARGS__, flags, mode)

int open(const char *path, int flags, ...) { OPEN(open, path); }
int open64(const char *path, int flags, ...) { OPEN(open64, path); }
int openat(int folder, const char *path, int flags, ...) { OPEN(openat, folder, path); }
int openat64(int folder, const char *path, int flags, ...) { OPEN(openat64, folder, path); }
