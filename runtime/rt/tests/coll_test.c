/* Collectives with random arguments, every algorithm of each, in every form and several at once.
 *
 *   coll_test TRANSPORTS threads|processes FIRST LAST [TRIALS [SEED [MOST [CHOICE]]]]
 *
 * For each number of ranks from FIRST to LAST; CHOICE as for FLYLOOM_COLL, or all in turn.
 */
#include <stdbool.h>
#include <string.h>

#include "coll_trial.h"
#include "ranks.h"

enum { AT_ONCE = 5, EPOCHS = 3 };

struct options {
    const char *transports;
    uint64_t trials, seed, most;
};

static const char *const CHOICES[] = {
    "",
    "barrier=dissemination:1,bcast=binomial,reduce=binomial,allreduce=doubling,allgather=ring,"
    "gather=linear,scatter=linear,reduce_scatter=ring,alltoall=linear,alltoallv=linear,"
    "alltoallw=linear,scan=doubling",
    "barrier=tree,bcast=pipeline:100,reduce=pipeline:100,allreduce=ring,allgather=bruck,"
    "gather=binomial,scatter=binomial,reduce_scatter=linear,alltoall=pairwise,"
    "alltoallv=pairwise,alltoallw=pairwise,scan=chain",
    "barrier=dissemination:3,bcast=pipeline,reduce=pipeline,allreduce=rabenseifner,"
    "reduce_scatter=tree,alltoall=bruck",
    "barrier=dissemination:2,allreduce=tree",
    "barrier=dissemination:4,allreduce=linear",
};

/* Makes calls, waits and checks; non-blocking ones end in an order that this rank draws. */
static void together(struct trial *trials, size_t count, enum form form, uint64_t *own) {
    fly_req *reqs[AT_ONCE];
    for (size_t i = 0; i < count; i++) {
        trial_fill(&trials[i], 0);
        CHECK(trial_call(&trials[i], form, &reqs[i]) == FLY_OK, "%s: %s",
              trial_name(&trials[i]), fly_last_error(NULL));
    }
    for (uint64_t epoch = 0; epoch < (form == PERSISTENT ? EPOCHS : 1); epoch++) {
        bool ended[AT_ONCE] = {false};
        for (size_t i = 0; i < count && form == PERSISTENT; i++) {
            if (epoch > 0) trial_fill(&trials[i], epoch);
            CHECK(fly_start(reqs[i]) == FLY_OK, "%s", fly_last_error(NULL));
        }
        for (size_t left = count; left > 0;) {
            size_t i = (size_t)below(own, count);
            int flag = 1;
            if (ended[i]) continue;
            if (below(own, 2) == 0)
                CHECK(fly_test(reqs[i], &flag, NULL) == FLY_OK, "%s", fly_last_error(NULL));
            else
                CHECK(fly_wait(reqs[i], NULL) == FLY_OK, "%s", fly_last_error(NULL));
            if (!flag) continue;
            trial_check(&trials[i], epoch);
            ended[i] = true;
            left--;
        }
    }
    for (size_t i = 0; i < count; i++)
        CHECK(fly_req_free(&reqs[i]) == FLY_OK, "%s", fly_last_error(NULL));
}

static int body(const fly_boot *boot, void *context) {
    const struct options *options = context;
    fly_config config = {.transports = options->transports};
    fly_rt *rt;
    uint64_t random = options->seed, own = options->seed + (uint64_t)boot->rank * 1000 + 1;
    CHECK(fly_init(boot, &config, &rt) == FLY_OK, "%s", fly_last_error(NULL));
    for (uint64_t n = 0; n < options->trials; n++) {
        struct trial trials[AT_ONCE];
        enum form form = (enum form)below(&random, 3);
        size_t count = form == BLOCKING ? 1 : 1 + below(&random, AT_ONCE);
        for (size_t i = 0; i < count; i++)
            trial_draw(&trials[i], fly_world(rt), boot->rank, boot->size, draw(&random),
                       options->most);
        if (form == BLOCKING) {
            for (uint64_t epoch = 0; epoch < 2; epoch++) { /* the second is kept */
                trial_fill(&trials[0], epoch);
                CHECK(trial_call(&trials[0], BLOCKING, NULL) == FLY_OK, "%s: %s",
                      trial_name(&trials[0]), fly_last_error(NULL));
                trial_check(&trials[0], epoch);
            }
        } else {
            together(trials, count, form, &own);
        }
        for (size_t i = 0; i < count; i++) trial_end(&trials[i]);
    }
    CHECK(fly_finalize(&rt) == FLY_OK, "%s", fly_last_error(NULL));
    return 0;
}

int main(int count, char **words) {
    CHECK(count > 4, "coll_test TRANSPORTS threads|processes FIRST LAST [TRIALS [SEED [MOST]]]");
    struct options options = {words[1], argument(count, words, 5, 40),
                              argument(count, words, 6, 1), argument(count, words, 7, 3000)};
    bool threads = strcmp(words[2], "threads") == 0;
    int runs = 0;
    for (int size = atoi(words[3]); size <= atoi(words[4]); size++) {
        for (size_t c = 0; c < sizeof CHOICES / sizeof *CHOICES; c++) {
            const char *choice = count > 8 ? words[8] : CHOICES[c];
            setenv("FLYLOOM_COLL", choice, 1);
            int result = threads ? run_threads(size, body, &options)
                                 : run_processes(size, body, &options);
            CHECK(result == 0, "%d ranks, %s: result %d", size, choice, result);
            options.seed += 1000003;
            runs++;
            if (count > 8) break;
        }
    }
    printf("coll_test: %s, %d runs of %lu trials\n", words[1], runs,
           (unsigned long)options.trials);
    return 0;
}
