/* Files that are written beside their place: nothing is written through links or over other files;
 * what dead writers have left is removed, and nothing of living ones.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../mpi/part_file.h"
#include "check.h"
#include "ranks.h"
#include "record.h"

enum { DAY_S = 24 * 3600, NAME = 100 };

static char folder[FOLDER_BYTES];
static bool foreseen; /* the random word is 0 */

ssize_t getrandom(void *into, size_t bytes, unsigned flags) {
    if (!foreseen) return syscall(SYS_getrandom, into, bytes, flags);
    memset(into, 0, bytes);
    return (ssize_t)bytes;
}

static void put(const char *name, const char *text, int age_s) {
    FILE *file = fopen(name, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", name);
    struct timespec times[2] = {{.tv_sec = time(NULL) - age_s}, {.tv_sec = time(NULL) - age_s}};
    CHECK(utimensat(AT_FDCWD, name, times, 0) == 0, "%s", name);
}

static bool has(const char *name, const char *text) {
    char found[100] = "";
    FILE *file = fopen(name, "r");
    if (file == NULL) return false;
    size_t got = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    return got == strlen(text) && strcmp(found, text) == 0;
}

static int entries(void) {
    int count = 0;
    DIR *open = opendir(".");
    CHECK(open != NULL, "%s", folder);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return count;
}

/* A record of one rank that did nothing. */
static void record(const char *name) {
    struct fly_event *events[] = {NULL};
    uint64_t counts[] = {0};
    CHECK(fly_record_write(name, 1, events, counts) == 0, "%s", name);
    CHECK(has(name, "num_ranks 1\n\nrank 0 {\n}\n"), "%s", name);
}

static void links(void) {
    put("victim", "precious", 0);
    CHECK(symlink("victim", "a.goal.part") == 0, "symlink");
    record("a.goal");
    CHECK(has("victim", "precious"), "a link under the name that the part once had");
    CHECK(unlink("a.goal") == 0 && unlink("a.goal.part") == 0 && entries() == 1, "left");
}

/* The name of the part is guessed, and still nothing is written over or through it. */
static void foreseen_name(void) {
    struct part_file made;
    char name[NAME];
    foreseen = true;
    CHECK(part_file_open(&made, "b") == 0, "open");
    CHECK(strlen(made.part) < sizeof name, "%s", made.part);
    strcpy(name, made.part);
    CHECK(strncmp(name, ".flyloom-0000000000000000-", 26) == 0, "%s", name);
    CHECK(part_file_end(&made, EIO) == EIO && entries() == 1, "what failed leaves nothing");
    CHECK(symlink("victim", name) == 0, "symlink");
    CHECK(part_file_open(&made, "b") == EEXIST, "opened through a link");
    CHECK(unlink(name) == 0 && link("victim", name) == 0, "link");
    CHECK(part_file_open(&made, "b") == EEXIST, "opened what was there");
    CHECK(unlink(name) == 0 && has("victim", "precious") && entries() == 1, "victim");
    foreseen = false;
}

/* Two writers of one file at a time: the file of the last one is there, and complete. */
static void two_at_once(void) {
    struct part_file one, other;
    CHECK(part_file_open(&one, "c") == 0 && part_file_open(&other, "c") == 0, "open");
    CHECK(fputs("one, which is longer", one.file) >= 0 && fputs("other", other.file) >= 0, "write");
    CHECK(part_file_end(&one, 0) == 0 && has("c", "one, which is longer"), "one");
    CHECK(part_file_end(&other, 0) == 0 && has("c", "other"), "other");
    CHECK(unlink("c") == 0 && entries() == 1, "left");
}

/* The rule of tests/test_files_parts.py. */
static void leftovers(void) {
    struct part_file made;
    char here[40], name[6][NAME];
    CHECK(part_file_open(&made, "d") == 0, "open");
    CHECK(sscanf(made.part, ".flyloom-%*[0-9a-f]-%39[^.]", here) == 1, "%s", made.part);
    pid_t dead = fork();
    if (dead == 0) _exit(0);
    CHECK(waitpid(dead, NULL, 0) == dead, "wait");
    static const char OTHER[] = "0123456789abcdee";
    struct {
        const char *place;
        pid_t pid;
        int age_s;
        bool goes;
    } parts[] = {{here, dead, 0, true},
                 {here, getpid(), 2 * DAY_S, false},
                 {OTHER, dead, 0, false},
                 {OTHER, dead, DAY_S - 600, false},
                 {OTHER, dead, DAY_S + 600, true}};
    for (int i = 0; i < 5; i++) {
        snprintf(name[i], sizeof name[i], ".flyloom-%016d-%s.%d.part", i, parts[i].place,
                 (int)parts[i].pid);
        put(name[i], "half", parts[i].age_s);
    }
    strcpy(name[5], ".flyloom-of-the-user.part");
    put(name[5], "mine", 2 * DAY_S);
    CHECK(part_file_end(&made, 0) == 0, "end");
    record("./e.goal");
    for (int i = 0; i < 6; i++)
        CHECK(has(name[i], i == 5 ? "mine" : "half") == (i == 5 || !parts[i].goes), "%s", name[i]);
    for (int i = 0; i < 6; i++) unlink(name[i]);
    CHECK(unlink("d") == 0 && unlink("e.goal") == 0 && entries() == 1, "left");
}

/* A file longer than the limit gives an error instead of the signal, which the program may use. */
static void too_long(void) {
    struct part_file made;
    struct rlimit limit;
    char bytes[5000];
    sigset_t pending;
    memset(bytes, 'x', sizeof bytes);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
    rlim_t before = limit.rlim_cur;
    for (limit.rlim_cur = 0; limit.rlim_cur < sizeof bytes; limit.rlim_cur += 1000) {
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "limit");
        int opened = part_file_open(&made, "f");
        fwrite(bytes, 1, opened == 0 ? sizeof bytes : 0, made.file);
        int failed = opened == 0 ? part_file_end(&made, 0) : opened;
        struct rlimit wide = {before, limit.rlim_max}; /* what CHECK says may go to a file */
        CHECK(setrlimit(RLIMIT_FSIZE, &wide) == 0, "limit");
        CHECK(failed == EFBIG, "%lu bytes: %s", (unsigned long)limit.rlim_cur, strerror(failed));
        CHECK(entries() == 1, "left");
        CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 0, "the signal");
    }
    CHECK(strstr(file_limit_why(EFBIG), "ulimit -f") != NULL, "%s", file_limit_why(EFBIG));
}

int main(void) {
    CHECK(new_folder(folder) && chdir(folder) == 0, "no folder");
    links();
    foreseen_name();
    two_at_once();
    leftovers();
    too_long();
    CHECK(unlink("victim") == 0 && rmdir(folder) == 0, "%s is not empty", folder);
    return 0;
}
