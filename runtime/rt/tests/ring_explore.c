/* Explores all schedules of producers, each with its ring of two slots to one consumer, with old
 * values for loads wherever the order allows them; each seeded fault must be found.
 *
 *   ring_explore PRODUCERS MESSAGES [relaxed-publish | early-credit | early-return | ""] [MOST]
 *
 * Threads are coroutines. A run replays a list of choices and makes new ones at its end, depth
 * first, so that every list of choices is run once. The rule of credits is that of the library: a
 * producer has one credit, and gets it back when the consumer has taken its message.
 */
#define FLY_ATOMICS_MODEL
#include "ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { THREADS = 4, WORDS = 24, STORES = 64, CHOICES = 400, STACK = 65536, DEPTH = 2 };

struct store {
    uint64_t value;
    int view[WORDS]; /* what a thread that acquires it knows */
};

static struct store memory[WORDS][STORES];
static int stored[WORDS], views[THREADS][WORDS];
static int old_at[THREADS][WORDS]; /* how many stores there were at the last old value */
static ucontext_t scheduler, threads[THREADS];
static unsigned char stacks[THREADS][STACK];
static bool finished[THREADS];
static int running, thread_count;
static int choices[CHOICES], widths[CHOICES], choice_count, replayed;
static unsigned long runs;
static const char *fault = "";
static bool wrong;

/* A choice of 0..width-1: replayed, or the first of a new one. */
static int choose(int width) {
    if (width <= 1) return 0;
    if (replayed == choice_count) {
        if (choice_count == CHOICES) {
            fprintf(stderr, "ring_explore: a run of more than %d choices\n", CHOICES);
            exit(2);
        }
        widths[choice_count] = width;
        choices[choice_count++] = 0;
    }
    return choices[replayed++];
}

/* The state of a run: what each thread has seen and done, in its order, and what is stored. If a
   run comes to a state that an earlier one has been in, by another order of independent steps, it
   would continue as that one did, and is cut off. */
static uint64_t history[THREADS], contents;
static uint64_t *met;
static size_t met_room, met_count;

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = (a ^ (b + UINT64_C(0x9E3779B97F4A7C15) + (a << 6) + (a >> 2)));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB) ^ z >> 31;
}

static bool add_state(uint64_t key) {
    size_t at = (size_t)(key % met_room);
    while (met[at] != 0 && met[at] != key) at = (at + 1) % met_room;
    bool is_new = met[at] == 0;
    met[at] = key;
    met_count += is_new;
    return is_new;
}

static bool state_is_new(void) {
    if (met_count * 2 >= met_room) {
        uint64_t *old = met;
        size_t old_room = met_room;
        met_room = met_room == 0 ? 1 << 16 : met_room * 2;
        met = calloc(met_room, sizeof *met);
        if (met == NULL) exit(2);
        met_count = 0;
        for (size_t i = 0; i < old_room; i++)
            if (old[i] != 0) add_state(old[i]);
        free(old);
    }
    uint64_t key = contents;
    for (int t = 0; t < THREADS; t++) key = mix(key, history[t]);
    return add_state(key | 1);
}

static void note_step(uint64_t what) { history[running] = mix(history[running], what); }

static void yield(void) {
    note_step(7);
    swapcontext(&threads[running], &scheduler);
}

static void join_view(int *into, const int *from) {
    for (int w = 0; w < WORDS; w++)
        if (from[w] > into[w]) into[w] = from[w];
}

static uint64_t load(const fly_word *word, bool acquire) {
    yield();
    int w = word->index, oldest = views[running][w];
        /* Seeing an old value again, when nothing has happened in between, leads to nothing new. */
    if (old_at[running][w] == stored[w]) oldest = stored[w] - 1;
    int seen = stored[w] - 1 - choose(stored[w] - oldest); /* the newest first */
    if (seen != stored[w] - 1) old_at[running][w] = stored[w];
    views[running][w] = seen;
    if (acquire) join_view(views[running], memory[w][seen].view);
    note_step((uint64_t)(w * STORES + seen) << 1);
    return memory[w][seen].value;
}

uint64_t fly_load_relaxed(const fly_word *word) { return load(word, false); }
uint64_t fly_load_acquire(const fly_word *word) { return load(word, true); }

static void append(int w, uint64_t value, bool release) {
    if (stored[w] == STORES) exit(2);
    struct store *store = &memory[w][stored[w]];
    views[running][w] = stored[w]++;
    store->value = value;
    memset(store->view, 0, sizeof store->view);
    if (release) memcpy(store->view, views[running], sizeof store->view);
    store->view[w] = views[running][w];
    note_step((uint64_t)w << 32 | 1);
    contents += mix(mix((uint64_t)(w * STORES + stored[w]), value), history[running]);
}

void fly_store_release(fly_word *word, uint64_t value) {
    yield();
    append(word->index, value, strcmp(fault, "relaxed-publish") != 0);
}

/* The rings of the producers, both sides of each, and the words beside them: data of each slot, and
   the credits. */
static struct fly_slot slots[THREADS][DEPTH];
static fly_word data[THREADS][DEPTH], credit[THREADS];
static struct fly_ring out[THREADS], in[THREADS];
static int producers, messages;

/* The first producer sends `messages`; each further one sends one less, but at least one. */
static int messages_of(int producer) {
    return messages > producer ? messages - producer : 1;
}

/* Plain data: an access by a thread that does not know of the newest store is a race. */
static void write_data(int w, uint64_t value) {
    if (views[running][w] != stored[w] - 1) wrong = true;
    append(w, value, false);
}

static uint64_t read_data(int w) {
    yield();
    if (views[running][w] != stored[w] - 1) wrong = true;
    return memory[w][stored[w] - 1].value;
}

static int data_of(const struct fly_ring *ring, int producer) {
    return data[producer][ring->next & ring->mask].index;
}

/* Waiting is not explored: a thread without a credit is not chosen. */
static bool has_credit(int producer, int sent) {
    int w = credit[producer].index;
    bool early = strcmp(fault, "early-credit") == 0;
    return (int)memory[w][stored[w] - 1].value + DEPTH + early > sent;
}

static int sent_of[THREADS];

static void produce(int me) {
    for (int n = 0; n < messages_of(me); n++) {
        sent_of[me] = n;
        yield();
        int w = credit[me].index;
        views[me][w] = stored[w] - 1;
        join_view(views[me], memory[w][stored[w] - 1].view);
        note_step((uint64_t)stored[w] << 16 | 5);
        write_data(data_of(&out[me], me), (uint64_t)(me * 100 + n));
        fly_ring_publish(&out[me], fly_ring_slot(&out[me]));
    }
}

static bool looking; /* the consumer's next step is to look at all the rings */

static void consume(int me) {
    int next[THREADS] = {0};
    (void)me;
    int all = 0;
    for (int p = 0; p < producers; p++) all += messages_of(p);
    for (int taken = 0, seen = 0; taken < all;) {
        looking = seen == 0;
        seen = 0;
        for (int p = 0; p < producers; p++) {
            bool there = fly_ring_peek(&in[p]) != NULL;
            looking = false;
            if (!there) continue;
            bool early = strcmp(fault, "early-return") == 0;
            if (early) fly_store_release(&credit[p], (uint64_t)next[p] + 1);
            uint64_t value = read_data(data_of(&in[p], p));
            if (value != (uint64_t)(p * 100 + next[p])) wrong = true;
            next[p]++;
            fly_ring_take(&in[p]);
            taken++;
            seen++;
            if (!early) fly_store_release(&credit[p], (uint64_t)next[p]);
        }
    }
}

static void body(int me) {
    if (me < producers)
        produce(me);
    else
        consume(me);
    finished[me] = true;
    swapcontext(&threads[me], &scheduler);
}

static int name_words(void) {
    int next = 0;
    for (int p = 0; p < producers; p++) {
        for (int i = 0; i < DEPTH; i++) {
            slots[p][i].word.index = next++;
            data[p][i].index = next++;
        }
        credit[p].index = next++;
    }
    return next;
}

static void reset(void) {
    memset(stored, 0, sizeof stored);
    memset(views, 0, sizeof views);
    memset(old_at, 0, sizeof old_at);
    memset(finished, 0, sizeof finished);
    memset(history, 0, sizeof history);
    contents = 1;
    memset(sent_of, 0, sizeof sent_of);
    int words = name_words();
    for (int w = 0; w < words; w++) {
        memset(&memory[w][0], 0, sizeof memory[w][0]);
        stored[w] = 1;
    }
    for (int p = 0; p < producers; p++)
        out[p] = in[p] = (struct fly_ring){slots[p], DEPTH - 1, 1};
    looking = wrong = false;
    for (int t = 0; t < thread_count; t++) {
        getcontext(&threads[t]);
        threads[t].uc_stack.ss_sp = stacks[t];
        threads[t].uc_stack.ss_size = STACK;
        threads[t].uc_link = &scheduler;
        makecontext(&threads[t], (void (*)(void))body, 1, t);
    }
}

/* Whether the consumer has nothing to see, even with the newest values; then it is not chosen. */
static bool consumer_waits(void) {
    for (int p = 0; p < producers; p++) {
        int w = fly_ring_slot(&in[p])->word.index;
        if (memory[w][stored[w] - 1].value == in[p].next) return false;
    }
    return true;
}

static bool can_run(int t) {
    if (finished[t]) return false;
    if (t < producers) return has_credit(t, sent_of[t]);
    return !looking || !consumer_waits();
}

/* Makes one run; false: no thread can continue, or a check failed. */
static bool run(void) {
    reset();
    replayed = 0;
    for (int guard = 0; guard < 4000; guard++) {
        int able[THREADS], count = 0, left = 0;
        for (int t = 0; t < thread_count; t++) {
            left += !finished[t];
            if (can_run(t)) able[count++] = t;
        }
        if (left == 0 || wrong) return !wrong;
        if (count == 0) return false;
        if (replayed == choice_count && !state_is_new()) return true;
        running = able[choose(count)];
        swapcontext(&scheduler, &threads[running]);
    }
    return false;
}

/* Moves to the next list of choices, depth first; false: all were run. */
static bool advance(void) {
    while (choice_count > 0 && choices[choice_count - 1] + 1 >= widths[choice_count - 1])
        choice_count--;
    if (choice_count == 0) return false;
    choices[choice_count - 1]++;
    return true;
}

int main(int count, char **words) {
    producers = count > 1 ? atoi(words[1]) : 2;
    messages = count > 2 ? atoi(words[2]) : 1;
    fault = count > 3 ? words[3] : "";
    unsigned long most = count > 4 ? strtoul(words[4], NULL, 10) : 0;
    thread_count = producers + 1;
    if (producers < 1 || thread_count > THREADS) return 2;
    do {
        runs++;
        if (!run()) {
            printf("ring_explore: %s found in run %lu\n", *fault ? fault : "an error", runs);
            return *fault ? 0 : 1;
        }
        if (most != 0 && runs == most) break;
    } while (advance());
    printf("ring_explore: %d producers, up to %d messages: %zu states by %lu schedules%s\n",
           producers, messages, met_count, runs, *fault ? ", and the fault was not found" : "");
    return *fault ? 1 : 0;
}
