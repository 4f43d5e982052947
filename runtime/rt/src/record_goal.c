/* Writes recorded events as GOAL. Processor 0 has what a rank's program does, in its order;
 * processor 1 has what others do to its memory, which costs the program no time.
 *
 * A notified put is a send, and its arrival a receive on processor 1. What follows a put or an ask
 * requires that it began (irequires), not that it has left, as with MPI_Isend. Where a request
 * completes there is a calculation of 0 ns that requires the arrivals which the request took, and
 * those that their origins sent before. An ask is a send and a receive, with an answer on the
 * other's processor 1. A collective starts at the program's operation of that time, and the
 * program requires its end where it waits for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../mpi/part_file.h"
#include "record.h"

static const uint64_t NONE = UINT64_MAX;
static const uint64_t ISSUED = (uint64_t)1 << 63; /* of a label: what follows requires its begin */

struct arrival {
    const struct fly_event *event;
    int source;
    uint64_t ask; /* number of the ask, counted at its origin */
    bool matched;
};

/* Identifies what is matched in order: by origin, window and tag. */
struct key {
    int source;
    uint32_t object, tag;
    uint64_t at;
};

struct labels {
    uint64_t *at;
    size_t count, room;
};

struct rank {
    int rank;
    const struct fly_event *events;
    uint64_t count;
    struct arrival *arrivals; /* sorted by origin, then as each origin sent them */
    uint64_t arrived;
    uint64_t *match;   /* by event: the arrival that it took, or NONE */
    uint64_t *covered; /* by origin: earlier arrivals were waited for */
    uint64_t *answers; /* by ask: its event; NONE: answered */
    uint64_t asks, unanswered; /* asks before `unanswered` were waited for */
    struct labels before, group, took; /* required by the next operation; by later ones */
    struct labels left_before, left;   /* the program's `before` and `group`, in a collective */
    struct labels *ends;               /* by collective: its last operations, until joined */
    uint64_t colls;
    const struct fly_tags *tags;
    uint64_t label;
    FILE *file;
    bool short_of_memory;
};

static void append(struct rank *r, struct labels *labels, uint64_t value) {
    if (labels->count == labels->room) {
        size_t room = labels->room == 0 ? 16 : labels->room * 2;
        uint64_t *at = realloc(labels->at, room * sizeof *at);
        if (at == NULL) {
            r->short_of_memory = true;
            return;
        }
        labels->at = at;
        labels->room = room;
    }
    labels->at[labels->count++] = value;
}

static bool is_sent(const struct fly_event *event) {
    return event->kind == FLY_E_SEND || event->kind == FLY_E_PUT || event->kind == FLY_E_ASK;
}

static bool is_data(const struct arrival *arrival) { return arrival->event->kind != FLY_E_SEND; }

static int compare(const void *left, const void *right) {
    const struct key *a = left, *b = right;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    if (a->object != b->object) return a->object < b->object ? -1 : 1;
    if (a->tag != b->tag) return a->tag < b->tag ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int compare_place(const struct key *a, const struct key *b) {
    struct key same = *b;
    same.at = a->at;
    return compare(a, &same);
}

/* Matches: of one origin, window and tag, the n-th that is waited for is the n-th that was sent. */
static bool match(struct rank *r) {
    struct key *sent = malloc((r->arrived + 1) * sizeof *sent);
    struct key *taken = malloc((r->count + 1) * sizeof *taken);
    uint64_t n = 0;
    bool whole = sent != NULL && taken != NULL;
    for (uint64_t i = 0; whole && i < r->arrived; i++) {
        const struct fly_event *e = r->arrivals[i].event;
        sent[i] = (struct key){r->arrivals[i].source, e->object, e->tag, i};
    }
    for (uint64_t i = 0; whole && i < r->count; i++) {
        const struct fly_event *e = &r->events[i];
        r->match[i] = NONE;
        if (e->kind == FLY_E_RECV || e->kind == FLY_E_TOOK)
            taken[n++] = (struct key){e->peer, e->object, e->tag, i};
    }
    if (whole) {
        qsort(sent, r->arrived, sizeof *sent, compare);
        qsort(taken, n, sizeof *taken, compare);
    }
    for (uint64_t i = 0, j = 0; whole && i < n && j < r->arrived;) {
        int order = compare_place(&taken[i], &sent[j]);
        if (order == 0) {
            r->match[taken[i++].at] = sent[j].at;
            r->arrivals[sent[j++].at].matched = true;
        } else if (order < 0) {
            i++;
        } else {
            j++;
        }
    }
    free(sent);
    free(taken);
    return whole;
}

static unsigned answer_tag(uint64_t ask) {
    return (unsigned)(FLY_TAG_ANSWER + ask % FLY_TAG_ANSWERS);
}

/* Writes what others do to this rank's memory. */
static void write_arrivals(struct rank *r) {
    uint64_t first = 0; /* the origin's first arrival after its last flush */
    for (uint64_t i = 0; i < r->arrived; i++) {
        const struct arrival *a = &r->arrivals[i];
        const struct fly_event *e = a->event;
        if (i > 0 && r->arrivals[i - 1].source != a->source) first = i;
        if (!is_data(a) && a->matched) continue;
        fprintf(r->file, "a%llu: recv %llub from %d tag %u cpu 1\n", (unsigned long long)i,
                (unsigned long long)e->value, a->source, e->tag);
        if (e->kind != FLY_E_ASK) continue;
        fprintf(r->file, "b%llu: send %llub to %d tag %u cpu 1\nb%llu requires a%llu\n",
                (unsigned long long)i, (unsigned long long)e->answer, a->source,
                answer_tag(a->ask), (unsigned long long)i, (unsigned long long)i);
        if (e->tag != FLY_TAG_FLUSH) continue;
        for (; first < i; first++)
            if (r->arrivals[first].event->kind == FLY_E_PUT)
                fprintf(r->file, "b%llu requires a%llu\n", (unsigned long long)i,
                        (unsigned long long)first);
        first = i + 1;
    }
}

static void write_answers(struct rank *r) {
    for (uint64_t i = 0; i < r->count; i++) {
        const struct fly_event *e = &r->events[i];
        if (e->kind != FLY_E_ASK) continue;
        r->answers[++r->asks] = i;
        fprintf(r->file, "r%llu: recv %llub from %d tag %u cpu 1\n", (unsigned long long)r->asks,
                (unsigned long long)e->answer, e->peer, answer_tag(r->asks));
    }
}

/* Makes the next operation require one of the program's own. */
static void require_own(struct rank *r, uint64_t own) {
    fprintf(r->file, "c%llu %s c%llu\n", (unsigned long long)r->label,
            own & ISSUED ? "irequires" : "requires", (unsigned long long)(own & ~ISSUED));
}

/* Links the operation just written: it requires those before it, and the next will require it, or
   its begin. */
static void link_as(struct rank *r, bool beside, bool issued) {
    if (!beside && r->group.count != 0) {
        struct labels swapped = r->before;
        r->before = r->group;
        r->group = swapped;
        r->group.count = 0;
    }
    for (size_t i = 0; i < r->before.count; i++) require_own(r, r->before.at[i]);
    append(r, &r->group, issued ? r->label | ISSUED : r->label);
    r->label++;
}

static void link_in(struct rank *r, bool beside) { link_as(r, beside, false); }

/* Makes the next operation require an arrival, and what its origin sent before that. */
static void require_arrival(struct rank *r, uint64_t arrival) {
    int source = r->arrivals[arrival].source;
    uint64_t *first = &r->covered[source];
    for (; *first <= arrival; ++*first)
        if (is_data(&r->arrivals[*first]))
            fprintf(r->file, "c%llu requires a%llu\n", (unsigned long long)r->label,
                    (unsigned long long)*first);
}

static void write_pause(struct rank *r) {
    fprintf(r->file, "c%llu: calc 0\n", (unsigned long long)r->label);
}

static void write_done(struct rank *r, uint64_t request) {
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < r->took.count; i++) {
        uint64_t at = r->took.at[i], arrival = r->match[at];
        if (r->events[at].value != request) {
            r->took.at[kept++] = at;
            continue;
        }
        if (arrival == NONE || arrival < r->covered[r->arrivals[arrival].source]) continue;
        if (!any) write_pause(r);
        any = true;
        require_arrival(r, arrival);
    }
    r->took.count = kept;
    if (any) link_in(r, false);
}

static void write_answered(struct rank *r, uint64_t from, uint64_t to, const struct fly_event *by) {
    bool any = false;
    for (uint64_t ask = from; ask <= to; ask++) {
        if (r->answers[ask] == NONE) continue;
        const struct fly_event *e = &r->events[r->answers[ask]];
        if (by->kind == FLY_E_ANSWERS &&
            (e->object != by->object || (by->peer >= 0 && e->peer != by->peer)))
            continue;
        if (!any) write_pause(r);
        any = true;
        fprintf(r->file, "c%llu requires r%llu\n", (unsigned long long)r->label,
                (unsigned long long)ask);
        r->answers[ask] = NONE;
    }
    while (r->unanswered <= to && r->answers[r->unanswered] == NONE) r->unanswered++;
    if (any) link_in(r, false);
}

static void begin_collective(struct rank *r) {
    r->left_before = r->before;
    r->left = r->group;
    r->before = r->group = (struct labels){0};
    for (size_t i = 0; i < r->left.count; i++) append(r, &r->group, r->left.at[i]);
}

static void end_collective(struct rank *r, uint64_t number) {
    r->ends[number] = r->group;
    free(r->before.at);
    r->before = r->left_before;
    r->group = r->left;
    r->left_before = r->left = (struct labels){0};
}

static void write_join(struct rank *r, uint64_t number) {
    struct labels *end = &r->ends[number];
    write_pause(r);
    for (size_t i = 0; i < end->count; i++) require_own(r, end->at[i]);
    link_in(r, false);
    free(end->at);
    *end = (struct labels){0};
}

static void write_collective(struct rank *r, const struct fly_event *e) {
    bool out = e->kind == FLY_E_OUT;
    switch (e->kind) {
    case FLY_E_COLL: begin_collective(r); break;
    case FLY_E_LOCAL:
        write_pause(r);
        link_in(r, false);
        break;
    case FLY_E_OUT:
    case FLY_E_IN:
        fprintf(r->file, "c%llu: %s %llub %s %d tag %u\n", (unsigned long long)r->label,
                out ? "send" : "recv", (unsigned long long)e->value, out ? "to" : "from", e->peer,
                fly_tags_find(r->tags, e));
        link_in(r, e->beside);
        break;
    case FLY_E_COLL_END: end_collective(r, e->value); break;
    case FLY_E_JOIN: write_join(r, e->value); break;
    default: break;
    }
}

static void write_program(struct rank *r) {
    uint64_t asked = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        const struct fly_event *e = &r->events[i];
        unsigned long long label = r->label, value = e->value;
        switch (e->kind) {
        case FLY_E_CALC:
            fprintf(r->file, "c%llu: calc %llu\n", label, value);
            link_in(r, false);
            break;
        case FLY_E_SEND:
        case FLY_E_PUT:
        case FLY_E_ASK:
            fprintf(r->file, "c%llu: send %llub to %d tag %u\n", label, value, e->peer, e->tag);
            link_as(r, e->beside, e->kind != FLY_E_SEND);
            asked += e->kind == FLY_E_ASK;
            break;
        case FLY_E_RECV:
            fprintf(r->file, "c%llu: recv %llub from %d tag %u\n", label, value, e->peer, e->tag);
            if (fly_tag_brings(e->tag) && r->match[i] != NONE)
                require_arrival(r, r->match[i]);
            link_in(r, e->beside);
            break;
        case FLY_E_TOOK: append(r, &r->took, i); break;
        case FLY_E_DONE: write_done(r, e->value); break;
        case FLY_E_ANSWER: write_answered(r, e->value, e->value, e); break;
        case FLY_E_ANSWERS: write_answered(r, r->unanswered, asked, e); break;
        default: write_collective(r, e); break;
        }
    }
}

/* Makes room for a rank and finds its arrivals; false: no memory. */
static bool open_rank(struct rank *r, int size, struct fly_event *const events[],
                      const uint64_t counts[]) {
    uint64_t n = 0;
    for (int s = 0; s < size; s++)
        for (uint64_t i = 0; i < counts[s]; i++)
            n += is_sent(&events[s][i]) && events[s][i].peer == r->rank;
    r->arrivals = malloc((n + 1) * sizeof *r->arrivals);
    r->match = malloc((r->count + 1) * sizeof *r->match);
    r->answers = malloc((r->count + 1) * sizeof *r->answers);
    r->covered = calloc((size_t)size, sizeof *r->covered);
    for (uint64_t i = 0; i < r->count; i++) r->colls += r->events[i].kind == FLY_E_COLL;
    r->ends = calloc(r->colls + 1, sizeof *r->ends);
    if (r->arrivals == NULL || r->match == NULL || r->answers == NULL || r->covered == NULL ||
        r->ends == NULL)
        return false;
    for (int s = 0; s < size; s++) {
        uint64_t asks = 0;
        r->covered[s] = r->arrived;
        for (uint64_t i = 0; i < counts[s]; i++) {
            const struct fly_event *e = &events[s][i];
            asks += e->kind == FLY_E_ASK;
            if (is_sent(e) && e->peer == r->rank)
                r->arrivals[r->arrived++] = (struct arrival){e, s, asks, false};
        }
    }
    return match(r);
}

static void close_rank(struct rank *r) {
    free(r->arrivals);
    free(r->match);
    free(r->answers);
    free(r->covered);
    free(r->before.at);
    free(r->group.at);
    free(r->took.at);
    free(r->left_before.at);
    free(r->left.at);
    for (uint64_t i = 0; r->ends != NULL && i <= r->colls; i++) free(r->ends[i].at);
    free(r->ends);
}

static int write_all(FILE *file, int size, struct fly_event *const events[],
                     const uint64_t counts[]) {
    struct fly_tags tags;
    bool whole = fly_tags_open(&tags, size, events, counts);
    fprintf(file, "num_ranks %d\n", size);
    for (int n = 0; n < size && whole; n++) {
        struct rank r = {.rank = n, .events = events[n], .count = counts[n], .file = file,
                         .unanswered = 1, .tags = &tags};
        whole = open_rank(&r, size, events, counts);
        if (whole) {
            fprintf(file, "\nrank %d {\n", n);
            write_arrivals(&r);
            write_answers(&r);
            write_program(&r);
            fprintf(file, "}\n");
            whole = !r.short_of_memory;
        }
        close_rank(&r);
    }
    fly_tags_close(&tags);
    if (!whole) return ENOMEM;
    return 0; /* part_file_end finds out what could not be written */
}

/* Writes beside the file first, so that an existing file is never half overwritten. */
int fly_record_write(const char *path, int size, struct fly_event *const events[],
                     const uint64_t counts[]) {
    struct part_file made;
    int failed = part_file_open(&made, path);
    return failed != 0 ? failed : part_file_end(&made, write_all(made.file, size, events, counts));
}
