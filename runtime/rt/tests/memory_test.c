/* The budget of memory on a node: 300 KiB of shared memory for each rank beside windows; for each
 * window 64 bytes a rank and node, and 4 KiB a rank.
 *
 *   memory_test RANKS
 */
#include <malloc.h>
#include <string.h>

#include "check.h"
#include "ranks.h"

enum { WINDOWS = 64, FILES_MAX = 1024 };

/* Bytes of the library's shared memory that this process has mapped, each file once. */
static size_t shared_bytes(void) {
    static unsigned long seen[FILES_MAX];
    size_t all = 0;
    int count = 0;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL, "no maps");
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to, inode;
        bool known = false;
        if (strstr(line, "memfd:flyloom") == NULL) continue;
        CHECK(sscanf(line, "%lx-%lx %*s %*s %*s %lu", &from, &to, &inode) == 3, "%s", line);
        for (int i = 0; i < count && !known; i++) known = seen[i] == inode;
        if (known || count == FILES_MAX) continue;
        seen[count++] = inode;
        all += to - from;
    }
    fclose(maps);
    return all;
}

static int body(const fly_boot *boot, void *context) {
    size_t ranks = (size_t)boot->size;
    fly_config config = {.transports = "shm"};
    fly_rt *rt;
    fly_win *wins[WINDOWS];
    void *base;
    (void)context;
    CHECK(fly_init(boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    size_t beside = shared_bytes();
    CHECK(beside > 0 && beside <= ranks * 300 * 1024, "%zu bytes for %zu ranks", beside, ranks);
    size_t heap = mallinfo2().uordblks;
    for (int i = 0; i < WINDOWS; i++)
        CHECK(fly_win_allocate(fly_world(rt), 0, 1, 0, &base, &wins[i]) == FLY_OK, "%s",
              fly_last_error(NULL));
    size_t tables = (shared_bytes() - beside) / WINDOWS;
    size_t own = (mallinfo2().uordblks - heap) / WINDOWS;
    CHECK(own > 0 && tables + own * ranks <= ranks * 64 + ranks * 4096,
          "a window takes %zu bytes a node and %zu a rank", tables, own);
    if (boot->rank == 0)
        printf("memory_test: %zu ranks: %zu KiB shared a rank; a window %zu bytes a node and %zu "
               "a rank\n", ranks, beside / ranks / 1024, tables, own);
    for (int i = 0; i < WINDOWS; i++) CHECK(fly_win_free(&wins[i]) == FLY_OK, "free");
    CHECK(shared_bytes() == beside, "something is still mapped");
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(shared_bytes() == 0, "something is still mapped");
    return 0;
}

int main(int count, char **words) {
    int result = run_processes((int)argument(count, words, 1, 8), body, NULL);
    CHECK(result == 0, "result %d", result);
    return 0;
}
