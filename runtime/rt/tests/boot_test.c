/* The bootstrap by files if ranks come late, come twice, or follow a killed program, or if another
 * user has written a rank's files.
 *
 *   boot_test late|twice|left|foreign
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "ranks.h"

enum { RANKS = 9, CLAIMS = 12, NOBODY = 65534 };

enum { LATE_MS = 300 };
/* Counts attempts to lock, in memory of all ranks; all but the first are delayed. NULL: none
   are. */
static atomic_int *asked;

static void delay(int ms) {
    struct timespec nap = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&nap, NULL);
}

static void put_off(void) {
    if (asked != NULL && atomic_fetch_add(asked, 1) > 0) delay(LATE_MS);
}

/* Replaces the C library's: whoever takes a lock waits first, so that others who look at the file
   meanwhile find it without a lock. */
int fcntl(int file, int command, ...) {
    va_list more;
    va_start(more, command);
    long word = va_arg(more, long);
    va_end(more);
    if (command == F_OFD_SETLK) put_off();
    return (int)syscall(SYS_fcntl, file, command, word);
}

int flock(int file, int operation) {
    if ((operation & LOCK_EX) != 0) put_off();
    return (int)syscall(SYS_flock, file, operation);
}

static int gather(const fly_boot *boot, int rounds) {
    for (int round = 0; round < rounds; round++) {
        int mine = 100 * round + boot->rank, all[RANKS];
        CHECK(boot->allgather(boot->ctx, &mine, all, sizeof mine) == 0, "rank %d: round %d",
              boot->rank, round);
        for (int r = 0; r < boot->size; r++)
            CHECK(all[r] == 100 * round + r, "rank %d: of rank %d in round %d: %d", boot->rank, r,
                  round, all[r]);
    }
    return 0;
}

static int gather_body(const fly_boot *boot, void *context) {
    (void)context;
    return gather(boot, 3);
}

/* Ranks are between creating their file and locking it while the first one looks for deaths. */
static void come_late(void) {
    asked = mmap(NULL, sizeof *asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(asked != MAP_FAILED, "no memory");
    CHECK(run_processes(RANKS, gather_body, NULL) == 0, "ranks that came late");
}

/* If many processes claim one rank, exactly one gets it, and keeps it until it leaves. */
static void come_twice(void) {
    char folder[FOLDER_BYTES];
    int ready[2], go[2], got = 0, left = 0;
    char one;
    fly_boot boot;
    CHECK(new_folder(folder) && pipe(ready) == 0 && pipe(go) == 0, "folder and pipes");
    for (int i = 0; i < CLAIMS; i++) {
        if (fork() != 0) continue;
        close(go[1]);
        int code = fly_boot_files(folder, 0, 1, &boot);
        one = code == FLY_OK ? 'y' : 'n';
        if (code != FLY_OK && strstr(fly_last_error(NULL), "is taken") == NULL) one = '?';
        if (write(ready[1], &one, 1) != 1 || read(go[0], &one, 1) != 0) _exit(1);
        if (code == FLY_OK) fly_boot_files_free(&boot);
        _exit(0);
    }
    for (int i = 0; i < CLAIMS; i++) {
        CHECK(read(ready[0], &one, 1) == 1 && one != '?', "another error");
        got += one == 'y';
    }
    CHECK(got == 1, "%d processes are rank 0", got);
    close(go[1]);
    for (int status; wait(&status) > 0;) left += status != 0;
    CHECK(left == 0, "%d failed", left);
    CHECK(fly_boot_files(folder, 0, 1, &boot) == FLY_OK, "%s", fly_last_error(NULL));
    fly_boot_files_free(&boot);
    CHECK(rmdir(folder) == 0, "%s is not empty", folder);
}

static void leave(const char *folder, const char *name, int word) {
    char path[FOLDER_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fwrite(&word, sizeof word, 1, file) == 1 && fclose(file) == 0, "%s",
          path);
}

/* Rank 1 of a killed program has left files of two rounds. They must not be taken for those of the
   rank 1 that has started now and has written nothing yet. */
static void find_what_is_left(void) {
    char folder[FOLDER_BYTES];
    int here[2], status;
    char one = 0;
    fly_boot boot;
    CHECK(new_folder(folder) && pipe(here) == 0, "folder and pipe");
    leave(folder, "flyloom.alive0.1", 0);
    leave(folder, "flyloom.0.1", 77);
    leave(folder, "flyloom.1.1", 78);
    pid_t child = fork();
    if (child == 0) {
        CHECK(read(here[0], &one, 1) == 1, "pipe");
        CHECK(fly_boot_files(folder, 0, 2, &boot) == FLY_OK, "%s", fly_last_error(NULL));
        int code = gather(&boot, 2);
        fly_boot_files_free(&boot);
        exit(code);
    }
    CHECK(fly_boot_files(folder, 1, 2, &boot) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(write(here[1], &one, 1) == 1, "pipe");
    delay(300);
    gather(&boot, 1);
    delay(300);
    int mine = 101, all[2];
    CHECK(boot.allgather(boot.ctx, &mine, all, sizeof mine) == 0 && all[0] == 100 && all[1] == 101,
          "round 1");
    fly_boot_files_free(&boot);
    CHECK(waitpid(child, &status, 0) == child && status == 0, "rank 0");
    CHECK(rmdir(folder) == 0, "%s is not empty", folder);
}

/* A living process of another user has the lock of rank 1 and has written its files: both must be
   ignored. */
static void hear_a_stranger(void) {
    char folder[FOLDER_BYTES], path[FOLDER_BYTES + 32];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int mine = 100, all[2] = {0, 0};
    fly_boot boot;
    if (geteuid() != 0) {
        printf("boot_test: only root can be another user\n");
        return;
    }
    CHECK(new_folder(folder), "folder");
    leave(folder, "flyloom.alive0.1", 0);
    leave(folder, "flyloom.0.1", 77);
    snprintf(path, sizeof path, "%s/flyloom.0.1", folder);
    CHECK(chown(path, NOBODY, NOBODY) == 0, "%s", path);
    snprintf(path, sizeof path, "%s/flyloom.alive0.1", folder);
    int file = open(path, O_RDWR);
    CHECK(file >= 0 && fcntl(file, F_OFD_SETLK, &lock) == 0, "%s", path);
    CHECK(fly_boot_files(folder, 0, 2, &boot) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(boot.allgather(boot.ctx, &mine, all, sizeof mine) != 0, "a stranger said %d", all[1]);
    fly_boot_files_free(&boot);
    close(file);
    CHECK(unlink(path) == 0, "%s", path);
    snprintf(path, sizeof path, "%s/flyloom.0.1", folder);
    CHECK(unlink(path) == 0, "%s", path);
    rmdir(folder); /* rank 0 may have left a file that nobody removes */
}

int main(int count, char **words) {
    CHECK(count == 2, "boot_test late|twice|left|foreign");
    if (strcmp(words[1], "late") == 0) come_late();
    if (strcmp(words[1], "twice") == 0) come_twice();
    if (strcmp(words[1], "left") == 0) find_what_is_left();
    if (strcmp(words[1], "foreign") == 0) hear_a_stranger();
    return 0;
}
