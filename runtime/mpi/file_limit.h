/* Lets a write fail with EFBIG where the size of files is limited (ulimit -f), instead of the
 * kernel ending the program by SIGXFSZ. This holds for the calling thread, between begin and end;
 * the program's own handling of the signal stays.
 */
#ifndef FLYLOOM_FILE_LIMIT_H
#define FLYLOOM_FILE_LIMIT_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

struct file_limit {
    sigset_t before;
    int pending; /* the signal was pending before the begin */
};

static inline sigset_t file_limit_signal(void) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    return one;
}

static inline void file_limit_begin(struct file_limit *limit) {
    sigset_t one = file_limit_signal(), pending;
    sigpending(&pending);
    limit->pending = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &one, &limit->before);
}

/* Whether a write was refused because of the limit. errno stays as it is. */
static inline int file_limit_end(struct file_limit *limit) {
    sigset_t one = file_limit_signal();
    struct timespec now = {0, 0};
    int failed = errno, came = -1;
    while (!limit->pending && (came = sigtimedwait(&one, NULL, &now)) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
    errno = failed;
    return came > 0;
}

/* What an errno of a file says, with the limit that can be raised. */
static inline const char *file_limit_why(int failed) {
    if (failed == EFBIG) return "larger than the limit on the size of files (ulimit -f)";
    if (failed == EMFILE) return "no more files may be open in this process (ulimit -n)";
    return strerror(failed);
}

#endif
