/* The matcher against a model that searches plain lists: random programs, every answer compared.
 *
 *   match_test [STEPS [SEED]]
 */
#include "match.h"

#include <string.h>

#include "check.h"

enum { REQUESTS = 24, NOTES_MAX = 400, SOURCES = 5, TAGS = 6 };

struct note {
    int source, tag;
    uint64_t serial;
};

/* The model follows the rule literally: lists in order of arrival and start, searched in order. */
struct model {
    struct note notes[NOTES_MAX];
    int count;
    int line[REQUESTS], waiting; /* posted requests, in order of start */
    uint64_t found[REQUESTS], serial[REQUESTS];
    struct note last[REQUESTS];
};

static struct fly_want wants[REQUESTS];

static int fits(int source, int tag, const struct note *note) {
    return (source == FLY_MATCH_ANY || source == note->source) &&
           (tag == FLY_MATCH_ANY || tag == note->tag);
}

static void model_leave(struct model *model, int place) {
    model->waiting--;
    memmove(&model->line[place], &model->line[place + 1],
            (size_t)(model->waiting - place) * sizeof model->line[0]);
}

static int model_arrive(struct model *model, struct note note) {
    for (int i = 0; i < model->waiting; i++) {
        int r = model->line[i];
        if (!fits(wants[r].source, wants[r].tag, &note)) continue;
        model->last[r] = note;
        if (++model->found[r] == wants[r].expected) model_leave(model, i);
        return r;
    }
    model->notes[model->count++] = note;
    return -1;
}

static void model_post(struct model *model, int r) {
    model->found[r] = 0;
    model->last[r] = (struct note){FLY_MATCH_ANY, FLY_MATCH_ANY, 0};
    for (int i = 0; i < model->count && model->found[r] < wants[r].expected;) {
        if (!fits(wants[r].source, wants[r].tag, &model->notes[i])) {
            i++;
            continue;
        }
        model->last[r] = model->notes[i];
        model->found[r]++;
        model->count--;
        memmove(&model->notes[i], &model->notes[i + 1],
                (size_t)(model->count - i) * sizeof model->notes[0]);
    }
    if (model->found[r] < wants[r].expected) model->line[model->waiting++] = r;
}

static void compare(const struct model *model, const struct fly_match *match, uint64_t step) {
    CHECK(match->unmatched == (uint64_t)model->count, "step %llu", (unsigned long long)step);
    for (int r = 0; r < REQUESTS; r++) {
        if (wants[r].home == NULL) continue;
        CHECK(fly_match_found(&wants[r]) == model->found[r], "step %llu request %d",
              (unsigned long long)step, r);
        if (model->found[r] == 0) continue;
        CHECK(wants[r].last_source == model->last[r].source, "request %d", r);
        CHECK(wants[r].last_tag == model->last[r].tag, "request %d", r);
        uint64_t serial;
        memcpy(&serial, wants[r].inline_data, sizeof serial);
        CHECK(wants[r].inline_bytes == sizeof serial, "request %d", r);
        CHECK(serial == model->last[r].serial, "request %d took another notification", r);
    }
}

static void probe(const struct model *model, const struct fly_match *match, int source, int tag) {
    const struct fly_note *note = fly_match_probe(match, source, tag);
    const struct note *wanted = NULL;
    for (int i = 0; i < model->count && wanted == NULL; i++)
        if (fits(source, tag, &model->notes[i])) wanted = &model->notes[i];
    CHECK((note == NULL) == (wanted == NULL), "source %d tag %d", source, tag);
    if (note == NULL) return;
    uint64_t serial;
    memcpy(&serial, note->inline_data, sizeof serial);
    CHECK(serial == wanted->serial && note->source == wanted->source && note->tag == wanted->tag,
          "probe found another one");
}

static int any_or(uint64_t *state, int count) {
    return below(state, 3) == 0 ? FLY_MATCH_ANY : (int)below(state, (uint64_t)count);
}

static void take_back(struct model *model, struct fly_match *match, int r) {
    fly_match_withdraw(match, &wants[r]);
    for (int i = 0; i < model->waiting; i++)
        if (model->line[i] == r) model_leave(model, i--);
}

static void forget(struct model *model, struct fly_match *match, int r) {
    for (int i = 0; i < model->waiting; i++)
        if (model->line[i] == r) model_leave(model, i--);
    fly_match_unbind(match, &wants[r]);
}

static uint64_t hands;

/* Tries the short path for a single posted request; returns the request that took it, or NULL. */
static struct fly_want *handed(const struct model *model, struct fly_match *match,
                               const struct note *note) {
    unsigned char data[FLY_MATCH_INLINE] = {0};
    struct fly_want *only = model->waiting == 0 ? wants : &wants[model->line[0]];
    memcpy(data, &note->serial, sizeof note->serial);
    if (!fly_match_hand(match, only, note->source, note->tag, data, 8)) return NULL;
    CHECK(model->waiting == 1, "handed over while %d were posted", model->waiting);
    hands++;
    return only;
}

static void post(struct fly_match *match, const struct model *model, int r) {
    if (wants[r].expected != 0 && fly_match_post_alone(match, &wants[r])) {
        CHECK(model->waiting == 0, "alone, while %d were posted", model->waiting);
        return;
    }
    fly_match_post(match, &wants[r]);
}

/* Runs one program: phases that fill the lists alternate with phases that drain them. Some programs
   use only two requests, so that often a single one is posted. `spread` draws many keys, so that
   the table of buckets grows and is swept. */
static void program(uint64_t seed, uint64_t steps, int spread) {
    static struct model model;
    struct fly_match match;
    uint64_t state = seed;
    memset(&model, 0, sizeof model);
    memset(wants, 0, sizeof wants);
    fly_match_init(&match);
    for (uint64_t step = 1; step <= steps; step++) {
        bool few = step / 5000 % 2 == 1;
        if (few && step % 5000 == 0)
            for (int i = 0; i < REQUESTS; i++) take_back(&model, &match, i);
        int r = (int)below(&state, few ? 2 : REQUESTS);
        unsigned arrivals = step / 500 % 2 == 0 ? 60 : 25;
        unsigned dice = (unsigned)below(&state, 100);
        if (dice < arrivals && model.count < NOTES_MAX) {
            struct note note = {(int)below(&state, SOURCES * (uint64_t)spread),
                                (int)below(&state, TAGS * (uint64_t)spread), step};
            struct fly_want *taker = below(&state, 2) == 0 ? handed(&model, &match, &note) : NULL;
            CHECK(taker != NULL || fly_match_arrive(&match, note.source, note.tag, &note.serial, 8,
                                                    &taker), "-");
            int wanted = model_arrive(&model, note);
            CHECK((taker == NULL ? -1 : (int)(taker - wants)) == wanted, "step %llu",
                  (unsigned long long)step);
        } else if (dice < 92 && wants[r].home != NULL) {
            if (!wants[r].posted) {
                if (few)
                    post(&match, &model, r);
                else
                    fly_match_post(&match, &wants[r]);
                model_post(&model, r);
            } else if (dice % 3 == 0) {
                take_back(&model, &match, r);
            }
        } else if (dice < 96) {
            if (wants[r].home != NULL) forget(&model, &match, r);
            wants[r] = (struct fly_want){.source = any_or(&state, SOURCES * spread),
                                         .tag = any_or(&state, TAGS * spread),
                                         .expected = below(&state, 4)};
            if (below(&state, 20) == 0) wants[r].expected = 100;
            CHECK(fly_match_bind(&match, &wants[r]), "no memory");
            model.found[r] = 0;
            model.last[r] = (struct note){FLY_MATCH_ANY, FLY_MATCH_ANY, 0};
        } else {
            probe(&model, &match, any_or(&state, SOURCES * spread), any_or(&state, TAGS * spread));
        }
        compare(&model, &match, step);
    }
    for (int r = 0; r < REQUESTS; r++)
        if (wants[r].home != NULL) forget(&model, &match, r);
    fly_match_end(&match);
}

int main(int count, char **words) {
    uint64_t steps = argument(count, words, 1, 200000), seed = argument(count, words, 2, 1);
    for (int spread = 1; spread <= 64; spread *= 4) program(seed + (uint64_t)spread, steps, spread);
    CHECK(hands > steps / 1000, "only %llu were handed over", (unsigned long long)hands);
    printf("match_test: 4 programs of %llu steps, seed %llu\n", (unsigned long long)steps,
           (unsigned long long)seed);
    return 0;
}
