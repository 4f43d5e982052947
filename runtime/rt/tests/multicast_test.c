/* Broadcasts by multicast: every byte is right whatever happens to datagrams; repair costs what was
 * lost.
 *
 *   multicast_test TRANSPORTS threads|processes RANKS COUNT [SEED [MOST [ARITY]]]
 *   multicast_test TRANSPORTS repair RANKS COUNT [SEED [MOST [ARITY]]]   root 0, sizes MOST
 *   multicast_test TRANSPORTS refused|unlike RANKS [COUNT]   prints why it is not open; broadcasts
 *       use another algorithm. Unlike: the last rank's FLYLOOM_MULTICAST is 0
 *   multicast_test TRANSPORTS kill RANKS COUNT [SEED]
 *   multicast_test TRANSPORTS forged RANKS COUNT [SEED [MOST]]   root 0, sizes MOST; before each
 *       an attacker who has the token sends all of it to the group, with other bytes, as rank 0
 *
 * Sizes go up to MOST bytes, with any root, several at once and on two teams, in every form, with
 * ranks that come late; ARITY is that of the tree of repair. FLYLOOM_MULTICAST, "1%lo" unless
 * it is set, names the group; FLYLOOM_MULTICAST_FAULTS what happens to datagrams. Skipped (77)
 * where the machine has no multicast there.
 */
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "coll/mark.h"
#include "coll/multicast.h"
#include "flyloom_coll.h"
#include "ranks.h"

enum { AT_ONCE = 4, GUARD = 16, LATE_US = 3000 };
enum what { RANDOM, REPAIR, REFUSED, UNLIKE, MORTAL, FORGED };

struct options {
    const char *transports;
    enum what what;
    uint64_t count, seed, most;
};

struct cast { /* one broadcast */
    fly_team *team;
    int root;
    size_t bytes;
    uint64_t seed;
    unsigned char *data;
};

static unsigned char byte_of(uint64_t seed, size_t i) {
    uint64_t word = (seed + i / 8) * UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned char)((word ^ word >> 29) >> (8 + i % 8 * 6));
}

static void fill(struct cast *cast, int rank) {
    memset(cast->data, 0xA5, cast->bytes + 2 * GUARD);
    for (size_t i = 0; rank == cast->root && i < cast->bytes; i++)
        cast->data[GUARD + i] = byte_of(cast->seed, i);
}

static void check(const struct cast *cast, int rank) {
    for (size_t i = 0; i < cast->bytes + 2 * GUARD; i++) {
        bool inside = i >= GUARD && i < cast->bytes + GUARD;
        unsigned char wanted = inside ? byte_of(cast->seed, i - GUARD) : 0xA5;
        CHECK(cast->data[i] == wanted, "rank %d, root %d: byte %ld of %zu", rank, cast->root,
              (long)i - GUARD, cast->bytes);
    }
}

static size_t draw_bytes(uint64_t *random, uint64_t most) {
    uint64_t how = below(random, 10), span = most;
    while (how > 0 && span > 8 && below(random, 3) != 0) span /= 4;
    return (size_t)(how == 0 ? below(random, 2) * most : below(random, span + 1));
}

static void be_late(uint64_t *own) {
    if (below(own, 12) == 0) usleep((useconds_t)below(own, LATE_US));
}

/* Runs a few in one form; non-blocking ones end in an order that this rank draws. */
static int together(struct cast *casts, int count, int form, int rank, uint64_t *own) {
    fly_req *reqs[AT_ONCE] = {NULL};
    int code = FLY_OK;
    for (int i = 0; i < count && code == FLY_OK; i++) {
        struct cast *c = &casts[i];
        void *data = c->data + GUARD;
        be_late(own);
        if (form == 0) code = fly_bcast(c->team, data, c->bytes, c->root);
        if (form == 1) code = fly_ibcast(c->team, data, c->bytes, c->root, &reqs[i]);
        if (form == 2) code = fly_bcast_init(c->team, data, c->bytes, c->root, &reqs[i]);
    }
    for (int again = 0; again < (form == 2 ? 2 : 1); again++) {
        for (int i = 0; i < count && form == 2 && code == FLY_OK; i++) {
            casts[i].seed += (uint64_t)again;
            fill(&casts[i], rank);
            be_late(own);
            code = fly_start(reqs[i]);
        }
        int first = (int)below(own, (uint64_t)count);
        for (int k = 0; k < count; k++) {
            int i = (first + k) % count, one = FLY_OK;
            be_late(own);
            if (reqs[i] != NULL) one = fly_wait(reqs[i], NULL);
            if (code == FLY_OK) code = one;
            if (code == FLY_OK) check(&casts[i], rank);
        }
    }
    for (int i = 0; i < count; i++)
        if (reqs[i] != NULL)
            CHECK(fly_req_free(&reqs[i]) == FLY_OK, "%s", fly_last_error(NULL));
    return code;
}

/* Sums over the ranks how much was asked for again, and dropped on purpose at non-roots. */
static void count_repairs(fly_team *team, int rank, uint64_t count) {
    static const fly_fold SUM = {.type = FLY_UINT64, .op = FLY_SUM};
    fly_multicast facts;
    CHECK(fly_multicast_query(team, &facts) == FLY_OK, "%s", fly_last_error(NULL));
    uint64_t mine[] = {rank == 0 ? 0 : facts.dropped, facts.asked, facts.repaired, facts.taken,
                       facts.sent};
    uint64_t all[5];
    CHECK(fly_allreduce(team, mine, all, 5, &SUM) == FLY_OK, "%s", fly_last_error(NULL));
    if (rank == 0)
        printf("%lu broadcasts: sent %lu, taken %lu, lost %lu, asked %lu, repaired %lu\n",
               (unsigned long)count, (unsigned long)all[4], (unsigned long)all[3],
               (unsigned long)all[0], (unsigned long)all[1], (unsigned long)all[2]);
    CHECK(all[1] == all[2], "asked %lu, repaired %lu", (unsigned long)all[1],
          (unsigned long)all[2]);
    CHECK(all[2] <= all[0] + all[0] / 2, "repaired %lu of %lu lost", (unsigned long)all[2],
          (unsigned long)all[0]);
}

/* What an attacker in the group can do who has seen its datagrams: sends the fragments of the next
   broadcast but one in advance. */
static void forge(const fly_team *team, size_t bytes) {
    const struct fly_coll *coll = team->coll;
    uint64_t token = coll->cast->token;
    size_t piece = coll->cast->fragment_bytes;
    char why[200] = "";
    unsigned char *data = malloc(piece);
    struct fly_datagrams *link = fly_datagrams_open(getenv("FLYLOOM_MULTICAST"), &token, why,
                                                    sizeof why);
    CHECK(link != NULL && data != NULL && token == coll->cast->token, "%s", why);
    memset(data, 0x5A, piece);
    for (size_t at = 0; at < bytes; at += piece) {
        struct fly_cast_head head = {token, coll->next + 1, (uint32_t)(at / piece), 0};
        CHECK(link->ops->send(link, &head, sizeof head, data,
                              bytes - at < piece ? bytes - at : piece), "send");
    }
    link->ops->close(link);
    free(data);
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    fly_config config = {.transports = options->transports};
    uint64_t random = options->seed, own = options->seed + 77 * (uint64_t)boot->rank;
    int rank = boot->rank, code = FLY_OK;
    fly_team *teams[2];
    fly_multicast facts;
    fly_rt *rt;
    bool unlike = options->what == UNLIKE;
    if (unlike && rank == boot->size - 1) setenv("FLYLOOM_MULTICAST", "0", 1); /* a process */
    code = fly_init(boot, &config, &rt);
    CHECK(code == FLY_OK, "%s", fly_last_error(NULL));
    rank_has_begun();
    teams[0] = teams[1] = fly_world(rt);
    if (options->what == RANDOM)
        CHECK(fly_team_create(rt, boot, &teams[1]) == FLY_OK, "%s", fly_last_error(NULL));
    for (uint64_t n = 0; code == FLY_OK && (n < options->count || options->what == MORTAL);) {
        struct cast casts[AT_ONCE];
        bool plain = options->what == REPAIR || options->what == FORGED;
        int form = plain ? 0 : (int)below(&random, 3);
        int count = form == 0 ? 1 : 1 + (int)below(&random, AT_ONCE);
        for (int i = 0; i < count; i++) {
            struct cast *c = &casts[i];
            c->team = teams[below(&random, 2)];
            c->root = plain ? 0 : (int)below(&random, (uint64_t)boot->size);
            c->bytes = plain ? options->most : draw_bytes(&random, options->most);
            c->seed = draw(&random);
            c->data = malloc(c->bytes + 2 * GUARD);
            fill(c, rank);
        }
        if (options->what == FORGED) {
            CHECK(fly_barrier(teams[0]) == FLY_OK, "%s", fly_last_error(NULL));
            if (rank == boot->size - 1) forge(teams[0], options->most);
            CHECK(fly_barrier(teams[0]) == FLY_OK, "%s", fly_last_error(NULL));
        }
        code = together(casts, count, form, rank, &own);
        for (int i = 0; i < count; i++) free(casts[i].data);
        n += (uint64_t)count;
    }
    if (options->what == MORTAL) {
        CHECK(code == FLY_ERR_PEER, "%d: %s", code, fly_last_error(NULL));
        CHECK(fly_bcast(teams[0], &code, sizeof code, 0) == FLY_ERR_PEER, "a team with a death");
        CHECK(fly_finalize(&rt) == FLY_ERR_PEER && rt == NULL, "finalize");
        return 0;
    }
    CHECK(code == FLY_OK, "rank %d: %s", rank, fly_last_error(NULL));
    CHECK(fly_multicast_query(teams[0], &facts) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(facts.open == !(unlike || options->what == REFUSED), "rank %d: open %d: %s", rank,
          facts.open, facts.text);
    if (!facts.open) printf("rank %d: %s\n", rank, facts.text);
    if (options->what == REPAIR) count_repairs(teams[0], rank, options->count);
    if (teams[1] != teams[0])
        CHECK(fly_team_free(&teams[1]) == FLY_OK, "%s", fly_last_error(NULL));
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    return 0;
}

/* Whether a datagram that is sent comes back, tested without the library. */
static bool there(const char *where) {
    uint64_t token = 0, got = 0, source;
    char why[200] = "";
    struct fly_datagrams *link = fly_datagrams_open(where, &token, why, sizeof why);
    if (link != NULL) {
        link->ops->send(link, &token, sizeof token, NULL, 0);
        for (int i = 0; i < 1000 && got != token; i++) {
            usleep(1000);
            link->ops->receive(link, &got, sizeof got, &source);
        }
        link->ops->close(link);
        if (got == token) return true;
    }
    printf("multicast_test: skipped: no multicast at %s: %s\n", where, why);
    return false;
}

/* The paper's test vectors, for no bytes and for eight. */
static void check_marks(void) {
    static const uint64_t KEY[] = {UINT64_C(0x0706050403020100), UINT64_C(0x0F0E0D0C0B0A0908)};
    CHECK(fly_mark(KEY, NULL, 0) == UINT64_C(0x726FDB47DD0E0E31), "of nothing");
    CHECK(fly_mark(KEY, KEY, 1) == UINT64_C(0x93F5F5799A932462), "of a word");
}

/* Runs several times, with another victim at another time in each. */
static int kill_some(struct options *options, int ranks) {
    uint64_t random = options->seed;
    int result = 0;
    for (uint64_t i = 0; i < options->count && result == 0; i++) {
        unsigned after = (unsigned)below(&random, 180000);
        int victim = (int)below(&random, (uint64_t)ranks);
        result = run_and_kill_begun(ranks, body, options, victim, after);
    }
    return result;
}

int main(int count, char **words) {
    CHECK(count > 3, "multicast_test TRANSPORTS threads|processes|repair|refused|kill RANKS ...");
    struct options options = {.transports = words[1], .count = argument(count, words, 4, 20)};
    const char *mode = words[2];
    options.seed = argument(count, words, 5, 1);
    options.most = argument(count, words, 6, 1 << 20);
    int ranks = atoi(words[3]), result;
    char choice[64];
    setenv("FLYLOOM_MULTICAST", "1%lo", 0);
    snprintf(choice, sizeof choice, count > 7 ? "bcast=multicast:%s" : "bcast=multicast", words[7]);
    setenv("FLYLOOM_COLL", choice, 0);
    if (strcmp(mode, "refused") == 0)
        options.what = REFUSED;
    else if (strcmp(mode, "unlike") == 0)
        options.what = UNLIKE;
    else if (getenv("FLYLOOM_TEST_NODES") == NULL && getenv("FLYLOOM_TEST_PLACES") == NULL &&
             !there(getenv("FLYLOOM_MULTICAST")))
        return 77;
    check_marks();
    if (strcmp(mode, "repair") == 0) options.what = REPAIR;
    if (strcmp(mode, "forged") == 0) options.what = FORGED;
    if (strcmp(mode, "kill") == 0) options.what = MORTAL;
    if (options.what == MORTAL)
        result = kill_some(&options, ranks);
    else if (strcmp(mode, "threads") == 0)
        result = run_threads(ranks, body, &options);
    else
        result = run_processes(ranks, body, &options);
    CHECK(result == 0, "result %d", result);
    printf("multicast_test: %s %s %d\n", words[1], mode, ranks);
    return 0;
}
