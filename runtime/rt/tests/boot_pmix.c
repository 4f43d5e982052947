/* Started by a launcher that speaks PMIx: every rank sends its square to every other, with two
 * bootstraps in turn.
 *
 *   boot_pmix [none]: "none" if no launcher has started it, which must be reported
 */
#include "flyloom_pmix.h"

#include "check.h"

#define OK(call) CHECK((call) == FLY_OK, "%s", fly_last_error(NULL))

static void once(void) {
    fly_boot boot;
    fly_rt *rt;
    fly_win *win;
    fly_req *req;
    fly_status status;
    uint64_t *base, own;
    OK(fly_pmix_boot(&boot));
    OK(fly_init(&boot, NULL, &rt));
    OK(fly_win_allocate(fly_world(rt), (size_t)boot.size * 8, 8, 0, (void **)&base, &win));
    own = (uint64_t)boot.rank * (uint64_t)boot.rank;
    OK(fly_notify_init(win, FLY_ANY_SOURCE, 1, (uint64_t)boot.size, &req));
    OK(fly_start(req));
    for (int r = 0; r < boot.size; r++)
        OK(fly_put_notify(win, &own, sizeof own, r, (uint64_t)boot.rank, 1));
    OK(fly_wait(req, &status));
    for (int r = 0; r < boot.size; r++)
        CHECK(base[r] == (uint64_t)r * (uint64_t)r, "of rank %d: %lu", r, (unsigned long)base[r]);
    OK(fly_req_free(&req));
    OK(fly_win_free(&win));
    OK(fly_finalize(&rt));
    if (boot.rank == 0) printf("%d ranks, all squares\n", boot.size);
    fly_pmix_boot_free(&boot);
}

int main(int count, char **words) {
    fly_boot boot;
    if (count > 1 && strcmp(words[1], "none") == 0) {
        CHECK(fly_pmix_boot(&boot) == FLY_ERR_STATE, "no launcher");
        CHECK(fly_pmix_boot(NULL) == FLY_ERR_ARG, "no boot");
        return 0;
    }
    once();
    once();
    return 0;
}
