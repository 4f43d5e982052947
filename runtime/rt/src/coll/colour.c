/* Colours the edges between senders and receivers: first fit, or Koenig's exchange along paths.
 *
 * A bipartite graph can be coloured with as many colours as its largest degree. Koenig: Ueber
 * Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre, Mathematische Annalen 77,
 * 1916. A hash table finds the message of a colour at a rank, so that memory is O(messages) even
 * where one rank has most of them.
 */
#include "colour.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

struct slot {
    uint64_t key; /* vertex and colour, plus 1; 0: free */
    uint32_t arc; /* or NONE */
};

struct colouring {
    int ranks;
    const struct fly_arc *all;
    uint32_t *colours;
    struct slot *slots;
    size_t room, used;
};

/* Numbers the vertices: the receivers come after the senders. */
static uint64_t vertex(const struct colouring *c, uint32_t arc, bool receiver) {
    return receiver ? (uint64_t)c->ranks + (uint64_t)c->all[arc].to : (uint64_t)c->all[arc].from;
}

static struct slot *find(const struct colouring *c, uint64_t key) {
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (c->room - 1);
    while (c->slots[at].key != 0 && c->slots[at].key != key) at = (at + 1) & (c->room - 1);
    return &c->slots[at];
}

static uint32_t get(const struct colouring *c, uint64_t v, uint32_t colour) {
    const struct slot *slot = find(c, (v << 32 | colour) + 1);
    return slot->key == 0 ? NONE : slot->arc;
}

/* Doubles the hash table, and drops the entries that are NONE. */
static bool grow(struct colouring *c) {
    struct slot *old = c->slots;
    size_t room = c->room;
    c->slots = calloc(room * 2, sizeof *c->slots);
    if (c->slots == NULL) {
        c->slots = old;
        return false;
    }
    c->room = room * 2;
    c->used = 0;
    for (size_t i = 0; i < room; i++) {
        if (old[i].key == 0 || old[i].arc == NONE) continue;
        *find(c, old[i].key) = old[i];
        c->used++;
    }
    free(old);
    return true;
}

static bool set(struct colouring *c, uint64_t v, uint32_t colour, uint32_t arc) {
    uint64_t key = (v << 32 | colour) + 1;
    struct slot *slot = find(c, key);
    if (slot->key == 0) {
        if (arc == NONE) return true;
        if (c->used * 2 >= c->room) {
            if (!grow(c)) return false;
            slot = find(c, key);
        }
        slot->key = key;
        c->used++;
    }
    slot->arc = arc;
    return true;
}

static bool open_up(struct colouring *c, int ranks, size_t arcs, const struct fly_arc *all,
                    uint32_t *colours) {
    *c = (struct colouring){.ranks = ranks, .all = all, .colours = colours, .room = 16};
    while (c->room < 5 * arcs) c->room *= 2;
    c->slots = calloc(c->room, sizeof *c->slots);
    return c->slots != NULL;
}

static uint32_t first_free(const struct colouring *c, uint64_t v) {
    uint32_t colour = 0;
    while (get(c, v, colour) != NONE) colour++;
    return colour;
}

static bool put(struct colouring *c, uint32_t arc, uint32_t colour) {
    c->colours[arc] = colour;
    return set(c, vertex(c, arc, false), colour, arc) && set(c, vertex(c, arc, true), colour, arc);
}

bool fly_colour_first_fit(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                          uint32_t *count) {
    struct colouring c;
    bool good = open_up(&c, ranks, arcs, all, rounds);
    *count = 0;
    for (uint32_t i = 0; i < arcs && good; i++) {
        uint64_t a = vertex(&c, i, false), b = vertex(&c, i, true);
        uint32_t colour = 0;
        while (get(&c, a, colour) != NONE || get(&c, b, colour) != NONE) colour++;
        good = put(&c, i, colour);
        if (colour >= *count) *count = colour + 1;
    }
    free(c.slots);
    return good;
}

/* Exchanges two colours along the path that leaves receiver v by colour a, where b is free. The
   path cannot reach a sender where a is free, since it arrives at senders by colour a. */
static bool exchange(struct colouring *c, uint64_t v, uint32_t a, uint32_t b, uint32_t *path) {
    size_t length = 0;
    bool receiver = true, good = true;
    for (uint32_t arc, colour = a; (arc = get(c, v, colour)) != NONE; colour = a ^ b ^ colour) {
        path[length++] = arc;
        receiver = !receiver;
        v = vertex(c, arc, receiver);
    }
    for (size_t i = 0; i < length; i++)
        for (int end = 0; end < 2; end++)
            good &= set(c, vertex(c, path[i], end == 1), c->colours[path[i]], NONE);
    for (size_t i = 0; i < length && good; i++)
        good = put(c, path[i], a ^ b ^ c->colours[path[i]]);
    return good;
}

bool fly_colour_koenig(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                       uint32_t *count) {
    struct colouring c;
    uint32_t *path = malloc((2 * (size_t)ranks + 1) * sizeof *path);
    bool good = open_up(&c, ranks, arcs, all, rounds) && path != NULL;
    *count = 0;
    for (uint32_t i = 0; i < arcs && good; i++) {
        uint64_t to = vertex(&c, i, true);
        uint32_t a = first_free(&c, vertex(&c, i, false)), b = first_free(&c, to);
        good = exchange(&c, to, a, b, path) && put(&c, i, a);
    }
    for (size_t i = 0; i < arcs && good; i++)
        if (rounds[i] >= *count) *count = rounds[i] + 1;
    free(c.slots);
    free(path);
    return good;
}

bool fly_degree(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *degree) {
    uint32_t *degrees = calloc(2 * (size_t)ranks + 1, sizeof *degrees);
    *degree = 0;
    if (degrees == NULL) return false;
    for (size_t i = 0; i < arcs; i++) {
        uint32_t out = ++degrees[all[i].from], in = ++degrees[ranks + all[i].to];
        if (out > *degree) *degree = out;
        if (in > *degree) *degree = in;
    }
    free(degrees);
    return true;
}

bool fly_colour(int ranks, size_t arcs, const struct fly_arc *all, uint32_t *rounds,
                uint32_t *count) {
    uint32_t degree;
    if (!fly_degree(ranks, arcs, all, &degree)) return false;
    if (!fly_colour_first_fit(ranks, arcs, all, rounds, count)) return false;
    return *count <= degree || fly_colour_koenig(ranks, arcs, all, rounds, count);
}
