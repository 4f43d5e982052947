/* Finds the processors that a process may use: affinity, cpusets and quotas of control groups. */
#include "processors.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SET_WORDS = sizeof((struct fly_processors *)0)->set / sizeof(uint64_t) };

/* Reads the set of processors; the kernel has applied cpusets to it. If the machine has more
   processors than the set has bits, sched_getaffinity fails, and the number of processors that are
   online has to serve. */
static void read_set(struct fly_processors *found) {
    cpu_set_t allowed;
    bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < SET_WORDS * 64; cpu++)
        if (known ? CPU_ISSET(cpu, &allowed) : cpu < online)
            found->set[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

/* Reads the first line of a file into `line`, which has room for `room` bytes. */
static bool line_of(const char *folder, const char *name, char *line, int room) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path) return false;
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    bool there = fgets(line, room, file) != NULL;
    fclose(file);
    return there;
}

/* Reads the quota of the group itself, in microseconds for each period: version 2 has a file
   cpu.max with both numbers or the word max; version 1 has a file for each, with -1 for no
   limit. */
static bool quota_of(const char *folder, double *processors) {
    char line[64], period[64];
    long long most, each;
    if (line_of(folder, "cpu.max", line, sizeof line)) {
        if (sscanf(line, "%lld %lld", &most, &each) != 2) return false;
    } else if (line_of(folder, "cpu.cfs_quota_us", line, sizeof line) &&
               line_of(folder, "cpu.cfs_period_us", period, sizeof period)) {
        if (sscanf(line, "%lld", &most) != 1 || sscanf(period, "%lld", &each) != 1) return false;
    } else {
        return false;
    }
    if (most <= 0 || each <= 0) return false;
    *processors = (double)most / (double)each;
    return true;
}

/* Finds the tightest quota of a group and of those above it. A quota below one processor counts as
   none: ranks that spin on it are stopped until the next period anyway. */
static void read_quotas(const char *root, const char *path, struct fly_processors *found) {
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof folder) return;
    size_t end = (size_t)length, least = strlen(root);
    for (;;) {
        double processors;
        struct stat group;
        if (quota_of(folder, &processors) && stat(folder, &group) == 0) {
            uint32_t whole = processors < 1 ? 1 : processors > 1e9 ? 0 : (uint32_t)processors;
            if (whole != 0 && (found->quota == 0 || whole < found->quota)) {
                found->quota = whole;
                found->group = (uint64_t)group.st_ino;
            }
        }
        if (end <= least) return;
        while (end > least && folder[end - 1] != '/') end--;
        while (end > least && folder[end - 1] == '/') end--;
        folder[end] = 0;
    }
}

/* Whether a list of names, separated by commas, contains the name. */
static bool has_name(const char *names, size_t length, const char *name) {
    size_t wanted = strlen(name);
    for (size_t at = 0; at < length;) {
        size_t one = strcspn(names + at, ",:");
        if (one == wanted && memcmp(names + at, name, wanted) == 0) return true;
        at += one + 1;
    }
    return false;
}

void fly_processors_read(const char *groups, const char *own, struct fly_processors *found) {
    memset(found, 0, sizeof *found);
    read_set(found);
    FILE *file = fopen(own, "re");
    if (file == NULL) return;
    char line[PATH_MAX];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        const char *controllers = strchr(line, ':');
        const char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path == NULL || path[1] != '/') continue;
        controllers++;
        size_t length = (size_t)(path - controllers);
        char root[PATH_MAX];
        if (length == 0) { /* version 2's one tree, perhaps beside version 1 */
            read_quotas(groups, path + 1, found);
            snprintf(root, sizeof root, "%s/unified", groups);
        } else if (has_name(controllers, length, "cpu")) {
            snprintf(root, sizeof root, "%s/cpu", groups);
        } else {
            continue;
        }
        read_quotas(root, path + 1, found);
    }
    fclose(file);
}

static int members(const uint64_t *set) {
    int count = 0;
    for (int w = 0; w < SET_WORDS; w++) count += __builtin_popcountll(set[w]);
    return count;
}

static bool within(const uint64_t *inner, const uint64_t *outer) {
    for (int w = 0; w < SET_WORDS; w++)
        if ((inner[w] & ~outer[w]) != 0) return false;
    return true;
}

static int shares(int ranks, int processors) {
    return processors < 1 ? 1 : (ranks + processors - 1) / processors;
}

int fly_processors_crowd(const struct fly_processors *of, int count) {
    uint64_t all[SET_WORDS] = {0};
    int worst = 1;
    for (int i = 0; i < count; i++) {
        int inside = 0, together = 0;
        for (int w = 0; w < SET_WORDS; w++) all[w] |= of[i].set[w];
        for (int j = 0; j < count; j++) {
            inside += within(of[j].set, of[i].set);
            together += of[i].quota != 0 && of[j].quota != 0 && of[j].group == of[i].group;
        }
        int by_set = shares(inside, members(of[i].set));
        int by_quota = of[i].quota == 0 ? 1 : shares(together, (int)of[i].quota);
        if (by_set > worst) worst = by_set;
        if (by_quota > worst) worst = by_quota;
    }
    int over_all = shares(count, members(all));
    return over_all > worst ? over_all : worst;
}
