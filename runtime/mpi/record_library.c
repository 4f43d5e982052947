/* What a program does by libflyloom, beside its calls of MPI: record_hooks.h. */
#include "record_hooks.h"

#include "record.h"

static int rank_of_mpi(void) {
    int rank = -1;
    if (rec_on) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static uint64_t begin(int size, const int ranks[]) {
    struct peers all = {.size = size, .own = size, .world = (int *)(uintptr_t)ranks};
    if (!rec_on || !rec_calls) return 0;
    rec_thread.start_ns = rec_clock();
    rec_group(&all, REC_LIBRARY);
    return all.number;
}

static void inside(int more) { rec_thread.depth += more; }

/* Counts what the event sends, and what is sent back for it. */
static void count(const struct flyloom_reported *event) {
    uint64_t peer = (uint64_t)event->peer << 1;
    switch (event->kind) {
    case FLY_E_ASK: rec_note_key(peer + 2, event->answer, 1); /* fall through */
    case FLY_E_SEND:
    case FLY_E_PUT:
    case FLY_E_OUT: rec_note_key(peer + 1, event->value, 1); break;
    default: break;
    }
}

static void keep(uint64_t runtime, uint64_t start_ns, const struct flyloom_reported *event) {
    if (!rec_on || (!rec_collectives && event->kind >= FLY_E_COLL)) return;
    count(event);
    if (!rec_calls) return;
    uint64_t peer = event->peer < 0 ? REC_ANY : (uint64_t)event->peer;
    const uint64_t words[] = {runtime,       event->kind,  peer,         event->tag,
                              event->object, event->value, event->answer};
    rec_thread.start_ns = start_ns;
    rec_event(REC_LIBRARY_DOES, event->flags, sizeof words / sizeof *words, words);
}

static void nothing(uint64_t start_ns) {
    if (!rec_on || !rec_calls) return;
    rec_thread.start_ns = start_ns;
    rec_event(REC_POLL, 0, 0, NULL);
}

API const struct flyloom_record_hooks *flyloom_record_hooks_1(void) {
    static const struct flyloom_record_hooks HOOKS = {rank_of_mpi, begin, inside, keep, nothing};
    return &HOOKS;
}
