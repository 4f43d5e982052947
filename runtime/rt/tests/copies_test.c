/* Windows of the program's own memory where the kernel does not let a process access another's, as
 * by default on Ubuntu, or by a container's filter: then the target copies.
 *
 *   copies_test all|even|writes
 *
 * all: no rank may access others; even: these may not, the others may; writes: all may only read.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "ranks.h"

enum { RANKS = 4, BYTES = 50000, EACH = BYTES / RANKS };

#define OK(call) CHECK((call) == FLY_OK, "rank %d: %s", rank, fly_last_error(NULL))

static void refuse(bool reads) {
    unsigned reading = reads ? SYS_process_vm_readv : SYS_process_vm_writev;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, reading, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
          "seccomp");
    CHECK(syscall(SYS_process_vm_writev, getpid(), NULL, 0, NULL, 0, 0) == -1, "it is there");
}

static unsigned char value(int from, int to, size_t i) {
    return (unsigned char)((size_t)from * 7 + (size_t)to * 13 + i * 3);
}

static int body(const fly_boot *boot, void *context) {
    const char *which = context;
    int rank = boot->rank;
    bool even = strcmp(which, "even") == 0;
    fly_config config = {.transports = "shm"};
    fly_rt *rt;
    fly_win *win;
    fly_req *req;
    char path[100];
    uint64_t *own = calloc(1, BYTES + 16), old = 0;
    unsigned char *base = (unsigned char *)(own + 2), *block = malloc(BYTES);
    if (!even || rank % 2 == 0) refuse(strcmp(which, "writes") != 0);
    OK(fly_init(boot, &config, &rt));
    OK(fly_win_create(fly_world(rt), own, BYTES + 16, 1, 0, &win));
    OK(fly_win_path(win, (rank + 1) % RANKS, path, sizeof path));
    CHECK((strstr(path, "packets") != NULL) == (!even || rank % 2 == 0), "%s", path);
    /* Each rank writes a part of every other's memory, at once and in blocks, and reads it back. */
    OK(fly_notify_init(win, FLY_ANY_SOURCE, 5, RANKS, &req));
    OK(fly_start(req));
    for (int to = 0; to < RANKS; to++) {
        uint64_t at = 16 + (uint64_t)rank * EACH;
        for (size_t i = 0; i < EACH; i++) block[i] = value(rank, to, i);
        OK(fly_put(win, block, EACH / 2, to, at));
        fly_shape pairs = {(EACH - EACH / 2) / 2, 2, 2};
        OK(fly_put_shape(win, block + EACH / 2, &pairs, to, at + EACH / 2, &pairs, 5));
        OK(fly_fetch_add(win, NULL, 1, to, 0, FLY_NO_TAG));
        memset(block, 0xEE, EACH);
    }
    OK(fly_wait(req, NULL));
    for (int from = 0; from < RANKS; from++)
        for (size_t i = 0; i < EACH; i++)
            CHECK(base[(size_t)from * EACH + i] == value(from, rank, i), "rank %d: byte %zu of %d",
                  rank, i, from);
    OK(fly_fence(win));
    CHECK(own[0] == RANKS, "%lu", (unsigned long)own[0]);
    for (int to = 0; to < RANKS; to++) {
        OK(fly_get(win, block, BYTES, to, 16)); /* more than a packet has */
        OK(fly_flush_local(win, to));
        for (int from = 0; from < RANKS; from++)
            for (size_t i = 0; i < EACH; i++)
                CHECK(block[(size_t)from * EACH + i] == value(from, to, i), "read");
        OK(fly_lock(win, FLY_EXCLUSIVE, to));
        OK(fly_get(win, &old, 8, to, 8));
        OK(fly_flush_local(win, to));
        old++;
        OK(fly_put(win, &old, 8, to, 8));
        OK(fly_unlock(win, to));
    }
    OK(fly_fence(win));
    CHECK(own[1] == RANKS, "%lu under locks", (unsigned long)own[1]);
    int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
    OK(fly_win_post(win, 1, &before));
    OK(fly_win_start(win, 1, &next));
    memset(block, rank + 1, BYTES);
    OK(fly_put(win, block, BYTES, next, 16));
    OK(fly_win_complete(win));
    OK(fly_win_wait(win));
    for (size_t i = 0; i < BYTES; i++) CHECK(base[i] == before + 1, "byte %zu of an epoch", i);
    OK(fly_req_free(&req));
    OK(fly_win_free(&win));
    OK(fly_win_create(fly_world(rt), own, BYTES + 16, 1, 0, &win)); /* one more */
    OK(fly_put(win, block, BYTES, next, 16));
    OK(fly_flush(win, next));
    OK(fly_win_free(&win));
    OK(fly_finalize(&rt));
    free(own);
    free(block);
    return 0;
}

int main(int count, char **words) {
    CHECK(count == 2, "copies_test all|even|writes");
    int result = run_processes(RANKS, body, words[1]);
    CHECK(result == 0, "%d", result);
    printf("copies_test: %s\n", words[1]);
    return 0;
}
