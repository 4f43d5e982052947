/* The rules of notified access as plain lists that are searched: the library is compared with them.
 */
#ifndef FLY_TEST_RULE_MODEL_H
#define FLY_TEST_RULE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "flyloom.h"

enum { RULE_REQUESTS = 12, RULE_NOTES = 4096 };

struct rule_note {
    int source, tag;
    int bytes; /* bytes of a put; -1: it cannot travel inline */
    unsigned char data[40];
};

struct rule_request {
    bool made, active, posted;
    int source, tag;
    uint64_t expected, found;
    struct rule_note last;
};

/* One rank's side of one window. */
struct rule {
    struct rule_note notes[RULE_NOTES];
    int count;
    struct rule_request requests[RULE_REQUESTS];
    int line[RULE_REQUESTS], waiting;
};

void rule_arrive(struct rule *rule, const struct rule_note *note);
void rule_make(struct rule *rule, int r, int source, int tag, uint64_t expected);
void rule_start(struct rule *rule, int r);
bool rule_complete(const struct rule *rule, int r);
/* The status of a complete active request, or of an inactive one; makes it inactive. */
fly_status rule_finish(struct rule *rule, int r);
fly_status rule_cancel(struct rule *rule, int r);
/* The oldest notification that matches, or NULL. */
const struct rule_note *rule_probe(const struct rule *rule, int source, int tag);

#endif
