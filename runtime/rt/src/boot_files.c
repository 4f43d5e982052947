/* Bootstrap by files in a folder that all processes see.
 *
 * Round n of rank r is the file n.r, written aside and renamed, so that it is whole when it is
 * there. A rank removes its file of round n after round n + 1: then all have read it. The file
 * alive.r is locked as long as its rank lives: made and locked under another name, it is never seen
 * without its lock. One that could be locked is of a rank that has died; who looks asks the kernel
 * and locks nothing, so that no look is in the way of a rank that comes.
 * What ranks tell each other here are also the secrets by which they know each other: files can be
 * read by their user alone, are never opened through a link, and those of another user are none.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "core.h"

static const uint32_t PATIENCE_MS = 60000, CLOSING_MS = 1000;
enum { PATH = 512, OTHERS = 8 /* looked at, at a time */ };

struct files {
    char folder[PATH - 64];
    int rank, size, alive;
    uid_t owner; /* of this rank's files, and so of all */
    unsigned round;
    uint32_t timeout_ms;
    bool failed; /* not all could be gathered over */
};

/* Of a rank that waits for another: who looks dead, -1 none; who of the others is next. */
struct looks {
    int suspect, next;
};

static void name_of(const struct files *files, const char *kind, unsigned round, int rank,
                    char path[PATH]) {
    snprintf(path, PATH, "%s/flyloom.%s%u.%d", files->folder, kind, round, rank);
}

static int write_round(const struct files *files, const void *mine, size_t bytes) {
    char aside[PATH], path[PATH];
    name_of(files, "new", files->round, files->rank, aside);
    name_of(files, "", files->round, files->rank, path);
    unlink(aside); /* of an earlier program */
    int file = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    const char *from = mine;
    size_t left = bytes;
    while (left != 0) {
        ssize_t wrote = write(file, from, left);
        if (wrote <= 0) break;
        from += wrote;
        left -= (size_t)wrote;
    }
    int failed = close(file);
    if (left != 0 || failed != 0 || rename(aside, path) != 0) {
        unlink(aside);
        return -1;
    }
    return 0;
}

/* A regular file of this rank's user; -1 and errno, as open. */
static int open_own(const struct files *files, const char *path) {
    struct stat found;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return -1;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == files->owner)
        return file;
    close(file);
    errno = EPERM;
    return -1;
}

/* A lock of the whole file that belongs to the opened file, not to the process. */
static struct flock whole_file(void) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static bool is_locked(int file) {
    struct flock lock = whole_file();
    return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static bool has_died(const struct files *files, int rank) {
    char path[PATH];
    name_of(files, "alive", 0, rank, path);
    int file = open_own(files, path);
    /* All have made theirs before round 1; who left early has taken it away. */
    if (file < 0) return files->round > 0 && errno == ENOENT;
    bool died = !is_locked(file);
    close(file);
    return died;
}

/* 1: read; 0: not there yet; -1: not of this size, or unreadable. */
static int read_round(const struct files *files, int rank, void *to, size_t bytes) {
    char path[PATH];
    name_of(files, "", files->round, rank, path);
    int file = open_own(files, path);
    if (file < 0) return errno == ENOENT ? 0 : -1;
    if (files->round == 0 && rank != files->rank && has_died(files, rank)) {
        close(file); /* of an earlier program, which was killed */
        return 0;
    }
    char *at = to, extra;
    size_t left = bytes;
    ssize_t got = 1;
    while (left != 0 && (got = read(file, at, left)) > 0) {
        at += got;
        left -= (size_t)got;
    }
    bool whole = left == 0 && read(file, &extra, 1) == 0;
    close(file);
    return whole ? 1 : -1;
}

/* Whether a rank has died while this one waits for `awaited`, which may itself have left because
   of that: some of the others are looked at, too, in turn. Only who looks dead twice in a row is:
   what a program that was killed left here looks so, until its rank of this program comes. */
static bool some_died(const struct files *files, int awaited, struct looks *looks) {
    if (looks->suspect >= 0 && has_died(files, looks->suspect)) return true;
    looks->suspect = has_died(files, awaited) ? awaited : -1;
    for (int i = 0; i < OTHERS && i < files->size && looks->suspect < 0; i++) {
        int rank = looks->next++ % files->size;
        if (rank != files->rank && has_died(files, rank)) looks->suspect = rank;
    }
    return false;
}

static int gather_round(struct files *files, const void *mine, void *all, size_t bytes) {
    uint64_t began = fly_now_ns();
    char path[PATH];
    if (write_round(files, mine, bytes) != 0) return 1;
    for (int rank = 0; rank < files->size; rank++) {
        struct looks looks = {.suspect = -1};
        unsigned waited = 0;
        int got;
        while ((got = read_round(files, rank, (char *)all + (size_t)rank * bytes, bytes)) == 0) {
            struct timespec nap = {0, waited < 100 ? 200000 : 2000000};
            nanosleep(&nap, NULL);
            if (++waited % 50 == 0 && some_died(files, rank, &looks)) return 2;
            if (fly_now_ns() - began > (uint64_t)files->timeout_ms * 1000000) return 3;
        }
        if (got < 0) return 4;
    }
    if (files->round > 0) {
        name_of(files, "", files->round - 1, files->rank, path);
        unlink(path);
    }
    files->round++;
    return 0;
}

static int gather(void *ctx, const void *mine, void *all, size_t bytes) {
    struct files *files = ctx;
    int code = gather_round(files, mine, all, bytes);
    files->failed = files->failed || code != 0;
    return code;
}

static int refuse_folder(const struct files *files) {
    return fly_fail(FLY_ERR_ARG, "fly_boot_files: folder: %s: %s; it must be a folder that "
                    "can be written to", files->folder, strerror(errno));
}

static int refuse_rank(const struct files *files) {
    return fly_fail(FLY_ERR_ARG, "fly_boot_files: rank: %d is taken in %s", files->rank,
                    files->folder);
}

/* The file of this rank under the name of those that come, locked: 1; 0: another process of the
   same rank has just renamed it, or removed it; -1, and errno: EAGAIN where that has the lock. */
static int lock_coming(struct files *files, const char *path) {
    struct stat opened, named;
    struct flock lock = whole_file();
    files->alive = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (files->alive < 0) return -1;
    if (fcntl(files->alive, F_OFD_SETLK, &lock) == 0 && fstat(files->alive, &opened) == 0) {
        files->owner = opened.st_uid;
        if (lstat(path, &named) == 0 && named.st_ino == opened.st_ino &&
            named.st_dev == opened.st_dev)
            return 1;
        errno = 0;
    } else if (errno == EACCES) {
        errno = EAGAIN; /* POSIX has both for a lock that another has */
    }
    int why = errno;
    close(files->alive);
    errno = why;
    return why == 0 ? 0 : -1;
}

/* What this rank of a program that was killed has left: others would take it for what is said now.
 */
static void remove_rounds(const struct files *files) {
    DIR *folder = opendir(files->folder);
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        unsigned round;
        int rank, end = 0;
        if (sscanf(entry->d_name, "flyloom.%u.%d%n", &round, &rank, &end) == 2 &&
            entry->d_name[end] == 0 && rank == files->rank)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

/* With the lock: the file takes its place, unless a process of this rank lives. */
static int take_place(const struct files *files, const char *coming) {
    char path[PATH];
    name_of(files, "alive", 0, files->rank, path);
    int earlier = open_own(files, path);
    if (earlier >= 0) {
        bool lives = is_locked(earlier);
        close(earlier);
        if (lives) return refuse_rank(files);
        remove_rounds(files);
    } else if (errno != ENOENT) {
        return refuse_folder(files);
    }
    return rename(coming, path) == 0 ? FLY_OK : refuse_folder(files);
}

static int hold_alive(struct files *files) {
    char coming[PATH];
    int locked;
    name_of(files, "coming", 0, files->rank, coming);
    while ((locked = lock_coming(files, coming)) == 0) continue;
    if (locked < 0) return errno == EAGAIN ? refuse_rank(files) : refuse_folder(files);
    int code = take_place(files, coming);
    if (code != FLY_OK) {
        unlink(coming);
        close(files->alive);
    }
    return code;
}

static int make(const char *folder, int rank, int size, uint32_t timeout_ms, fly_boot *boot) {
    if (folder == NULL || boot == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_boot_files: folder or boot is NULL");
    if (size < 1 || rank < 0 || rank >= size)
        return fly_fail(FLY_ERR_ARG, "fly_boot_files: rank: %d of %d must be 0 to size - 1", rank,
                        size);
    struct files *files = calloc(1, sizeof *files);
    if (files == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_boot_files: no memory");
    files->rank = rank;
    files->size = size;
    files->timeout_ms = timeout_ms == 0 ? PATIENCE_MS : timeout_ms;
    int code = FLY_OK;
    if (strlen(folder) >= sizeof files->folder)
        code = fly_fail(FLY_ERR_ARG, "fly_boot_files: folder: longer than %zu characters",
                        sizeof files->folder - 1);
    if (code == FLY_OK) {
        strcpy(files->folder, folder);
        code = hold_alive(files);
    }
    if (code != FLY_OK) {
        free(files);
        return code;
    }
    *boot = (fly_boot){.rank = rank, .size = size, .ctx = files, .allgather = gather};
    return FLY_OK;
}

int fly_boot_files(const char *folder, int rank, int size, fly_boot *boot) {
    return make(folder, rank, size, 0, boot);
}

/* Others may still read the last round, where all leave early: one more round says they have. They
   do not read that one, so it ends for some because an alive.r has gone; and it does not last. */
static void meet_once_more(struct files *files) {
    char mine = 0, *all = malloc((size_t)files->size);
    files->timeout_ms = CLOSING_MS;
    if (all != NULL) gather_round(files, &mine, all, sizeof mine);
    free(all);
}

static void remove_of(const struct files *files, int rank) {
    char path[PATH];
    for (unsigned round = 0; round <= files->round; round++) {
        name_of(files, "", round, rank, path);
        unlink(path);
        name_of(files, "new", round, rank, path);
        unlink(path);
    }
    name_of(files, "alive", 0, rank, path);
    unlink(path);
}

/* Whether another rank is there and lives. */
static bool some_live(const struct files *files) {
    for (int rank = 0; rank < files->size; rank++) {
        char path[PATH];
        name_of(files, "alive", 0, rank, path);
        if (rank != files->rank && access(path, F_OK) == 0 && !has_died(files, rank)) return true;
    }
    return false;
}

/* What the dead left goes too: their lock can be had. Where they could not be gathered over others
   may still be in round 0 and hear of it by that alone: it stays until they have left as well, but
   not for long. */
void fly_boot_files_free(fly_boot *boot) {
    if (boot == NULL || boot->ctx == NULL) return;
    struct files *files = boot->ctx;
    if (!files->failed) meet_once_more(files);
    remove_of(files, files->rank);
    uint64_t until = fly_now_ns() + (uint64_t)CLOSING_MS * 1000000;
    while (files->failed && some_live(files) && fly_now_ns() < until) {
        struct timespec nap = {0, 2000000};
        nanosleep(&nap, NULL);
    }
    for (int rank = 0; rank < files->size; rank++)
        if (rank != files->rank && has_died(files, rank)) remove_of(files, rank);
    close(files->alive);
    free(files);
    *boot = (fly_boot){0};
}

static int whole_number(const char *name, int *value) {
    const char *text = getenv(name);
    char *end;
    if (text == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_init: boot is NULL and %s is not set; set FLYLOOM_RANK, "
                        "FLYLOOM_SIZE and FLYLOOM_BOOT (a folder)", name);
    errno = 0;
    long read = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != 0 || errno != 0 || read > INT32_MAX)
        return fly_fail(FLY_ERR_ARG, "fly_init: %s: \"%s\" must be a whole number", name, text);
    *value = (int)read;
    return FLY_OK;
}

int fly_boot_environment(uint32_t timeout_ms, fly_boot *boot) {
    int rank, size;
    int code = whole_number("FLYLOOM_RANK", &rank);
    if (code == FLY_OK) code = whole_number("FLYLOOM_SIZE", &size);
    const char *folder = getenv("FLYLOOM_BOOT");
    if (code == FLY_OK && folder == NULL)
        code = fly_fail(FLY_ERR_ARG, "fly_init: boot is NULL and FLYLOOM_BOOT is not set; it "
                        "must be a folder that all processes see");
    return code == FLY_OK ? make(folder, rank, size, timeout_ms, boot) : code;
}
