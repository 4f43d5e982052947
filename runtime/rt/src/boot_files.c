/* Bootstrap by files in a folder that all processes see.
 *
 * What rank r gives in round n is the file n.r, written aside and renamed, so that it is complete
 * once it is there; it begins with the number of ranks. A rank removes its file of round n after
 * round n + 1, when all have read it. The file alive.r is locked as long as its rank lives; it is
 * created and locked under another name, so it is never seen without its lock. If the lock is free,
 * the rank has died. Whoever checks only queries the kernel and takes no lock, so that a check
 * never hinders a rank that is starting.
 * Ranks also exchange the secrets here by which they recognise each other. So only the user can
 * read the files, no file is opened through a link, and files of another user are ignored.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../mpi/file_limit.h"
#include "boot_files.h"
#include "error.h"
#include "progress.h"
#include "record_report.h"
#include "settings.h"

static const uint32_t CLOSING_MS = 1000;
enum { PATH = 512, OTHERS = 8 /* checked at a time */, WHY = 400 };

struct files {
    char folder[PATH - 64];
    int rank, size, alive;
    uid_t owner; /* who owns this rank's files, and so must own all */
    unsigned round;
    uint32_t timeout_ms;
    bool failed; /* a gathering failed with `code`, for the reason in `why` */
    bool alone;  /* only this rank knows of the failure */
    int most;    /* the largest number of ranks that any rank was started with */
    int code;
    char why[WHY];
};

struct head { /* begins the file of a round */
    uint32_t size, bytes; /* number of ranks, and of the bytes that follow */
};

/* What a rank checks while it waits for another: which rank looks dead (-1: none), which is
   next. */
struct death_watch {
    int suspect, next;
};

static void name_of(const struct files *files, const char *kind, unsigned round, int rank,
                    char path[PATH]) {
    snprintf(path, PATH, "%s/flyloom.%s%u.%d", files->folder, kind, round, rank);
}

static bool write_whole(int file, const void *what, size_t bytes) {
    const char *from = what;
    while (bytes != 0) {
        ssize_t wrote = write(file, from, bytes);
        if (wrote <= 0) return false;
        from += wrote;
        bytes -= (size_t)wrote;
    }
    return true;
}

/* Writes this rank's file of a round; 0, or errno. */
static int write_round(const struct files *files, const void *mine, size_t bytes) {
    char aside[PATH], path[PATH];
    name_of(files, "new", files->round, files->rank, aside);
    name_of(files, "", files->round, files->rank, path);
    unlink(aside); /* left by an earlier program */
    int file = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    struct head head = {(uint32_t)files->size, (uint32_t)bytes};
    struct file_limit limit;
    int failed = 0;
    file_limit_begin(&limit);
    errno = EIO;
    if (!write_whole(file, &head, sizeof head) || !write_whole(file, mine, bytes)) failed = errno;
    file_limit_end(&limit);
    if (close(file) != 0 && failed == 0) failed = errno;
    if (failed == 0 && rename(aside, path) != 0) failed = errno;
    if (failed != 0) unlink(aside);
    return failed;
}

/* Opens a regular file that belongs to this rank's user; -1 and errno, as open. */
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

/* A lock of the whole file that belongs to the open file description, not to the process. */
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
    /* All made their file before round 1: if it is missing now, its rank left early. */
    if (file < 0) return files->round > 0 && errno == ENOENT;
    bool died = !is_locked(file);
    close(file);
    return died;
}

static int fail(struct files *files, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(struct files *files, int code, const char *format, ...) {
    va_list words;
    va_start(words, format);
    vsnprintf(files->why, sizeof files->why, format, words);
    va_end(words);
    return files->code = code;
}

/* Fails because a file of the folder cannot be written or read. */
static int fail_at(struct files *files, const char *what, int why) {
    bool short_of = why == EMFILE || why == ENFILE || why == ENOMEM || why == EFBIG ||
                    why == ENOSPC || why == EDQUOT;
    files->alone = true;
    return fail(files, short_of ? FLY_ERR_NOMEM : FLY_ERR_ARG, "%s: %s: %s", files->folder, what,
                file_limit_why(why));
}

static bool read_whole(int file, void *to, size_t bytes) {
    char *at = to;
    ssize_t got = 1;
    while (bytes != 0 && (got = read(file, at, bytes)) > 0) {
        at += got;
        bytes -= (size_t)got;
    }
    return bytes == 0;
}

/* Reads what a rank wrote, and compares the number of ranks that it was started with. */
static int take_round(struct files *files, int rank, int file, void *to, size_t bytes) {
    struct head head;
    char extra;
    if (!read_whole(file, &head, sizeof head))
        return fail(files, FLY_ERR_ARG, "%s: what rank %d wrote is not of this library",
                    files->folder, rank);
    if (head.size > (uint32_t)files->most && head.size <= INT32_MAX) files->most = (int)head.size;
    if (head.size != (uint32_t)files->size)
        return fail(files, FLY_ERR_ARG, "the sizes differ: rank %d is one of %u ranks, rank %d one "
                    "of %d", rank, head.size, files->rank, files->size);
    if (head.bytes != bytes || !read_whole(file, to, bytes) || read(file, &extra, 1) != 0)
        return fail(files, FLY_ERR_ARG, "%s: rank %d gathers %u bytes, rank %d %zu: they are not "
                    "in the same call, or of another version of the library", files->folder, rank,
                    head.bytes, files->rank, bytes);
    return FLY_OK;
}

/* Reads a rank's file of this round. FLY_OK: read; FLY_NOTHING: not there yet; or an error. */
static int read_round(struct files *files, int rank, void *to, size_t bytes) {
    char path[PATH];
    name_of(files, "", files->round, rank, path);
    int file = open_own(files, path);
    if (file < 0) return errno == ENOENT ? FLY_NOTHING : fail_at(files, path, errno);
    if (files->round == 0 && rank != files->rank && has_died(files, rank)) {
        close(file); /* left by an earlier program, which was killed */
        return FLY_NOTHING;
    }
    int code = take_round(files, rank, file, to, bytes);
    close(file);
    return code;
}

/* FLY_ERR_PEER if a rank has died, the error with which it left, or FLY_OK if it lives. */
static int ended(const struct files *files, int rank) {
    char path[PATH];
    for (int code = FLY_OK + 1; code <= FLY_ERR_UNSUPPORTED; code++) {
        name_of(files, "gone", (unsigned)code, rank, path);
        if (access(path, F_OK) == 0) return code;
    }
    return has_died(files, rank) ? FLY_ERR_PEER : FLY_OK;
}

/* Whether a rank has ended while this one waits for `awaited`. That one may itself have left
   because of another's end, so some of the others are checked in turn. Only two consecutive
   findings count: files of a program that was killed here look like a death until its rank of this
   program comes. */
static int some_ended(const struct files *files, int awaited, struct death_watch *watch) {
    int code = watch->suspect < 0 ? FLY_OK : ended(files, watch->suspect);
    if (code != FLY_OK) return code;
    watch->suspect = ended(files, awaited) != FLY_OK ? awaited : -1;
    for (int i = 0; i < OTHERS && i < files->size && watch->suspect < 0; i++) {
        int rank = watch->next++ % files->size;
        if (rank != files->rank && ended(files, rank) != FLY_OK) watch->suspect = rank;
    }
    return FLY_OK;
}

static bool has_come(const struct files *files, int rank) {
    char path[PATH];
    name_of(files, "", files->round, rank, path);
    return access(path, F_OK) == 0 && (files->round > 0 || !has_died(files, rank));
}

/* Lists the missing ranks as "2, 5 to 7", as far as there is room; returns how many they are. */
static int name_missing(const struct files *files, char *text, size_t room) {
    int missing = 0;
    size_t used = 0;
    bool cut = false;
    text[0] = 0;
    for (int rank = 0, end; rank < files->size; rank = end + 1) {
        char run[64];
        for (end = rank; end < files->size && !has_come(files, end); end++) continue;
        if (end == rank) continue;
        missing += end - rank;
        snprintf(run, sizeof run, end - rank > 1 ? "%s%d to %d" : "%s%d", used == 0 ? "" : ", ",
                 rank, end - 1);
        if (cut) continue;
        cut = used + strlen(run) + sizeof ", ..." > room;
        used += (size_t)snprintf(text + used, room - used, "%s", cut ? ", ..." : run);
    }
    return missing;
}

static int fail_late(struct files *files) {
    char which[WHY / 2];
    int missing = name_missing(files, which, sizeof which);
    return fail(files, FLY_ERR_TIMEOUT, "%d of %d ranks have not %s in %u ms "
                "(FLYLOOM_START_TIMEOUT_MS): rank%s %s; the folder is %.100s", missing, files->size,
                files->round == 0 ? "come" : "gone on", files->timeout_ms, missing == 1 ? "" : "s",
                which, files->folder);
}

static int gather_round(struct files *files, const void *mine, void *all, size_t bytes) {
    uint64_t began = fly_now_ns();
    char path[PATH];
    int failed = write_round(files, mine, bytes);
    if (failed != 0) return fail_at(files, "cannot be written to", failed);
    for (int rank = 0; rank < files->size; rank++) {
        struct death_watch watch = {.suspect = -1};
        unsigned waited = 0;
        int got;
        while ((got = read_round(files, rank, (char *)all + (size_t)rank * bytes, bytes)) ==
               FLY_NOTHING) {
            struct timespec nap = {0, waited < 100 ? 200000 : 2000000};
            nanosleep(&nap, NULL);
            int why = ++waited % 50 == 0 ? some_ended(files, rank, &watch) : FLY_OK;
            if (why == FLY_ERR_PEER)
                return fail(files, why, "rank %d has died", watch.suspect);
            if (why != FLY_OK)
                return fail(files, why, "rank %d could not go on: %s", watch.suspect,
                            fly_strerror(why));
            if (files->timeout_ms != 0 &&
                fly_now_ns() - began > (uint64_t)files->timeout_ms * 1000000)
                return fail_late(files);
        }
        if (got != FLY_OK) return got;
    }
    if (files->round > 0) {
        name_of(files, "", files->round - 1, files->rank, path);
        unlink(path);
    }
    files->round++;
    return FLY_OK;
}

/* Announces why this rank leaves to those who would wait for it; renaming needs no new file. */
static void leave_word(const struct files *files) {
    char alive[PATH], gone[PATH];
    name_of(files, "alive", 0, files->rank, alive);
    name_of(files, "gone", (unsigned)files->code, files->rank, gone);
    rename(alive, gone);
}

static int gather(void *ctx, const void *mine, void *all, size_t bytes) {
    struct files *files = ctx;
    int code = gather_round(files, mine, all, bytes);
    if (code != FLY_OK && files->alone) leave_word(files);
    files->failed = files->failed || code != FLY_OK;
    return code;
}

int fly_boot_gather(const fly_boot *boot, const char *what, const void *mine, void *all,
                    size_t bytes) {
    uint64_t start_ns = fly_report_hush();
    int failed = boot->allgather(boot->ctx, mine, all, bytes);
    fly_report_speak(start_ns);
    if (failed == 0) return FLY_OK;
    if (boot->allgather == gather)
        return fly_fail(failed, "%s: %s", what, ((const struct files *)boot->ctx)->why);
    return fly_fail(FLY_ERR_PEER, "%s: boot: the host could not gather over all ranks (%d)", what,
                    failed);
}

static int refuse_folder(const struct files *files) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOSPC)
        return fly_fail(FLY_ERR_NOMEM, "fly_boot_files: folder: %s: %s", files->folder,
                        file_limit_why(errno));
    return fly_fail(FLY_ERR_ARG, "fly_boot_files: folder: %s: %s; it must be a folder that "
                    "can be written to", files->folder, strerror(errno));
}

static int refuse_rank(const struct files *files) {
    return fly_fail(FLY_ERR_ARG, "fly_boot_files: rank: %d is taken in %s", files->rank,
                    files->folder);
}

/* Opens and locks this rank's file under the name of ranks that are starting. 1: locked; 0: another
   process of the same rank has just renamed or removed it; -1 and errno, EAGAIN if that has it. */
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
        errno = EAGAIN; /* POSIX allows both where another has the lock */
    }
    int why = errno;
    close(files->alive);
    errno = why;
    return why == 0 ? 0 : -1;
}

/* Removes files that this rank of a killed program has left; others would take them for current.
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

static void remove_word(const struct files *files, int rank) {
    char path[PATH];
    for (int code = FLY_OK + 1; code <= FLY_ERR_UNSUPPORTED; code++) {
        name_of(files, "gone", (unsigned)code, rank, path);
        unlink(path);
    }
}

/* Renames the locked file to alive.r, unless a process of this rank lives. */
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
    remove_word(files, files->rank);
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

int fly_boot_files(const char *folder, int rank, int size, fly_boot *boot) {
    if (folder == NULL || boot == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_boot_files: folder or boot is NULL");
    if (size < 1 || rank < 0 || rank >= size)
        return fly_fail(FLY_ERR_ARG, "fly_boot_files: rank: %d of %d must be 0 to size - 1", rank,
                        size);
    struct files *files = calloc(1, sizeof *files);
    if (files == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_boot_files: no memory");
    files->rank = rank;
    files->size = files->most = size;
    int code = fly_settings_start(&files->timeout_ms);
    if (code == FLY_OK && strlen(folder) >= sizeof files->folder)
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

/* Runs one more round, because others may still read the files of the last one. Nobody reads this
   round's, so for some ranks it ends because an alive.r has gone; it has a short time limit. */
static void meet_once_more(struct files *files) {
    char mine = 0, *all = malloc((size_t)files->size);
    files->timeout_ms = CLOSING_MS;
    if (all != NULL) gather_round(files, &mine, all, sizeof mine);
    free(all);
}

static void remove_alive(const struct files *files, int rank) {
    char path[PATH];
    name_of(files, "alive", 0, rank, path);
    unlink(path);
}

static void remove_of(const struct files *files, int rank) {
    char path[PATH];
    for (unsigned round = 0; round <= files->round; round++) {
        name_of(files, "", round, rank, path);
        unlink(path);
        name_of(files, "new", round, rank, path);
        unlink(path);
    }
    remove_alive(files, rank);
}

/* Whether another rank has started and lives. */
static bool some_live(const struct files *files) {
    for (int rank = 0; rank < files->size; rank++) {
        char path[PATH];
        name_of(files, "alive", 0, rank, path);
        if (rank != files->rank && access(path, F_OK) == 0 && !has_died(files, rank)) return true;
    }
    return false;
}

/* Whether all ranks have started that must learn from this one why it leaves. */
static bool all_came(const struct files *files) {
    char path[PATH];
    if (!files->alone && files->code != FLY_ERR_ARG) return true;
    for (int rank = 0; rank < files->most; rank++) {
        name_of(files, "alive", 0, rank, path);
        if (rank != files->rank && access(path, F_OK) != 0 && ended(files, rank) == FLY_OK &&
            !has_come(files, rank))
            return false;
    }
    return true;
}

/* Removes also what dead ranks left (their lock is free). If the gathering failed, others may still
   be in round 0 and learn of it only by this rank's file: it stays until they have left as well,
   but not for long. */
void fly_boot_files_free(fly_boot *boot) {
    if (boot == NULL || boot->ctx == NULL) return;
    struct files *files = boot->ctx;
    if (!files->failed) meet_once_more(files);
    /* The file of round 0 shows ranks that were started with another size that the sizes differ. */
    if (files->failed && files->round == 0)
        remove_alive(files, files->rank);
    else
        remove_of(files, files->rank);
    uint64_t until = fly_now_ns() + (uint64_t)CLOSING_MS * 1000000;
    while (files->failed && (some_live(files) || !all_came(files)) && fly_now_ns() < until) {
        struct timespec nap = {0, 2000000};
        nanosleep(&nap, NULL);
    }
    bool others = files->failed && some_live(files); /* the last of them removes the word */
    for (int rank = 0; rank < files->size; rank++) {
        bool ends = rank == files->rank || ended(files, rank) != FLY_OK;
        if (ends) remove_of(files, rank);
        if (ends && !others) remove_word(files, rank);
    }
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

int fly_boot_environment(fly_boot *boot) {
    int rank, size;
    int code = whole_number("FLYLOOM_RANK", &rank);
    if (code == FLY_OK) code = whole_number("FLYLOOM_SIZE", &size);
    const char *folder = getenv("FLYLOOM_BOOT");
    if (code == FLY_OK && folder == NULL)
        code = fly_fail(FLY_ERR_ARG, "fly_init: boot is NULL and FLYLOOM_BOOT is not set; it "
                        "must be a folder that all processes see");
    return code == FLY_OK ? fly_boot_files(folder, rank, size, boot) : code;
}
