/* The rules of notified access as plain lists that are searched in order. */
#include "rule_model.h"

#include <string.h>

static const struct rule_note NONE = {FLY_ANY_SOURCE, FLY_ANY_TAG, -1, {0}};
static const fly_status EMPTY = {FLY_ANY_SOURCE, FLY_ANY_TAG, FLY_OK, 0};

static bool fits(int source, int tag, const struct rule_note *note) {
    return (source == FLY_ANY_SOURCE || source == note->source) &&
           (tag == FLY_ANY_TAG || tag == note->tag);
}

static void leave(struct rule *rule, int r) {
    for (int i = 0; i < rule->waiting; i++) {
        if (rule->line[i] != r) continue;
        rule->waiting--;
        memmove(&rule->line[i], &rule->line[i + 1],
                (size_t)(rule->waiting - i) * sizeof rule->line[0]);
        return;
    }
}

void rule_arrive(struct rule *rule, const struct rule_note *note) {
    for (int i = 0; i < rule->waiting; i++) {
        struct rule_request *request = &rule->requests[rule->line[i]];
        if (!fits(request->source, request->tag, note)) continue;
        request->last = *note;
        if (++request->found == request->expected) leave(rule, rule->line[i]);
        return;
    }
    rule->notes[rule->count++] = *note;
}

void rule_make(struct rule *rule, int r, int source, int tag, uint64_t expected) {
    rule->requests[r] =
        (struct rule_request){.made = true, .source = source, .tag = tag, .expected = expected};
    rule->requests[r].last = NONE;
}

void rule_start(struct rule *rule, int r) {
    struct rule_request *request = &rule->requests[r];
    request->active = true;
    request->found = 0;
    request->last = NONE;
    if (request->source == FLY_PROC_NULL) return;
    for (int i = 0; i < rule->count && request->found < request->expected;) {
        if (!fits(request->source, request->tag, &rule->notes[i])) {
            i++;
            continue;
        }
        request->last = rule->notes[i];
        request->found++;
        rule->count--;
        memmove(&rule->notes[i], &rule->notes[i + 1],
                (size_t)(rule->count - i) * sizeof rule->notes[0]);
    }
    if (request->found < request->expected) rule->line[rule->waiting++] = r;
}

bool rule_complete(const struct rule *rule, int r) {
    const struct rule_request *request = &rule->requests[r];
    return request->source == FLY_PROC_NULL || request->found >= request->expected;
}

fly_status rule_finish(struct rule *rule, int r) {
    struct rule_request *request = &rule->requests[r];
    if (!request->active) return EMPTY;
    request->active = false;
    if (request->source == FLY_PROC_NULL)
        return (fly_status){FLY_PROC_NULL, FLY_ANY_TAG, FLY_OK, 0};
    return (fly_status){request->last.source, request->last.tag, FLY_OK, request->found};
}

fly_status rule_cancel(struct rule *rule, int r) {
    leave(rule, r);
    return rule_finish(rule, r);
}

const struct rule_note *rule_probe(const struct rule *rule, int source, int tag) {
    for (int i = 0; i < rule->count; i++)
        if (fits(source, tag, &rule->notes[i])) return &rule->notes[i];
    return NULL;
}
