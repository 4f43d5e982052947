/* Strangers at the sockets of a program's ranks: some do not know the secret, some are of another
 * user, some say nothing. They get nothing, and the program ends as without them.
 *
 *   stranger_test same|other|silent|crowd|ports RANKS
 *
 * same: of this user, with the message of a rank but not its secret, and with memory to be mapped.
 * other: the same, but of user nobody (only root can be both; else skipped, 77). silent: connects
 * and sends nothing. crowd: more silent ones than a rank keeps. ports: over libfabric no rank
 * listens on all interfaces of its machine.
 */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "ranks.h"
#include "shm.h"

enum { CROWD = 70, NOBODY = 65534, MOST_RANKS = 8, ROUNDS = 3 };

/* Shared counts: how many sockets have which names; connections of strangers; how many of them got
   something; the ranks that came to their end. */
struct seen {
    int ranks, connected, given, well;
    unsigned char token[MOST_RANKS][16];
};

struct options {
    const char *what;
    struct seen *seen;
    const fly_boot *boot;
    int strangers, gathered;
};

static void nap_ms(long ms) {
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL);
}

/* Connects to the socket of a rank, whose name everybody can see; -1: there is none. */
static int connect_to(const unsigned char token[16]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *at = address.sun_path + 1;
    at += sprintf(at, "flyloom-");
    for (int i = 0; i < 16; i++) at += sprintf(at, "%02x", token[i]);
    int end = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(at - (char *)&address);
    if (connect(end, (struct sockaddr *)&address, length) == 0) return end;
    close(end);
    return -1;
}

/* Sends what a rank sends, with memory that the other may map. */
static void pretend(int end, int rank) {
    int memory = memfd_create("stranger", 0);
    struct fly_note_sent note = {.rank = rank, .pieces = 1, .mapped = 1 << 20};
    struct iovec piece = {&note, sizeof note};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    if (memory < 0 || ftruncate(memory, 1 << 20) != 0) return;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &memory, sizeof memory);
    sendmsg(end, &message, MSG_NOSIGNAL);
    close(memory);
}

/* Whether anything comes back before the rank disconnects. */
static bool is_given_something(int end) {
    char bytes[256];
    return recv(end, bytes, sizeof bytes, MSG_NOSIGNAL) > 0;
}

/* Connects to every rank but the last, to which no rank connects. */
static void be_stranger(const struct options *options) {
    struct seen *seen = options->seen;
    bool silent = strcmp(options->what, "silent") == 0 || strcmp(options->what, "crowd") == 0;
    bool other = strcmp(options->what, "other") == 0;
    if (other && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) _exit(3);
    while (__atomic_load_n(&seen->ranks, __ATOMIC_ACQUIRE) == 0) nap_ms(1);
    for (int round = 0; round < (silent ? 1 : ROUNDS); round++) {
        for (int r = 0; r < seen->ranks - 1; r++) {
            int end = connect_to(seen->token[r]);
            if (end < 0) continue;
            if (silent) {
                __atomic_add_fetch(&seen->connected, 1, __ATOMIC_RELAXED);
                continue; /* the connection stays open */
            }
            pretend(end, seen->ranks - 1);
            __atomic_add_fetch(&seen->connected, 1, __ATOMIC_RELAXED);
            if (is_given_something(end)) __atomic_add_fetch(&seen->given, 1, __ATOMIC_RELAXED);
            close(end);
        }
    }
    for (;;) pause();
}

/* Serves as the bootstrap. The strangers learn the names of the sockets from what all ranks
   exchange first. Before ranks connect there is one more gathering, and after it the last rank, for
   which all others wait, lets the strangers connect first. */
static int gather(void *ctx, const void *mine, void *all, size_t bytes) {
    struct options *options = ctx;
    const fly_boot *boot = options->boot;
    struct seen *seen = options->seen;
    const struct fly_hello *hellos = all;
    int code = boot->allgather(boot->ctx, mine, all, bytes);
    if (code != 0 || ++options->gathered > 2) return code;
    if (options->gathered == 1 && boot->rank == 0) {
        CHECK(bytes == sizeof *hellos, "%zu bytes are no hello", bytes);
        for (int r = 0; r < boot->size; r++) memcpy(seen->token[r], hellos[r].token, 16);
        __atomic_store_n(&seen->ranks, boot->size, __ATOMIC_RELEASE);
    }
    int wanted = options->strangers * (boot->size - 1);
    bool last = options->gathered == 2 && boot->rank == boot->size - 1;
    for (double end = now_s() + VAIN_S; last && now_s() < end;) {
        if (__atomic_load_n(&seen->connected, __ATOMIC_RELAXED) >= wanted) break;
        nap_ms(10);
    }
    return 0;
}

static int body(const fly_boot *boot, void *context) {
    struct options options = *(const struct options *)context;
    fly_config config = {.transports = "shm"};
    fly_boot watched = {boot->rank, boot->size, &options, gather, boot->msg};
    fly_rt *rt;
    fly_win *win;
    void *base;
    options.boot = boot;
    CHECK(fly_init(&watched, &config, &rt) == FLY_OK, "rank %d: %s", boot->rank,
          fly_last_error(NULL));
    CHECK(fly_win_allocate(fly_world(rt), 64, 8, 0, &base, &win) == FLY_OK, "%s",
          fly_last_error(NULL));
    uint64_t mine = 100 + (uint64_t)boot->rank, next = (uint64_t)(boot->rank + 1);
    CHECK(fly_fence(win) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_put(win, &mine, sizeof mine, (int)(next % (uint64_t)boot->size), 0) == FLY_OK, "%s",
          fly_last_error(NULL));
    CHECK(fly_fence(win) == FLY_OK, "%s", fly_last_error(NULL));
    uint64_t from = (uint64_t)((boot->rank + boot->size - 1) % boot->size);
    CHECK(*(uint64_t *)base == 100 + from, "rank %d: %llu", boot->rank,
          *(unsigned long long *)base);
    CHECK(fly_win_free(&win) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    __atomic_add_fetch(&options.seen->well, 1, __ATOMIC_RELAXED);
    return 0;
}

/* Counts this process's sockets that listen on all interfaces, and those that listen at all. */
static int open_to_all(int *listening) {
    int all = 0;
    for (int file = 3; file < 256; file++) {
        struct sockaddr_in at = {0};
        int listens = 0;
        socklen_t length = sizeof at, length_of = sizeof listens;
        if (getsockname(file, (struct sockaddr *)&at, &length) != 0 || at.sin_family != AF_INET)
            continue;
        getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length_of);
        *listening += listens;
        all += listens && at.sin_addr.s_addr == htonl(INADDR_ANY);
    }
    return all;
}

static int listen_body(const fly_boot *boot, void *context) {
    fly_config config = {.transports = "ofi"};
    fly_rt *rt;
    int listening = 0;
    (void)context;
    CHECK(fly_init(boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(open_to_all(&listening) == 0, "a port is open on all interfaces");
    CHECK(listening > 0, "no rank listens");
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    return 0;
}

/* Files of another length than announced, or that may become shorter, are not mapped. */
static void check_lengths(void) {
    void *base = &base;
    struct fly_memory own;
    int open = memfd_create("open", MFD_ALLOW_SEALING), plain = memfd_create("plain", 0);
    CHECK(ftruncate(open, 8192) == 0 && ftruncate(plain, 8192) == 0, "ftruncate");
    CHECK(fly_shm_map(open, 8192, 8192, &base) == FLY_ERR_TRANSPORT && base == NULL, "unsealed");
    CHECK(fly_shm_map(plain, 8192, 8192, &base) == FLY_ERR_TRANSPORT, "cannot be sealed");
    CHECK(fly_shm_file(8192, &own) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(ftruncate(own.file, 4096) != 0 && errno == EPERM, "it becomes shorter");
    CHECK(fly_shm_map(own.file, 8192, 8192, &base) == FLY_OK, "%s", fly_last_error(NULL));
    munmap(base, 8192);
    CHECK(fly_shm_map(own.file, 12288, 8192, &base) == FLY_ERR_TRANSPORT, "longer than the file");
    CHECK(fly_shm_map(own.file, 4096, 8192, &base) == FLY_ERR_TRANSPORT, "shorter than needed");
    CHECK(fly_shm_map(own.file, 0, 0, &base) == FLY_ERR_TRANSPORT, "nothing");
    CHECK(fly_shm_map(-1, 4096, 0, &base) == FLY_ERR_TRANSPORT, "no file");
    munmap(own.base, own.mapped);
    close(own.file);
    close(open);
    close(plain);
}

/* A link in the place of a file that a rank will write is not written through; one in place of the
   file that it reads is refused. */
static void check_boot(void) {
    char folder[FOLDER_BYTES], path[FOLDER_BYTES + 32], victim[FOLDER_BYTES + 32], text[16] = "";
    int one = 1, all = 0;
    fly_boot boot;
    CHECK(new_folder(folder), "no folder");
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(path, sizeof path, "%s/flyloom.new0.0", folder);
    FILE *file = fopen(victim, "w");
    CHECK(file != NULL && fputs("precious", file) >= 0 && fclose(file) == 0, "the victim");
    CHECK(symlink("victim", path) == 0, "symlink");
    CHECK(fly_boot_files(folder, 0, 1, &boot) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(boot.allgather(boot.ctx, &one, &all, sizeof one) == 0 && all == 1, "gather");
    fly_boot_files_free(&boot);
    file = fopen(victim, "r");
    CHECK(file != NULL && fgets(text, sizeof text, file) != NULL && fclose(file) == 0, "victim");
    CHECK(strcmp(text, "precious") == 0, "the file behind a link has \"%s\"", text);
    snprintf(path, sizeof path, "%s/flyloom.alive0.0", folder);
    CHECK(symlink("victim", path) == 0, "symlink");
    CHECK(fly_boot_files(folder, 0, 1, &boot) == FLY_ERR_ARG, "a link is taken for a file");
    CHECK(unlink(path) == 0 && unlink(victim) == 0 && rmdir(folder) == 0, "%s", folder);
}

/* The kernel names the user at the other end, whatever secret that process knows. */
static void check_users(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = sizeof name.sun_family; /* the kernel finds a name */
    struct ucred who;
    int here = socket(AF_UNIX, SOCK_SEQPACKET, 0), status;
    CHECK(bind(here, (struct sockaddr *)&name, length) == 0 && listen(here, 2) == 0, "a socket");
    length = sizeof name;
    CHECK(getsockname(here, (struct sockaddr *)&name, &length) == 0, "its name");
    for (int other = 0; other < 2; other++) {
        pid_t child = fork();
        if (child == 0) {
            char byte;
            int end = socket(AF_UNIX, SOCK_SEQPACKET, 0);
            if (other && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) _exit(3);
            if (connect(end, (struct sockaddr *)&name, length) != 0) _exit(4);
            _exit(recv(end, &byte, 1, 0) == 0 ? 0 : 5);
        }
        int end = accept(here, NULL, NULL);
        CHECK(end >= 0 && fly_shm_same_user(end, &who) == !other, "user %d", (int)who.uid);
        CHECK(who.uid == (other ? NOBODY : geteuid()) && who.pid == child, "who it is");
        close(end);
        CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x", status);
    }
    close(here);
}

int main(int count, char **words) {
    CHECK(count == 3, "stranger_test same|other|silent|crowd|ports RANKS");
    struct options options = {.what = words[1]};
    int ranks = (int)argument(count, words, 2, 3);
    int strangers = options.strangers = strcmp(options.what, "crowd") == 0 ? CROWD : 1;
    CHECK(ranks > 1 && ranks <= MOST_RANKS, "%d ranks", ranks);
    if (strcmp(options.what, "ports") == 0) return run_processes(ranks, listen_body, NULL);
    if (strcmp(options.what, "other") == 0 && geteuid() != 0) {
        printf("stranger_test: skipped, as only root can be another user\n");
        return 77;
    }
    check_lengths();
    check_boot();
    if (geteuid() == 0) check_users();
    options.seen = mmap(NULL, sizeof *options.seen, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(options.seen != MAP_FAILED, "no memory");
    pid_t children[CROWD];
    pid_t parent = getpid();
    for (int i = 0; i < strangers; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0, "fork");
        if (children[i] != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        be_stranger(&options);
    }
    int result = run_processes(ranks, body, &options);
    for (int i = 0; i < strangers; i++) kill(children[i], SIGKILL);
    for (int i = 0; i < strangers; i++) waitpid(children[i], NULL, 0);
    CHECK(result == 0 && options.seen->well == ranks, "result %d, %d of %d ended well", result,
          options.seen->well, ranks);
    CHECK(options.seen->connected >= strangers * (ranks - 1), "%d connections of strangers",
          options.seen->connected);
    CHECK(options.seen->given == 0, "%d strangers were given something", options.seen->given);
    printf("stranger_test: %s, %d ranks, %d connections of strangers\n", options.what, ranks,
           options.seen->connected);
    return 0;
}
