/* The runtime: how it starts, how each peer is reached, and how it ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agree.h"
#include "boot_files.h"
#include "coll/call.h"
#include "error.h"
#include "names.h"
#include "objects.h"
#include "progress.h"
#include "record_report.h"
#include "runtime.h"
#include "settings.h"
#include "state.h"
#include "team.h"

/* Up to this many ranks, each connects to all others at the start. */
enum { GREET_MOST = 64 };
/* A transport opens fewer files than this, not counting those for each peer. */
enum { FILES_FEW = 32 };
/* How often a wait looks at the rings of the node before it polls all transports: often where there
   is no other transport and no rank needs the processor, else rarely. Beside another transport, one
   wait in WAITS_BESIDE polls all transports in any case. */
enum { LOOKS_ALONE = 256, LOOKS_BESIDE = 16, WAITS_BESIDE = 8 };
static const uint64_t MAGIC = UINT64_C(0x666C796C6F6F6D32);

struct start {
    struct fly_rt *rt;
    int order[FLY_CARRIERS], count;
    struct fly_hello mine, *all;
    struct fly_carrier *made[FLY_CARRIERS]; /* in the order of preference */
    char why[300]; /* the reasons for which transports do not work here */
    bool used_up;  /* a reason was a lack of memory or files */
};

/* Whether this process may open too few files for a transport. A library that could open none often
   reports another reason. */
static bool files_used_up(void) {
    int files[FILES_FEW], made = 0;
    while (made < FILES_FEW && (files[made] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0)
        made++;
    bool few = made < FILES_FEW && (errno == EMFILE || errno == ENFILE);
    while (made > 0) close(files[--made]);
    return few;
}

static int check_boot(const fly_boot *boot) {
    if (boot->allgather == NULL) return fly_fail(FLY_ERR_ARG, "fly_init: boot: allgather is NULL");
    if (boot->size < 1 || boot->rank < 0 || boot->rank >= boot->size)
        return fly_fail(FLY_ERR_ARG, "fly_init: boot: rank %d of %d must be 0 to size - 1",
                        boot->rank, boot->size);
    return FLY_OK;
}

/* Packs the order of transports, four bits each, so that ranks can compare their orders. */
static uint32_t order_word(const struct start *start) {
    uint32_t word = 0;
    for (int i = 0; i < start->count; i++) word |= (uint32_t)(start->order[i] + 1) << (4 * i);
    return word;
}

static void prepare(struct start *start, bool late) {
    struct fly_rt *rt = start->rt;
    for (int i = 0; i < start->count; i++) {
        const struct fly_carrier_ops *ops = fly_transports[start->order[i]];
        if (ops->late != late) continue;
        int code = ops->prepare(rt, &start->mine, &start->made[i]);
        if (code == FLY_OK) {
            start->mine.works |= 1U << i;
        } else {
            bool few = code != FLY_ERR_NOMEM && files_used_up();
            start->used_up |= code == FLY_ERR_NOMEM || few;
            size_t used = strlen(start->why);
            start->made[i] = NULL;
            snprintf(start->why + used, sizeof start->why - used, "; %s%s", fly_last_error(rt),
                     few ? ", where few more files may be open (ulimit -n)" : "");
        }
    }
}

static int compare(const struct start *start) {
    const struct fly_hello *mine = &start->mine;
    if (mine->error != FLY_OK) return mine->error;
    for (int r = 0; r < start->rt->size; r++) {
        const struct fly_hello *other = &start->all[r];
        if (other->magic != MAGIC || other->abi != FLY_ABI)
            return fly_fail(FLY_ERR_ARG, "fly_init: rank %d has another version of the library", r);
        if (other->error != FLY_OK)
            return fly_fail(other->error, "fly_init: rank %d: %s", r, fly_strerror(other->error));
        if (other->order != mine->order)
            return fly_fail(FLY_ERR_ARG, "fly_init: transports: those of rank %d differ", r);
    }
    return FLY_OK;
}

static bool works(const struct start *start, int i, int r) {
    const struct fly_carrier *c = start->made[i];
    return c != NULL && (start->all[r].works & 1U << i) != 0 &&
           c->ops->reaches(c, &start->mine, &start->all[r]);
}

static int gather_hellos(struct start *start) {
    return fly_boot_gather(&start->rt->boot, "fly_init", &start->mine, start->all,
                           sizeof start->mine);
}

/* Prepares costly transports, if at some rank the others do not reach all peers. */
static int prepare_late(struct start *start) {
    struct fly_rt *rt = start->rt;
    bool any_late = false;
    int32_t missing = 0, *all = calloc((size_t)rt->size, sizeof *all);
    if (all == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_init: no memory");
    for (int i = 0; i < start->count; i++) any_late |= fly_transports[start->order[i]]->late;
    for (int r = 0; r < rt->size; r++) {
        bool reached = false;
        for (int i = 0; i < start->count && !reached; i++) reached = works(start, i, r);
        missing |= !reached;
    }
    int code = FLY_OK;
    if (any_late) code = fly_boot_gather(&rt->boot, "fly_init", &missing, all, sizeof missing);
    bool wanted = false;
    for (int r = 0; r < rt->size; r++) wanted |= all[r] != 0;
    free(all);
    if (code != FLY_OK || !any_late || !wanted) return code;
    prepare(start, true);
    return gather_hellos(start);
}

/* Chooses for each peer the first transport of the order that works at both ends and reaches it. */
static int choose(struct start *start) {
    struct fly_rt *rt = start->rt;
    bool used[FLY_CARRIERS] = {false};
    for (int r = 0; r < rt->size; r++) {
        struct fly_peer *peer = &rt->peers[r];
        for (int i = 0; i < start->count && peer->via == NULL; i++) {
            if (!works(start, i, r)) continue;
            peer->via = start->made[i];
            used[i] = true;
        }
        if (peer->via == NULL)
            return fly_fail(start->used_up ? FLY_ERR_NOMEM : FLY_ERR_TRANSPORT,
                            "fly_init: transports: none of \"%s\" reaches rank "
                            "%d%s", rt->settings.transports == NULL ? "shm,ofi,msg"
                                                                    : rt->settings.transports, r,
                            start->why);
        peer->quota[FLY_CLASS_NOTE].limit = start->all[r].credits;
        peer->quota[FLY_CLASS_OTHER].limit = FLY_OTHER_CREDITS;
        for (int k = 0; k < FLY_CLASSES; k++) peer->quota[k].returned = &peer->quota[k].back;
        fly_give_next(rt, peer);
    }
    for (int i = 0; i < start->count; i++) {
        if (used[i]) {
            rt->carriers[rt->carrier_count++] = start->made[i];
            start->made[i] = NULL;
        }
    }
    return FLY_OK;
}

/* Whether an error has its cause at others. A rank with an error of its own leaves, and then looks
   to the others as if it had died. */
static bool is_of_others(int code) {
    return code == FLY_OK || code == FLY_ERR_PEER || code == FLY_ERR_TIMEOUT;
}

int fly_all_could(struct fly_rt *rt, const char *what, int code) {
    int32_t mine = code, *all = calloc((size_t)rt->size, sizeof *all);
    if (all == NULL) return fly_fail(FLY_ERR_NOMEM, "%s: no memory", what);
    int gathered = fly_boot_gather(&rt->boot, what, &mine, all, sizeof mine);
    if (gathered != FLY_OK && is_of_others(code)) code = gathered;
    for (int r = 0; r < rt->size && gathered == FLY_OK && is_of_others(code); r++)
        if (all[r] != FLY_OK && (code == FLY_OK || !is_of_others(all[r])))
            code = fly_fail(all[r], "%s: rank %d: %s", what, r, fly_strerror(all[r]));
    free(all);
    return code;
}

/* How many ranks of this node there are for each processor that they may use, rounded up. */
static int crowd(const struct start *start) {
    int near = 0;
    struct fly_processors *of = malloc((size_t)start->rt->size * sizeof *of);
    if (of == NULL) return 1;
    for (int r = 0; r < start->rt->size; r++)
        if (memcmp(start->all[r].node, start->mine.node, sizeof start->mine.node) == 0)
            of[near++] = start->all[r].processors;
    int worst = fly_processors_crowd(of, near);
    free(of);
    return worst;
}

static int connect_all(struct start *start) {
    struct fly_rt *rt = start->rt;
    struct fly_hello *mine = &start->mine;
    mine->magic = MAGIC;
    mine->abi = FLY_ABI;
    mine->credits = rt->settings.credits;
    mine->pid = (uint64_t)getpid();
    fly_node_tell(mine); /* an unknown node counts as that of all unknown ones */
    fly_processors_read("/sys/fs/cgroup", "/proc/self/cgroup", &mine->processors);
    if (mine->error == FLY_OK) {
        mine->order = order_word(start);
        prepare(start, false);
    }
    start->all = calloc((size_t)rt->size, sizeof *start->all);
    if (start->all == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_init: no memory");
    int code = gather_hellos(start);
    if (code != FLY_OK) return code;
    code = compare(start);
    if (code != FLY_OK) return code; /* all ranks compare the same data: they all fail */
    rt->crowd = crowd(start);
    rt->crowded = rt->crowd > 1;
    code = prepare_late(start);
    if (code == FLY_OK) code = choose(start);
    code = fly_all_could(rt, "fly_init", code);
    if (code != FLY_OK) return code;
    for (int i = 0; i < rt->carrier_count && code == FLY_OK; i++)
        code = rt->carriers[i]->ops->connect(rt->carriers[i], start->all);
    for (int i = 0; i < rt->carrier_count; i++)
        rt->unheard |= rt->carriers[i]->ops->ends_unheard;
    if (rt->carrier_count == 1 && rt->carriers[0]->ops->spin != NULL) rt->only = rt->carriers[0];
    return fly_all_could(rt, "fly_init", code);
}

static void *progress_thread(void *context) {
    struct fly_rt *rt = context;
    struct fly_pause pause = {.rt = rt};
    fly_enter(rt);
    while (!rt->stopping) fly_wait_more(&pause);
    fly_leave(rt);
    return NULL;
}

static int make_ready(struct fly_rt *rt) {
    pthread_mutexattr_t plain;
    pthread_mutexattr_init(&plain);
    pthread_mutex_init(&rt->lock, &plain);
    pthread_mutexattr_destroy(&plain);
    rt->pending_free = UINT32_MAX;
    rt->next_object = 1;
    rt->peers = calloc((size_t)rt->size, sizeof *rt->peers);
    if (rt->peers == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_init: no memory for %d ranks",
                                           rt->size);
    int code = fly_team_set(&rt->world, rt, &rt->boot, NULL);
    return code == FLY_OK ? fly_object_add(rt, &rt->world.object) : code;
}

static void destroy(struct fly_rt *rt) {
    if (rt->threaded) {
        fly_enter(rt);
        rt->stopping = true;
        fly_leave(rt);
        pthread_join(rt->thread, NULL);
    }
    fly_coll_end(&rt->world);
    for (int i = 0; i < rt->carrier_count; i++) rt->carriers[i]->ops->close(rt->carriers[i]);
    fly_record_free(rt);
    fly_team_clear(&rt->world);
    free(rt->objects);
    free(rt->pending);
    free(rt->peers);
    pthread_mutex_destroy(&rt->lock);
    if (rt->own_boot) fly_boot_files_free(&rt->boot);
    free(rt);
}

/* Networks connect when the first message is sent, with the help of both ends. If the ranks are not
   too many, they connect now, so that later messages leave at once. Every rank is in this function,
   or in the barrier after it, until all connections are made. */
static void greet_all(struct fly_rt *rt) {
    struct fly_packet nothing = {.kind = FLY_K_VOID};
    for (int pass = 0; pass < 2 && rt->size <= GREET_MOST; pass++) {
        for (int i = 1; i < rt->size; i++) {
            int peer = (rt->rank + i) % rt->size;
            if (!rt->peers[peer].via->ops->ends_unheard) continue;
            if (pass == 0)
                fly_send(rt, peer, &nothing, NULL, 0);
            else
                fly_let_out(rt, peer);
        }
    }
}

static int start_thread(struct fly_rt *rt) {
    bool wanted = rt->settings.progress == FLY_PROGRESS_THREAD;
    rt->locked = wanted || rt->settings.threads == FLY_MULTIPLE;
    if (!wanted) return FLY_OK;
    if (pthread_create(&rt->thread, NULL, progress_thread, rt) != 0)
        return fly_fail(FLY_ERR_NOMEM, "fly_init: progress: no thread could be made");
    rt->threaded = true;
    return FLY_OK;
}

static int begin(const fly_boot *boot, const fly_config *config, fly_rt **out) {
    if (out == NULL) return fly_fail(FLY_ERR_ARG, "fly_init: rt is NULL");
    *out = NULL;
    struct fly_rt *rt = calloc(1, sizeof *rt);
    if (rt == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_init: no memory");
    struct start start = {.rt = rt};
    start.mine.error = fly_settings_read(config, &rt->settings);
    if (start.mine.error == FLY_OK)
        start.mine.error = fly_settings_transports(&rt->settings, start.order, &start.count);
    int code = FLY_OK;
    if (boot == NULL) {
        code = fly_boot_environment(&rt->boot);
        rt->own_boot = code == FLY_OK;
    } else {
        code = check_boot(boot);
        rt->boot = *boot;
    }
    if (code != FLY_OK) {
        free(rt);
        return code;
    }
    rt->rank = rt->boot.rank;
    rt->size = rt->boot.size;
    if (rt->rank == 0) fly_names_unknown(stderr);
    code = make_ready(rt);
    if (start.mine.error == FLY_OK) start.mine.error = code;
    if (rt->peers != NULL) code = connect_all(&start);
    for (int i = 0; i < start.count; i++)
        if (start.made[i] != NULL) start.made[i]->ops->close(start.made[i]);
    free(start.all);
    if (code == FLY_OK) code = start_thread(rt);
    uint64_t recorded = fly_record_wanted(rt); /* largest over all ranks: whether any wants it */
    fly_enter(rt);
    if (code == FLY_OK) greet_all(rt);
    if (code == FLY_OK) code = fly_agree(rt, &rt->world.object, &recorded);
    fly_leave(rt);
    if (code == FLY_OK && recorded != 0) code = fly_record_begin(rt, (unsigned)recorded);
    if (code != FLY_OK) {
        destroy(rt);
        return code;
    }
    rt->every = rt->only != NULL ? FLY_WATCH_TURNS : WAITS_BESIDE;
    int looks = rt->only != NULL && !rt->crowded ? LOOKS_ALONE : LOOKS_BESIDE;
    rt->rounds = rt->near == 0 ? 0 : 1 + looks / rt->near;
    for (int r = 0; r < rt->size && !rt->locked; r++)
        rt->peers[r].quick = !rt->peers[r].dead && rt->peers[r].inlet.ring.slots != NULL;
    *out = rt;
    return FLY_OK;
}

int fly_init(const fly_boot *boot, const fly_config *config, fly_rt **out) {
    uint64_t start_ns = fly_report_hush();
    int code = begin(boot, config, out);
    fly_report_speak(start_ns);
    return code;
}

static int end(fly_rt **out) {
    if (out == NULL || *out == NULL) return fly_fail(FLY_ERR_ARG, "fly_finalize: rt is NULL");
    struct fly_rt *rt = *out;
    int code = FLY_OK;
    fly_enter(rt);
    if (rt->windows != 0 || rt->teams != 0)
        code = fly_fail(FLY_ERR_STATE, "fly_finalize: rt: %zu windows and %zu teams are alive",
                        rt->windows, rt->teams);
    else if (fly_coll_busy(&rt->world))
        code = fly_fail(FLY_ERR_STATE, "fly_finalize: rt: a collective is not waited for");
    uint64_t value = (uint64_t)code;
    rt->finalizing = code == FLY_OK;
    int together = fly_agree(rt, &rt->world.object, &value);
    rt->finalizing = value == 0;
    fly_leave(rt);
    if (value != 0) {
        if (code != FLY_OK) return code;
        return fly_fail(FLY_ERR_STATE, "fly_finalize: a window, team or collective is alive at "
                        "another rank");
    }
    if (rt->record != NULL && together == FLY_OK) together = fly_record_end(rt);
    rt->leaving = together == FLY_OK;
    destroy(rt);
    *out = NULL;
    return together;
}

int fly_finalize(fly_rt **out) {
    uint64_t start_ns = fly_report_hush();
    int code = end(out);
    fly_report_speak(start_ns);
    return code;
}
