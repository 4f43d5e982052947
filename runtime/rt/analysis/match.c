/* The matcher under EVA: every short program, long ones whose tables grow, any key. */
#include "eva.h"

#include "../src/match.c"

#ifndef STEPS
#define STEPS 2 /* calls of a program */
#endif
#ifndef MANY
#define MANY 34
#endif
#ifndef FAILURES
#define FAILURES 4 /* runs in which the n-th allocation fails, n below this */
#endif

enum { REQUESTS = 3, TAG = 7 };

static struct fly_match match;
static struct fly_want wants[REQUESTS];
static bool bound[REQUESTS];
static uint64_t came, taken;

static void took(void *context, struct fly_want *want, int source, int tag) {
    (void)context, (void)want, (void)source, (void)tag;
    taken++;
}

/* Lets a notification of `bytes` arbitrary bytes arrive. */
static void arrive(int source, int tag, size_t bytes, bool hand) {
    static unsigned char data[FLY_MATCH_INLINE];
    struct fly_want *taker;
    Frama_C_make_unknown((char *)data, sizeof data);
    if (hand && fly_match_hand(&match, &wants[0], source, tag, data, bytes))
        came++, taken++; /* fly_match_hand calls nobody back */
    else
        came += fly_match_arrive(&match, source, tag, data, bytes, &taker);
}

static void visit(void *context, struct fly_want *want) { fly_match_withdraw(context, want); }

static void begin(void) {
    fly_match_init(&match);
    match.took = took;
    for (int r = 0; r < REQUESTS; r++) {
        wants[r].source = r == 2 ? FLY_MATCH_ANY : 0;
        wants[r].tag = r == 0 ? TAG : FLY_MATCH_ANY;
        wants[r].expected = r == 0 ? 2 : 1;
    }
}

static void bind_and_post(int r) {
    bound[r] = fly_match_bind(&match, &wants[r]);
    if (bound[r]) fly_match_post(&match, &wants[r]);
}

static void call(int which, int r) {
    struct fly_want *want = &wants[r];
    if (which == 0) {
        if (!bound[r])
            bind_and_post(r);
        else if (want->posted)
            fly_match_withdraw(&match, want);
        else
            fly_match_post(&match, want);
    } else if (bound[r]) {
        fly_match_unbind(&match, want);
        bound[r] = false;
    }
}

static void end(void) {
    //@ assert none_lost_none_twice: came == taken + match.unmatched;
    for (int r = 0; r < REQUESTS; r++)
        if (bound[r]) fly_match_unbind(&match, &wants[r]);
    //@ assert none_posted: match.posted == 0 && match.alone == NULL;
    fly_match_end(&match);
}

/* Every program of STEPS calls, from nothing, or with all requests posted. */
void programs(void) {
    begin();
    until_failure = pick(FAILURES + 1) - 1;
    short_of = true;
    if (pick(2) == 1)
        for (int r = 0; r < REQUESTS; r++) bind_and_post(r);
    for (int i = 0; i < STEPS; i++) {
        int which = pick(4 + REQUESTS * 2);
        if (which == 0)
            arrive(0, TAG, Frama_C_size_t_interval(0, FLY_MATCH_INLINE), false);
        else if (which == 1)
            arrive(0, TAG, Frama_C_size_t_interval(9, FLY_MATCH_INLINE), true);
        else if (which == 2)
            arrive(INT_MAX, TAG, 8, false);
        else if (which == 3)
            fly_match_each(&match, 0, visit, &match);
        else
            call(which % 2, (which - 4) / 2);
    }
    fly_match_probe(&match, FLY_MATCH_ANY, TAG);
    end();
}

/* MANY notifications of one source that nobody awaits, then requests for each: the notes take a
   second chunk, the table is doubled more than once, and empty buckets are freed. */
void many(void) {
    begin();
    until_failure = pick(FAILURES + 1) * (2 * MANY / FAILURES) - 1;
    for (int i = 0; i < MANY; i++) arrive(0, i, (size_t)(i % (FLY_MATCH_INLINE + 1)), false);
    for (int i = 0; i < MANY; i++) {
        wants[0].source = i % 2 == 0 ? 0 : FLY_MATCH_ANY;
        wants[0].tag = i % 3 == 0 ? FLY_MATCH_ANY : i;
        wants[0].expected = 1;
        bind_and_post(0);
        if (bound[0]) fly_match_unbind(&match, &wants[0]);
        bound[0] = false;
    }
    for (int i = 0; i < MANY; i++) arrive(1, MANY + i, FLY_MATCH_INLINE, false);
    end();
}

/* The place of any key in a table of any size. */
void any_key(void) {
    size_t room = (size_t)FIRST_ROOM << pick(40);
    int source = Frama_C_interval(INT_MIN, INT_MAX), tag = Frama_C_interval(INT_MIN, INT_MAX);
    size_t place = place_of(source, tag, room);
    //@ assert inside: place < room;
}
