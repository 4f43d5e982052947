/* Writes into memory over libfabric: notices in their data, windows that come and go, tags and
 * sizes at the limits, order beside packets, deaths, and whether bytes land while the target
 * computes.
 *
 *   write_test notices | moves [RANKS] | kill [SEED] | lands | stays | huge | refused PATH WORDS
 *
 * Provider and path are those of FLYLOOM_PROVIDER and FLYLOOM_OFI_PATH.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"
#include "flyloom.h"
#include "ofi_notice.h"
#include "ranks.h"

enum { LARGE = 1 << 20, MANY = OFI_SLOTS + 3, ROUNDS = 30, SMALL = 512 };

#define OK(call)                                                                     \
    do {                                                                             \
        int code_ = (call);                                                          \
        CHECK(code_ == FLY_OK, "rank %d: %d: %s", s->rank, code_, fly_last_error(NULL)); \
    } while (0)

struct state {
    int rank, size;
    fly_rt *rt;
};

static int *shared; /* shared by all ranks, outside the library */

/* Every notice that fits is unpacked as it was packed, and numbers continue when their bits
   wrap. */
static void check_notices(size_t bytes, uint32_t ranks, uint32_t credits) {
    struct ofi_layout l = ofi_layout(bytes, ranks, credits);
    uint32_t none = ofi_no_tag(&l), spread = ofi_last(UINT32_MAX, l.number);
    CHECK(l.tag + l.rank + l.slot + l.number == (int)bytes * 8, "%u ranks", ranks);
    CHECK(1 << l.slot <= OFI_SLOTS && spread >= credits, "%u credits", credits);
    for (uint64_t i = 0; i < 50000; i++) {
        struct ofi_notice in = {.tag = ofi_last(i * 2654435761U >> 3, l.tag),
                                .rank = ofi_last(i * 40503U, l.rank),
                                .slot = ofi_last(i * 31, l.slot),
                                .number = ofi_last(i * 7, l.number)};
        uint64_t data = ofi_pack(&l, &in);
        struct ofi_notice out = ofi_unpack(&l, data);
        CHECK(memcmp(&in, &out, sizeof in) == 0, "%lu", (unsigned long)i);
        CHECK(bytes == 8 || data <= UINT32_MAX, "%lu is longer than 4 bytes", (unsigned long)data);
    }
    for (uint32_t next = UINT32_MAX - 20000; next != 20000; next++)
        for (uint32_t ahead = 0; ahead <= spread; ahead += spread / 3)
            CHECK(ofi_number(&l, (next + ahead) & spread, next) == next + ahead, "%u + %u", next,
                  ahead);
    uint32_t most = ofi_last(UINT32_MAX, l.rank);
    CHECK(none == 0 || ofi_fits(&l, none - 1, most), "the largest");
    CHECK(!ofi_fits(&l, none, 0) && !ofi_fits(&l, 0, most + 1) && !ofi_fits(&l, INT32_MAX, 0),
          "larger");
}

static int notices(void) {
    check_notices(8, 1 << 20, 4096);
    for (uint32_t ranks = 1; ranks <= 1 << 20; ranks *= 4)
        for (uint32_t credits = 1; credits <= 4096; credits *= 8) check_notices(4, ranks, credits);
    struct ofi_layout small = ofi_layout(4, 1000, 64);
    CHECK(small.rank == 10 && small.number == 8 && small.tag == 10, "1000 ranks");
    return 0;
}

static unsigned char byte_of(int rank, int round, size_t at) {
    return (unsigned char)(rank * 101 + round * 7 + (int)(at % 251) + (int)(at >> 12));
}

static void fill(unsigned char *bytes, size_t size, int rank, int round) {
    for (size_t i = 0; i < size; i++) bytes[i] = byte_of(rank, round, i);
}

static void same(const struct state *s, const unsigned char *bytes, size_t size, int rank,
                 int round) {
    for (size_t i = 0; i < size; i++)
        CHECK(bytes[i] == byte_of(rank, round, i), "rank %d round %d: byte %zu of rank %d", s->rank,
              round, i, rank);
}

/* Waits for one notification. */
static void one(struct state *s, fly_win *win, int source, int tag) {
    fly_req *req;
    fly_status status;
    OK(fly_notify_init(win, source, FLY_ANY_TAG, 1, &req));
    OK(fly_start(req));
    OK(fly_wait(req, &status));
    CHECK(status.tag == tag && status.source == source, "rank %d: tag %d, not %d", s->rank,
          status.tag, tag);
    OK(fly_req_free(&req));
}

/* A window is made, written to in every size, and freed: its keys and slots are used again. */
static void come_and_go(struct state *s) {
    static unsigned char bytes[LARGE];
    int next = (s->rank + 1) % s->size, last = (s->rank + s->size - 1) % s->size;
    for (int round = 0; round < ROUNDS; round++) {
        fly_win *win;
        unsigned char *base;
        size_t size = round % 5 == 4 ? LARGE : (size_t)1 << (round % 20);
        OK(fly_win_allocate(fly_world(s->rt), LARGE, 1, 0, (void **)&base, &win));
        fill(bytes, size, s->rank, round);
        OK(fly_put_notify(win, bytes, size, next, 0, round));
        OK(fly_flush_local(win, next));
        memset(bytes, 0, size);
        one(s, win, last, round);
        same(s, base, size, last, round);
        OK(fly_fence(win)); /* the last one's is written, too */
        OK(fly_get_notify(win, bytes, size, last, 0, ROUNDS));
        OK(fly_flush_local(win, last));
        same(s, bytes, size, (last + s->size - 1) % s->size, round);
        one(s, win, next, ROUNDS);
        OK(fly_win_free(&win));
    }
}

/* More windows than there are slots for. */
static void many(struct state *s) {
    static fly_win *wins[MANY];
    static unsigned char *bases[MANY], bytes[SMALL];
    int next = (s->rank + 1) % s->size, last = (s->rank + s->size - 1) % s->size;
    for (int i = 0; i < MANY; i++)
        OK(fly_win_allocate(fly_world(s->rt), SMALL, 1, 0, (void **)&bases[i], &wins[i]));
    for (int i = 0; i < MANY; i++) {
        fill(bytes, SMALL, s->rank, i);
        OK(fly_put_notify(wins[i], bytes, SMALL, next, 0, i));
        OK(fly_flush_local(wins[i], next));
    }
    for (int i = 0; i < MANY; i++) {
        one(s, wins[i], last, i);
        same(s, bases[i], SMALL, last, i);
    }
    for (int i = MANY - 1; i >= 0; i--) OK(fly_win_free(&wins[i]));
}

/* Tags that fit into a write's data of 8 bytes, or of 4, and tags that do not, in the order of the
   calls. */
static void tags(struct state *s) {
    enum { COUNT = 10, BYTES = 70000 };
    static unsigned char bytes[COUNT][BYTES];
    struct ofi_layout narrow = ofi_layout(4, (uint32_t)s->size, 64), wide = ofi_layout(8, 0, 0);
    int none[] = {(int)ofi_no_tag(&narrow), (int)ofi_no_tag(&wide)};
    const int is[COUNT] = {0, 1, none[0] - 1, none[0], none[0] + 1, none[1] - 1, none[1],
                           none[1] + 1, INT32_MAX, 5};
    int next = (s->rank + 1) % s->size, last = (s->rank + s->size - 1) % s->size;
    fly_win *win;
    unsigned char *base;
    OK(fly_win_allocate(fly_world(s->rt), sizeof bytes, 1, 0, (void **)&base, &win));
    for (int i = 0; i < COUNT; i++) {
        size_t size = i % 2 == 0 ? BYTES : 50;
        fill(bytes[i], size, s->rank, i);
        OK(fly_put_notify(win, bytes[i], size, next, (uint64_t)i * BYTES, is[i]));
    }
    for (int i = 0; i < COUNT; i++) {
        one(s, win, last, is[i]);
        same(s, base + (size_t)i * BYTES, i % 2 == 0 ? BYTES : 50, last, i);
    }
    OK(fly_win_free(&win));
}

/* More bytes than some providers take at once (verbs over soft-RoCE: 8 MiB). */
static int huge(const fly_boot *boot, void *context) {
    enum { BYTES = (17 << 20) + 5 };
    static unsigned char bytes[BYTES];
    struct state state = {.rank = boot->rank, .size = boot->size}, *s = &state;
    int next = (s->rank + 1) % s->size, last = (s->rank + s->size - 1) % s->size;
    fly_config config = {.transports = "ofi"};
    fly_win *win;
    unsigned char *base;
    (void)context;
    OK(fly_init(boot, &config, &s->rt));
    OK(fly_win_allocate(fly_world(s->rt), BYTES, 1, 0, (void **)&base, &win));
    fill(bytes, BYTES, s->rank, 1);
    OK(fly_put_notify(win, bytes, BYTES, next, 0, 1));
    one(s, win, last, 1);
    same(s, base, BYTES, last, 1);
    OK(fly_fence(win));
    OK(fly_get(win, bytes, BYTES, last, 0));
    OK(fly_flush_local(win, last));
    same(s, bytes, BYTES, (last + s->size - 1) % s->size, 1);
    OK(fly_win_free(&win));
    OK(fly_finalize(&s->rt));
    return 0;
}

/* Writes, blocks (which are packets), atomics and gets of the same bytes take effect in the order
   of the calls, without a flush between them. */
static void in_order(struct state *s) {
    static uint64_t words[64], got[64], blocks[64];
    static const fly_shape TWO = {2, 8, 16}, DENSE = {2, 8, 8};
    int next = (s->rank + 1) % s->size, last = (s->rank + s->size - 1) % s->size;
    fly_win *win;
    uint64_t *base, old = 0;
    OK(fly_win_allocate(fly_world(s->rt), sizeof words, 8, 0, (void **)&base, &win));
    for (uint64_t round = 1; round <= 40; round++) {
        for (int i = 0; i < 64; i++) words[i] = round * 100;
        blocks[0] = blocks[1] = round * 1000;
        OK(fly_put_shape(win, blocks, &DENSE, next, 0, &TWO, FLY_NO_TAG)); /* words 0 and 2 */
        OK(fly_put(win, words, sizeof words, next, 0));
        OK(fly_fetch_add(win, &old, 1, next, 1, FLY_NO_TAG));
        OK(fly_put_shape(win, blocks, &DENSE, next, 4, &TWO, FLY_NO_TAG)); /* words 4 and 6 */
        OK(fly_get(win, got, sizeof got, next, 0));
        OK(fly_put_notify(win, words, 2 * 8, next, 8, (int)round));
        OK(fly_flush_local(win, next));
        for (int i = 0; i < 64; i++) {
            uint64_t wanted = i == 1 ? round * 100 + 1 : i == 4 || i == 6 ? round * 1000
                                                                          : round * 100;
            CHECK(got[i] == wanted, "rank %d round %lu: word %d is %lu, not %lu", s->rank,
                  (unsigned long)round, i, (unsigned long)got[i], (unsigned long)wanted);
        }
        CHECK(old == round * 100, "rank %d: the word was %lu", s->rank, (unsigned long)old);
        one(s, win, last, (int)round);
        CHECK(base[1] == round * 100 + 1 && base[0] == round * 100 && base[4] == round * 1000,
              "rank %d round %lu", s->rank, (unsigned long)round);
        OK(fly_fence(win));
    }
    OK(fly_win_free(&win));
}

static int moves(const fly_boot *boot, void *context) {
    struct state state = {.rank = boot->rank, .size = boot->size}, *s = &state;
    fly_config config = {.transports = "ofi"};
    (void)context;
    OK(fly_init(boot, &config, &s->rt));
    come_and_go(s);
    many(s);
    tags(s);
    in_order(s);
    OK(fly_finalize(&s->rt));
    return 0;
}

/* Large puts and gets are in flight when rank 1 dies: the others notice it, and free everything. */
static int dying(const fly_boot *boot, void *context) {
    struct state state = {.rank = boot->rank, .size = boot->size}, *s = &state;
    static unsigned char bytes[LARGE], got[LARGE];
    fly_config config = {.transports = "ofi"};
    fly_win *win = NULL;
    void *base;
    int code = fly_init(boot, &config, &s->rt);
    (void)context;
    if (code != FLY_OK) return 0; /* killed that early: said, and left */
    code = fly_win_allocate(fly_world(s->rt), LARGE, 1, 0, &base, &win);
    for (int i = 0; code == FLY_OK; i++) {
        int to = i % s->size;
        code = fly_put_notify(win, bytes, LARGE - (size_t)(i % 1000), to, 0, 3);
        if (code == FLY_OK && i % 3 == 0) code = fly_get(win, got, LARGE, to, 0);
        if (code == FLY_OK && i % 5 == 0) code = fly_flush_local(win, to);
        fly_req *req;
        int flag;
        if (code == FLY_OK) code = fly_notify_init(win, FLY_ANY_SOURCE, 3, 1, &req);
        if (code != FLY_OK) break;
        OK(fly_start(req));
        OK(fly_test(req, &flag, NULL));
        if (!flag) OK(fly_cancel(req, NULL));
        OK(fly_req_free(&req));
    }
    CHECK(code == FLY_ERR_PEER, "rank %d: %d: %s", s->rank, code, fly_last_error(NULL));
    if (win != NULL) CHECK(fly_win_free(&win) == FLY_ERR_PEER && win == NULL, "win_free");
    CHECK(fly_finalize(&s->rt) == FLY_ERR_PEER && s->rt == NULL, "finalize");
    return 0;
}

static void until(const int *word) {
    struct timespec nap = {0, 1000000};
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) nanosleep(&nap, NULL);
}

/* Rank 1 polls its memory without calling the library: does the last byte arrive? If it must not,
   a while is enough to show that. */
static int landing(const fly_boot *boot, void *context) {
    struct state state = {.rank = boot->rank, .size = boot->size}, *s = &state;
    static unsigned char bytes[70000];
    const bool lands = *(const bool *)context;
    struct timespec nap = {0, 1000000};
    fly_config config = {.transports = "ofi"};
    fly_win *win;
    unsigned char *base;
    OK(fly_init(boot, &config, &s->rt));
    OK(fly_win_allocate(fly_world(s->rt), sizeof bytes, 1, 0, (void **)&base, &win));
    OK(fly_fence(win));
    if (s->rank == 1) {
        __atomic_store_n(&shared[0], 1, __ATOMIC_RELEASE);
        const unsigned char *end = &base[sizeof bytes - 1];
        for (int i = 0; i < (lands ? VAIN_S * 1000 : 300); i++) {
            if (__atomic_load_n(end, __ATOMIC_ACQUIRE) != 0) break;
            nanosleep(&nap, NULL);
        }
        bool there = __atomic_load_n(end, __ATOMIC_ACQUIRE) != 0;
        CHECK(there == lands, "the bytes have%s landed", there ? "" : " not");
    } else {
        memset(bytes, 1, sizeof bytes);
        until(&shared[0]);
        OK(fly_put_notify(win, bytes, sizeof bytes, 1, 0, 9));
        OK(fly_flush(win, 1));
    }
    if (s->rank == 1) {
        one(s, win, 0, 9);
        CHECK(base[0] == 1 && base[sizeof bytes - 1] == 1, "the bytes are not there");
    }
    OK(fly_win_free(&win));
    OK(fly_finalize(&s->rt));
    return 0;
}

/* The error of fly_init with this path has these words. */
static int refused(const fly_boot *boot, void *context) {
    fly_config config = {.transports = "ofi"};
    fly_rt *rt;
    int code = fly_init(boot, &config, &rt);
    CHECK(code == FLY_ERR_ARG || code == FLY_ERR_TRANSPORT, "%d", code);
    CHECK(rt == NULL && strstr(fly_last_error(NULL), context) != NULL, "%s", fly_last_error(NULL));
    return 0;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    bool lands = strcmp(what, "lands") == 0;
    int result = 2;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED, "mmap");
    if (strcmp(what, "notices") == 0) result = notices();
    if (strcmp(what, "moves") == 0)
        result = run_processes((int)argument(count, words, 2, 2), moves, NULL);
    if (strcmp(what, "huge") == 0) result = run_processes(2, huge, NULL);
    if (strcmp(what, "kill") == 0)
        result = run_and_kill(3, dying, NULL, 1,
                              (unsigned)(argument(count, words, 2, 1) * 77777 % 150000));
    if (lands || strcmp(what, "stays") == 0) result = run_processes(2, landing, &lands);
    if (strcmp(what, "refused") == 0 && count > 3) {
        setenv("FLYLOOM_OFI_PATH", words[2], 1);
        result = run_processes(2, refused, words[3]);
    }
    CHECK(result == 0, "result %d", result);
    printf("write_test: %s\n", what);
    return 0;
}
