/* Records what a program does with the library, and writes it at the end.
 *
 * Every rank records its own side: what it sends, which notifications its requests took, and what
 * it waits for. What arrives at a rank follows from what the others send.
 */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../mpi/file_limit.h"
#include "boot_files.h"
#include "coll/coll.h"
#include "error.h"
#include "progress.h"
#include "record_report.h"
#include "runtime.h"
#include "team.h"

enum { CHUNK_EVENTS = 1024, CHUNK_BYTES_ALL = 1 << 25, FEW = 2 };

struct fly_record {
    struct fly_event *events;
    uint64_t count, room, reported, requests, asks, colls;
    uint64_t left_ns, gap_ns; /* time spent outside the library that no event has yet */
    bool clock, inside, failed;
    struct fly_reporter reporter;
    bool *written; /* by peer: whether something was written since the last flush */
    char *path; /* of rank 0's file; NULL: the events are reported alone, and not kept */
};

unsigned fly_record_wanted(const struct fly_rt *rt) {
    return (getenv("FLYLOOM_RECORD") != NULL ? FLY_RECORD_FILE : 0) |
           (fly_report_wanted(rt) ? FLY_RECORD_REPORTED : 0);
}

static int wrong(const char *name, const char *text, const char *valid) {
    return fly_fail(FLY_ERR_ARG, "fly_init: %s: \"%s\" %s", name, text, valid);
}

static int check_path(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    if (folder == NULL) return fly_fail(FLY_ERR_NOMEM, "fly_init: no memory");
    bool well = *path != 0 && (slash == NULL || slash[1] != 0) && access(folder, W_OK | X_OK) == 0;
    free(folder);
    return well ? FLY_OK : wrong("FLYLOOM_RECORD", path, "must be a file in a folder that can be "
                                 "written to");
}

static int check(const struct fly_rt *rt, bool *clock) {
    const char *path = getenv("FLYLOOM_RECORD"), *time = getenv("FLYLOOM_RECORD_TIME");
    *clock = time == NULL || strcmp(time, "clock") == 0;
    if (path == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_init: FLYLOOM_RECORD: other ranks have it, this has not");
    if (!*clock && strcmp(time, "none") != 0)
        return wrong("FLYLOOM_RECORD_TIME", time, "must be clock or none");
    if (rt->settings.threads != FLY_SERIALIZED || rt->settings.progress != FLY_PROGRESS_CALLS)
        return fly_fail(FLY_ERR_ARG, "fly_init: FLYLOOM_RECORD: needs threads serialized and "
                        "progress calls");
    return rt->rank == 0 ? check_path(path) : FLY_OK;
}

static int all_could(struct fly_rt *rt, int code) {
    return fly_all_could(rt, "FLYLOOM_RECORD", code);
}

int fly_record_begin(struct fly_rt *rt, unsigned wanted) {
    bool clock = false, is_file = (wanted & FLY_RECORD_FILE) != 0;
    int code = is_file ? check(rt, &clock) : FLY_OK;
    struct fly_record *record = calloc(1, sizeof *record);
    if (record != NULL) {
        const char *path = is_file ? getenv("FLYLOOM_RECORD") : NULL;
        record->clock = clock;
        record->path = path == NULL ? NULL : strdup(path);
        record->written = calloc((size_t)rt->size, sizeof *record->written);
    }
    rt->record = record;
    bool whole = record != NULL && record->written != NULL && (record->path != NULL || !is_file);
    if (code == FLY_OK && !whole) code = fly_fail(FLY_ERR_NOMEM, "fly_init: no memory");
    code = all_could(rt, code);
    if (code == FLY_OK && (wanted & FLY_RECORD_REPORTED) != 0)
        code = all_could(rt, fly_report_begin(rt, &record->reporter));
    if (code != FLY_OK || (!is_file && record->reporter.hooks == NULL)) {
        fly_record_free(rt);
        return code;
    }
    rt->locked = true; /* the locked paths are the ones that record */
    fly_record_skip(rt);
    return FLY_OK;
}

void fly_record_free(struct fly_rt *rt) {
    if (rt->record == NULL) return;
    free(rt->record->events);
    free(rt->record->written);
    free(rt->record->path);
    fly_report_free(&rt->record->reporter);
    free(rt->record);
    rt->record = NULL;
}

void fly_record_enter(struct fly_rt *rt) {
    struct fly_record *record = rt->record;
    if (record->clock && !record->inside) record->gap_ns += fly_now_ns() - record->left_ns;
    if (record->reporter.hooks != NULL && !record->inside) fly_report_enter(&record->reporter);
    record->inside = true;
}

static void report(struct fly_record *record) {
    fly_report_leave(&record->reporter, record->events + record->reported,
                     record->count - record->reported);
    if (record->path == NULL) record->count = 0;
    record->reported = record->count;
}

void fly_record_leave(struct fly_rt *rt) {
    struct fly_record *record = rt->record;
    if (record->reporter.hooks != NULL && record->inside) report(record);
    if (record->clock) record->left_ns = fly_now_ns();
    record->inside = false;
}

void fly_record_skip(struct fly_rt *rt) {
    if (rt->record != NULL) fly_record_leave(rt);
}

static void keep(struct fly_record *record, struct fly_event event) {
    if (record->count == record->room) {
        uint64_t room = record->room == 0 ? CHUNK_EVENTS : record->room * 2;
        struct fly_event *events = realloc(record->events, room * sizeof *events);
        if (events == NULL) {
            record->failed = true;
            return;
        }
        record->events = events;
        record->room = room;
    }
    record->events[record->count++] = event;
}

static void push(struct fly_rt *rt, struct fly_event event) {
    struct fly_record *record = rt->record;
    if (record->gap_ns != 0) {
        keep(record, (struct fly_event){.kind = FLY_E_CALC, .value = record->gap_ns});
        record->gap_ns = 0;
    }
    keep(record, event);
}

void fly_record_put(struct fly_win *win, int peer, int tag, uint64_t bytes) {
    struct fly_rt *rt = win->rt;
    if (rt->record == NULL || peer == rt->rank) return;
    rt->record->written[peer] = true;
    push(rt, (struct fly_event){.kind = FLY_E_PUT, .peer = peer, .object = win->object.id,
                                .tag = tag == FLY_NO_TAG ? FLY_TAG_PUT : (uint32_t)tag,
                                .value = bytes});
}

uint64_t fly_record_ask(struct fly_win *win, int peer, int tag, bool atomic, uint64_t bytes,
                        uint64_t answer) {
    struct fly_rt *rt = win->rt;
    if (rt->record == NULL || peer == rt->rank) return 0;
    uint32_t plain = atomic ? FLY_TAG_ATOMIC : FLY_TAG_GET;
    push(rt, (struct fly_event){.kind = FLY_E_ASK, .peer = peer, .object = win->object.id,
                                .tag = tag == FLY_NO_TAG ? plain : (uint32_t)tag,
                                .value = bytes, .answer = answer});
    return ++rt->record->asks;
}

/* A flush asks only the peers to which something was written since the last one. */
void fly_record_flush(struct fly_win *win, int peer) {
    struct fly_rt *rt = win->rt;
    if (rt->record == NULL) return;
    for (int p = 0; p < rt->size; p++) {
        if (!rt->record->written[p] || (peer >= 0 && p != peer) ||
            fly_team_rank(win->object.team, p) < 0)
            continue;
        rt->record->written[p] = false;
        rt->record->asks++;
        push(rt, (struct fly_event){.kind = FLY_E_ASK, .peer = p, .object = win->object.id,
                                    .tag = FLY_TAG_FLUSH, .value = 1, .answer = 1});
    }
    fly_record_answers(win, peer);
}

void fly_record_answers(struct fly_win *win, int peer) {
    if (win->rt->record == NULL) return;
    push(win->rt, (struct fly_event){.kind = FLY_E_ANSWERS, .peer = peer,
                                     .object = win->object.id});
}

void fly_record_packet(struct fly_rt *rt, enum fly_event_kind kind, uint32_t object, int peer,
                       uint32_t tag, bool beside) {
    if (rt->record == NULL || peer == rt->rank) return;
    push(rt, (struct fly_event){.kind = (uint8_t)kind, .beside = beside, .peer = peer, .tag = tag,
                                .object = object, .value = 1});
}

uint64_t fly_record_request(struct fly_rt *rt) {
    return rt->record == NULL ? 0 : ++rt->record->requests;
}

void fly_record_took(struct fly_win *win, const struct fly_req *req, int source, int tag) {
    struct fly_rt *rt = win->rt;
    int peer = fly_world_rank(win->object.team, source);
    if (rt->record == NULL || peer == rt->rank) return;
    keep(rt->record, (struct fly_event){.kind = FLY_E_TOOK, .peer = peer, .tag = (uint32_t)tag,
                                        .object = win->object.id, .value = req->recorded});
}

void fly_record_done(const struct fly_req *req) {
    if (req->rt->record == NULL || req->recorded == 0) return;
    enum fly_event_kind kind = req->kind == FLY_R_OPERATION  ? FLY_E_ANSWER
                               : req->kind == FLY_R_SCHEDULE ? FLY_E_JOIN
                                                             : FLY_E_DONE;
    push(req->rt, (struct fly_event){.kind = (uint8_t)kind, .value = req->recorded});
}

static void local_work(struct fly_rt *rt) {
    push(rt, (struct fly_event){.kind = FLY_E_LOCAL});
}

/* Records a message of a round, unless it is to oneself; returns whether it is the first one. */
static bool message(const struct fly_sched *s, enum fly_event_kind kind, int rank, int tag,
                    size_t bytes, bool first) {
    int peer = fly_world_rank(s->coll->team, rank);
    if (peer == s->coll->rt->rank) return first;
    push(s->coll->rt, (struct fly_event){.kind = (uint8_t)kind, .beside = !first, .peer = peer,
                                         .tag = (uint32_t)tag, .object = s->coll->win->object.id,
                                         .value = bytes == 0 ? 1 : bytes, .answer = s->number});
    return false;
}

/* Records a round. If it has many messages, one operation stands for them in what the next round
   requires. */
static void round_of(const struct fly_sched *s, const struct fly_span *span) {
    bool first = true, folds = false;
    if (span[0].local != span[1].local) local_work(s->coll->rt);
    for (size_t i = span[0].sending; i < span[1].sending; i++) {
        const struct fly_sending *out = &s->sendings[i];
        first = message(s, FLY_E_OUT, out->peer, out->tag, out->bytes, first);
    }
    for (size_t i = span[0].receiving; i < span[1].receiving; i++) {
        const struct fly_receiving *in = &s->receivings[i];
        first = message(s, FLY_E_IN, in->peer, in->tag, in->bytes, first);
        folds |= in->take != FLY_TAKE_COPY;
    }
    size_t messages = span[1].sending - span[0].sending + span[1].receiving - span[0].receiving;
    if (folds || messages > FEW) local_work(s->coll->rt);
}

uint64_t fly_record_schedule(const struct fly_sched *s) {
    struct fly_rt *rt = s->coll->rt;
    if (s->local_count + s->sending_count + s->receiving_count == 0) return 0;
    uint64_t number = ++rt->record->colls;
    push(rt, (struct fly_event){.kind = FLY_E_COLL});
    for (size_t i = 0; i < s->round_count; i++) round_of(s, &s->rounds[i]);
    push(rt, (struct fly_event){.kind = FLY_E_COLL_END, .value = number});
    return number;
}

/* Collects the events of all ranks at rank 0, piece by piece. */
static int gather(struct fly_rt *rt, const uint64_t counts[], struct fly_event *events[]) {
    const struct fly_record *record = rt->record;
    uint64_t most = 0, part = CHUNK_BYTES_ALL / sizeof(struct fly_event) / (uint64_t)rt->size;
    if (part > CHUNK_EVENTS) part = CHUNK_EVENTS;
    if (part == 0) part = 1;
    for (int r = 0; r < rt->size; r++)
        if (counts[r] > most) most = counts[r];
    struct fly_event *mine = calloc(part, sizeof *mine);
    struct fly_event *all = calloc(part * (size_t)rt->size, sizeof *all);
    bool whole = mine != NULL && all != NULL;
    for (int r = 0; r < rt->size && rt->rank == 0 && whole; r++) {
        events[r] = malloc((counts[r] + 1) * sizeof *events[r]);
        whole = events[r] != NULL;
    }
    int code = all_could(rt, whole ? FLY_OK : FLY_ERR_NOMEM);
    for (uint64_t at = 0; at < most && code == FLY_OK; at += part) {
        uint64_t left = at < record->count ? record->count - at : 0;
        if (left != 0)
            memcpy(mine, record->events + at, (left < part ? left : part) * sizeof *mine);
        code = fly_boot_gather(&rt->boot, "a record", mine, all, part * sizeof *mine);
        for (int r = 0; r < rt->size && rt->rank == 0 && code == FLY_OK; r++) {
            uint64_t there = at < counts[r] ? counts[r] - at : 0;
            if (there > part) there = part;
            if (there != 0)
                memcpy(events[r] + at, all + (size_t)r * part, there * sizeof *all);
        }
    }
    free(mine);
    free(all);
    return code;
}

int fly_record_end(struct fly_rt *rt) {
    struct fly_record *record = rt->record;
    if (record->path == NULL) {
        if (record->failed)
            fprintf(stderr, "flyloom: record: memory was short: what rank %d did by libflyloom is "
                    "not all there\n", rt->rank);
        return FLY_OK;
    }
    if (rt->rank == 0 && record->reporter.hooks == NULL && fly_program_has_mpi())
        fprintf(stderr, "flyloom: FLYLOOM_RECORD: messages of MPI are not in %s; flyloom record -o "
                "FILE.goal -- PROGRAM writes both\n", record->path);
    uint64_t *counts = calloc((size_t)rt->size, sizeof *counts);
    struct fly_event **events = calloc((size_t)rt->size, sizeof *events);
    bool whole = counts != NULL && events != NULL && !record->failed;
    int code = all_could(rt, whole ? FLY_OK : fly_fail(FLY_ERR_NOMEM, "fly_finalize: no memory for "
                                                       "the record"));
    if (code == FLY_OK)
        code = fly_boot_gather(&rt->boot, "fly_finalize", &record->count, counts,
                               sizeof record->count);
    if (code == FLY_OK) code = gather(rt, counts, events);
    if (code == FLY_OK && rt->rank == 0) {
        int failed = fly_record_write(record->path, rt->size, events, counts);
        if (failed != 0)
            code = fly_fail(failed == ENOMEM ? FLY_ERR_NOMEM : FLY_ERR_ARG,
                            "fly_finalize: FLYLOOM_RECORD: \"%s\": %s", record->path,
                            file_limit_why(failed));
    }
    code = all_could(rt, code);
    for (int r = 0; events != NULL && r < rt->size; r++) free(events[r]);
    free(events);
    free(counts);
    return code;
}
