/* Tags of collective messages in GOAL: one for each message that a rank has with another.
 *
 * A message is identified by its team, the number of the collective in the team, and its tag in the
 * schedule. Sender and receiver number these in the same order, so they agree. Two teams without a
 * common rank may use the same number, since no message passes between them.
 */
#include <stdlib.h>

#include "record.h"

static int compare(const void *left, const void *right) {
    const struct fly_mark *a = left, *b = right;
    if (a->object != b->object) return a->object < b->object ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static struct fly_mark mark_of(const struct fly_event *event) {
    return (struct fly_mark){event->answer, event->object, event->tag};
}

bool fly_tags_open(struct fly_tags *tags, int size, struct fly_event *const events[],
                   const uint64_t counts[]) {
    size_t all = 0, kept = 0;
    for (int r = 0; r < size; r++)
        for (uint64_t i = 0; i < counts[r]; i++) all += events[r][i].kind == FLY_E_OUT;
    *tags = (struct fly_tags){malloc((all + 1) * sizeof *tags->marks), 0};
    if (tags->marks == NULL) return false;
    for (int r = 0; r < size; r++)
        for (uint64_t i = 0; i < counts[r]; i++)
            if (events[r][i].kind == FLY_E_OUT) tags->marks[tags->count++] = mark_of(&events[r][i]);
    qsort(tags->marks, tags->count, sizeof *tags->marks, compare);
    for (size_t i = 0; i < tags->count; i++)
        if (i == 0 || compare(&tags->marks[i], &tags->marks[kept - 1]) != 0)
            tags->marks[kept++] = tags->marks[i];
    tags->count = kept;
    return true;
}

void fly_tags_close(struct fly_tags *tags) { free(tags->marks); }

uint32_t fly_tags_find(const struct fly_tags *tags, const struct fly_event *event) {
    struct fly_mark mark = mark_of(event);
    size_t low = 0, high = tags->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&tags->marks[middle], &mark) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return FLY_TAG_COLL + (uint32_t)(low % FLY_TAG_COLLS);
}
