/* Reports what a program does to the recorder of MPI programs, where that is loaded, so that one
 * schedule has both: runtime/mpi/record_hooks.h.
 *
 * What this library does by MPI itself, its bootstrap and the transport msg, is not the program's:
 * the recorder leaves it out.
 */
#include "record_report.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot_files.h"
#include "error.h"
#include "progress.h"

static const struct flyloom_record_hooks *hooks;
static pthread_once_t looked_for = PTHREAD_ONCE_INIT;

/* Finds a function that another library may have; dlsym returns an address of data. */
static void find(const char *name, void *function, size_t bytes) {
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, bytes);
}

static void look(void) {
    __typeof__(&flyloom_record_hooks_1) offered;
    find("flyloom_record_hooks_1", &offered, sizeof offered);
    if (offered != NULL) hooks = offered();
}

static bool is_there(void) {
    pthread_once(&looked_for, look);
    return hooks != NULL;
}

bool fly_report_wanted(const struct fly_rt *rt) {
    static const char LEFT_OUT[] = "flyloom: record: what the program does by libflyloom is left "
                                   "out: ";
    if (!is_there()) return false;
    if (hooks->rank() < 0) {
        if (rt->rank == 0)
            fprintf(stderr, "%sfly_init must come between MPI_Init and MPI_Finalize\n", LEFT_OUT);
        return false;
    }
    if (rt->settings.threads == FLY_SERIALIZED && rt->settings.progress == FLY_PROGRESS_CALLS)
        return true;
    if (rt->rank == 0)
        fprintf(stderr, "%sit needs FLYLOOM_THREADS=serialized and FLYLOOM_PROGRESS=calls\n",
                LEFT_OUT);
    return false;
}

int fly_report_begin(struct fly_rt *rt, struct fly_reporter *reporter) {
    int mine = is_there() ? hooks->rank() : -1;
    *reporter = (struct fly_reporter){0};
    int *ranks = malloc((size_t)rt->size * sizeof *ranks);
    if (ranks == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_init: no memory");
    int code = fly_boot_gather(&rt->boot, "fly_init", &mine, ranks, sizeof mine);
    bool are_known = code == FLY_OK;
    for (int r = 0; r < rt->size && are_known; r++) are_known = ranks[r] >= 0;
    if (!are_known) {
        free(ranks);
        return code;
    }
    *reporter = (struct fly_reporter){hooks, hooks->begin(rt->size, ranks), ranks, 0};
    return FLY_OK;
}

void fly_report_free(struct fly_reporter *reporter) { free(reporter->ranks); }

static uint32_t flags_of(const struct fly_event *event) {
    uint32_t flags = event->beside ? FLY_REPORTED_BESIDE : 0;
    if (event->kind == FLY_E_RECV && fly_tag_brings(event->tag)) flags |= FLY_REPORTED_BRINGS;
    if (event->kind == FLY_E_ASK && event->tag == FLY_TAG_FLUSH) flags |= FLY_REPORTED_FLUSHES;
    return flags;
}

static bool has_peer(enum fly_event_kind kind) {
    switch (kind) {
    case FLY_E_SEND:
    case FLY_E_RECV:
    case FLY_E_PUT:
    case FLY_E_ASK:
    case FLY_E_ANSWERS:
    case FLY_E_TOOK:
    case FLY_E_OUT:
    case FLY_E_IN: return true;
    default: return false;
    }
}

void fly_report_enter(struct fly_reporter *reporter) {
    reporter->entered_ns = fly_now_ns();
    reporter->hooks->inside(1);
}

void fly_report_leave(const struct fly_reporter *reporter, const struct fly_event *events,
                      uint64_t count) {
    uint64_t reported = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct fly_event *e = &events[i];
        if (e->kind == FLY_E_CALC) continue; /* the recorder has a clock of its own */
        int peer = has_peer(e->kind) && e->peer >= 0 ? reporter->ranks[e->peer] : -1;
        struct flyloom_reported event = {e->kind,   flags_of(e), peer,     e->tag,
                                         e->object, e->value,    e->answer};
        reporter->hooks->event(reporter->runtime, reporter->entered_ns, &event);
        reported++;
    }
    if (reported == 0) reporter->hooks->nothing(reporter->entered_ns);
    reporter->hooks->inside(-1);
}

uint64_t fly_report_hush(void) {
    if (!is_there()) return 0;
    hooks->inside(1);
    return fly_now_ns();
}

void fly_report_speak(uint64_t start_ns) {
    if (!is_there()) return;
    hooks->nothing(start_ns);
    hooks->inside(-1);
}

bool fly_program_has_mpi(void) {
    int (*initialized)(int *), flag = 0;
    find("MPI_Initialized", &initialized, sizeof initialized);
    return initialized != NULL && initialized(&flag) == 0 && flag;
}
