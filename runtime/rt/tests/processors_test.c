/* The processors that ranks may use: the process's own set, trees of control groups that are made
 * here, and how many ranks share a processor.
 *
 *   processors_test FOLDER     an empty folder for the trees
 */
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "processors.h"

static const char *folder;

static const char *path_of(const char *name) {
    static char paths[2][4096];
    static int turn;
    turn = 1 - turn;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

/* Writes a file, and makes the folders that it is in. */
static void put(const char *name, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s", path_of(name));
    for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

/* Checks the quota if a process is in `own` and control groups are mounted at `root`. */
static void expect(const char *root, const char *own, unsigned quota, const char *group) {
    struct fly_processors found;
    struct stat there;
    put("own", own);
    char groups[4096];
    snprintf(groups, sizeof groups, "%s", path_of(root));
    fly_processors_read(groups, path_of("own"), &found);
    CHECK(found.quota == quota, "%s in %s: %u processors, not %u", own, root, found.quota, quota);
    if (group != NULL) {
        CHECK(stat(path_of(group), &there) == 0, "%s", group);
        CHECK(found.group == (uint64_t)there.st_ino, "the quota is that of %s", group);
    }
}

/* cpu.max and cpu.cfs_* as Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cpu.rst of Linux
   describe them. */
static void test_quotas(void) {
    put("two/cpu.max", "max 100000\n");
    put("two/job/cpu.max", "400000 100000\n");
    put("two/job/step/cpu.max", "max 100000\n");
    put("two/job/small/cpu.max", "150000 100000\n");
    put("two/job/tiny/cpu.max", "50000 100000\n");
    put("two/job/odd/cpu.max", "what\n");
    expect("two", "0::/\n", 0, NULL);
    expect("two", "0::/job\n", 4, "two/job");
    expect("two", "0::/job/step\n", 4, "two/job");
    expect("two", "0::/job/small\n", 1, "two/job/small");
    expect("two", "0::/job/tiny\n", 1, "two/job/tiny");
    expect("two", "0::/job/odd\n", 4, "two/job");
    expect("two", "0::/not/there\n", 0, NULL);
    expect("two", "", 0, NULL);
    expect("two", "nonsense\n::\n0:\n", 0, NULL);
    put("one/cpu/cpu.cfs_quota_us", "-1\n");
    put("one/cpu/cpu.cfs_period_us", "100000\n");
    put("one/cpu/docker/a/cpu.cfs_quota_us", "250000\n");
    put("one/cpu/docker/a/cpu.cfs_period_us", "100000\n");
    expect("one", "3:cpuset:/docker/a\n4:cpu,cpuacct:/docker/a\n0::/\n", 2, "one/cpu/docker/a");
    expect("one", "3:cpuset:/docker/a\n4:cpuacct:/docker/a\n", 0, NULL);
    expect("one", "4:cpuacct,cpu:/\n", 0, NULL);
}

/* The set found is what the kernel allows the process. */
static void test_own_set(void) {
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "affinity");
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        CPU_SET(cpu, &one);
        break;
    }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "affinity");
    struct fly_processors found;
    fly_processors_read("/none", "/none", &found);
    CHECK(sizeof found.set == sizeof one && memcmp(found.set, &one, sizeof one) == 0, "one");
    CHECK(found.quota == 0, "no file, no quota");
}

static struct fly_processors with(uint64_t set, unsigned quota, uint64_t group) {
    return (struct fly_processors){.set = {set}, .quota = quota, .group = group};
}

static void test_crowds(void) {
    struct fly_processors of[8];
    for (int i = 0; i < 8; i++) of[i] = with(0xFF, 0, 0);
    CHECK(fly_processors_crowd(of, 8) == 1, "8 ranks on 8 processors");
    for (int i = 0; i < 8; i++) of[i] = with(0xF, 0, 0);
    CHECK(fly_processors_crowd(of, 8) == 2, "8 ranks on 4 processors");
    CHECK(fly_processors_crowd(of, 5) == 2, "5 ranks on 4 processors");
    for (int i = 0; i < 8; i++) of[i] = with(UINT64_C(1) << i, 0, 0);
    CHECK(fly_processors_crowd(of, 8) == 1, "each bound to its own");
    of[7] = with(1, 0, 0);
    CHECK(fly_processors_crowd(of, 8) == 2, "two bound to one, others free");
    for (int i = 0; i < 8; i++) of[i] = with(i < 4 ? 0xF : 0xF0, 0, 0);
    CHECK(fly_processors_crowd(of, 8) == 1, "two sockets of four");
    of[0] = of[1] = of[2] = with(3, 0, 0);
    of[3] = of[4] = with(6, 0, 0);
    CHECK(fly_processors_crowd(of, 5) == 2, "5 ranks on 3 processors, in sets that overlap");
    for (int i = 0; i < 8; i++) of[i] = with(0xFF, 2, 7);
    CHECK(fly_processors_crowd(of, 8) == 4, "8 ranks in a group that has 2");
    for (int i = 0; i < 8; i++) of[i] = with(0xFF, 1, 7 + (uint64_t)i);
    CHECK(fly_processors_crowd(of, 8) == 1, "each in a group that has one");
    for (int i = 0; i < 8; i++) of[i] = with(0, 0, 0);
    CHECK(fly_processors_crowd(of, 0) == 1 && fly_processors_crowd(of, 8) == 1, "nothing known");
}

int main(int count, char **words) {
    CHECK(count == 2, "a folder");
    folder = words[1];
    test_quotas();
    test_crowds();
    test_own_set();
    return 0;
}
