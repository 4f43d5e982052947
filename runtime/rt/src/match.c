/* Matching of notifications to requests by <source, tag>; what it promises is in match.h. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16, CHUNK_NOTES = 32 };

struct chunk {
    struct chunk *next;
    struct fly_note notes[CHUNK_NOTES];
};

#define NOTE_OF(link, shape) \
    ((struct fly_note *)((char *)((link) - (shape)) - offsetof(struct fly_note, links)))
#define WANT_OF(at) ((struct fly_want *)((char *)(at) - offsetof(struct fly_want, link)))

static void chain_init(struct fly_chain *head) { head->next = head->prev = head; }

static bool chain_empty(const struct fly_chain *head) { return head->next == head; }

static void chain_append(struct fly_chain *head, struct fly_chain *link) {
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

static void chain_remove(struct fly_chain *link) {
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

static int shape_of(int source, int tag) {
    if (source != FLY_MATCH_ANY) return tag != FLY_MATCH_ANY ? FLY_SHAPE_BOTH : FLY_SHAPE_SOURCE;
    return tag != FLY_MATCH_ANY ? FLY_SHAPE_TAG : FLY_SHAPE_ALL;
}

/* Fibonacci hashing of the pair; the high bits are mixed best. */
static size_t place_of(int source, int tag, size_t room) {
    uint64_t key = (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
    key ^= key >> 29;
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)((key ^ key >> 31) >> 7) & (room - 1);
}

static void bucket_init(struct fly_bucket *bucket, int source, int tag) {
    chain_init(&bucket->notes);
    chain_init(&bucket->wants);
    bucket->next = NULL;
    bucket->source = source;
    bucket->tag = tag;
    bucket->pins = 0;
}

void fly_match_init(struct fly_match *m) {
    memset(m, 0, sizeof *m);
    bucket_init(&m->all, FLY_MATCH_ANY, FLY_MATCH_ANY);
    chain_init(&m->free_notes);
}

void fly_match_end(struct fly_match *m) {
    for (size_t i = 0; i < m->room; i++) {
        struct fly_bucket *bucket = m->table[i];
        while (bucket != NULL) {
            struct fly_bucket *next = bucket->next;
            free(bucket);
            bucket = next;
        }
    }
    free(m->table);
    struct chunk *chunk = m->chunks;
    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    fly_match_init(m);
}

static struct fly_bucket *find(const struct fly_match *m, int source, int tag) {
    if (m->room == 0) return NULL;
    struct fly_bucket *bucket = m->table[place_of(source, tag, m->room)];
    while (bucket != NULL && (bucket->source != source || bucket->tag != tag))
        bucket = bucket->next;
    return bucket;
}

/* As `find`, but usually without a search, since programs use few keys in turn. */
static struct fly_bucket *find_again(struct fly_match *m, int shape, int source, int tag) {
    struct fly_found *found = &m->found[shape];
    if (!found->known || found->source != source || found->tag != tag)
        *found = (struct fly_found){source, tag, find(m, source, tag), true};
    return found->bucket;
}

static void forget_found(struct fly_match *m) {
    for (int shape = 0; shape < FLY_SHAPES; shape++) m->found[shape].known = false;
}

static bool in_use(const struct fly_bucket *bucket) {
    return bucket->pins != 0 || !chain_empty(&bucket->notes);
}

/* Frees the empty buckets; if more than half of the room is still in use, doubles it. So the work
   is constant for each bucket made, and a table that stays small is never moved. */
static bool make_room(struct fly_match *m) {
    size_t kept = 0;
    forget_found(m);
    for (size_t i = 0; i < m->room; i++) {
        struct fly_bucket **at = &m->table[i];
        while (*at != NULL) {
            struct fly_bucket *bucket = *at;
            if (in_use(bucket)) {
                kept++;
                at = &bucket->next;
            } else {
                *at = bucket->next;
                free(bucket);
            }
        }
    }
    m->buckets = kept;
    if (m->room != 0 && kept <= m->room / 2) return true;
    size_t room = m->room == 0 ? FIRST_ROOM : m->room * 2;
    struct fly_bucket **table = calloc(room, sizeof *table);
    if (table == NULL) return false;
    for (size_t i = 0; i < m->room; i++) {
        struct fly_bucket *bucket = m->table[i];
        while (bucket != NULL) {
            struct fly_bucket *next = bucket->next;
            size_t place = place_of(bucket->source, bucket->tag, room);
            bucket->next = table[place];
            table[place] = bucket;
            bucket = next;
        }
    }
    free(m->table);
    m->table = table;
    m->room = room;
    return true;
}

/* Finds or makes the bucket of a key, and pins it so that it stays. NULL: no memory. */
static struct fly_bucket *pin(struct fly_match *m, int source, int tag) {
    if (shape_of(source, tag) == FLY_SHAPE_ALL) {
        m->all.pins++;
        return &m->all;
    }
    struct fly_bucket *bucket = find(m, source, tag);
    if (bucket == NULL) {
        if (m->buckets >= m->room && !make_room(m)) return NULL;
        bucket = malloc(sizeof *bucket);
        if (bucket == NULL) return NULL;
        bucket_init(bucket, source, tag);
        struct fly_bucket **place = &m->table[place_of(source, tag, m->room)];
        bucket->next = *place;
        *place = bucket;
        m->buckets++;
        forget_found(m);
    }
    bucket->pins++;
    return bucket;
}

bool fly_match_bind(struct fly_match *m, struct fly_want *want) {
    want->home = pin(m, want->source, want->tag);
    want->shape = (uint8_t)shape_of(want->source, want->tag);
    want->posted = false;
    fly_match_rewind(want);
    return want->home != NULL;
}

void fly_match_unbind(struct fly_match *m, struct fly_want *want) {
    fly_match_withdraw(m, want);
    want->home->pins--;
    want->home = NULL;
}

static FLY_APART void copy_inline(unsigned char *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}

static inline void give(const struct fly_match *m, struct fly_want *want, int source, int tag,
                        const void *data, size_t bytes) {
    fly_match_take(want, source, tag, bytes);
    if (bytes == 8)
        memcpy(want->inline_data, data, 8); /* the usual size: compiled without a call */
    else if (bytes != 0)
        copy_inline(want->inline_data, data, bytes);
    if (m->took != NULL) m->took(m->took_context, want, source, tag);
}

static void drop_note(struct fly_match *m, struct fly_note *note) {
    for (int shape = 0; shape < FLY_SHAPES; shape++) chain_remove(&note->links[shape]);
    chain_append(&m->free_notes, &note->links[0]);
    m->unmatched--;
}

static FLY_APART void take_waiting(struct fly_match *m, struct fly_want *want) {
    struct fly_chain *notes = &want->home->notes;
    while (want->left != 0 && !chain_empty(notes)) {
        struct fly_note *note = NOTE_OF(notes->next, want->shape);
        give(m, want, note->source, note->tag, note->inline_data, note->inline_bytes);
        drop_note(m, note);
    }
}

static void stand_in_line(struct fly_match *m, struct fly_want *want) {
    want->number = m->started++;
    chain_append(&want->home->wants, &want->link);
    m->waiting[want->shape]++;
    m->posted++;
}

void fly_match_post(struct fly_match *m, struct fly_want *want) {
    if (want->expected != 0 && fly_match_post_alone(m, want)) return;
    fly_match_rewind(want);
    take_waiting(m, want);
    if (fly_match_complete(want)) return;
    want->posted = true;
    if (m->alone == NULL && m->posted == 0) {
        m->alone = want;
        return;
    }
    if (m->alone != NULL) stand_in_line(m, m->alone);
    m->alone = NULL;
    stand_in_line(m, want);
}

void fly_match_withdraw(struct fly_match *m, struct fly_want *want) {
    if (!want->posted) return;
    want->posted = false;
    if (m->alone == want) {
        m->alone = NULL;
    } else {
        chain_remove(&want->link);
        m->waiting[want->shape]--;
        m->posted--;
    }
}

void fly_match_give_up(struct fly_match *m, struct fly_want *want) {
    fly_match_withdraw(m, want);
    want->missing = want->left;
    want->left = 0;
}

/* Returns the one that was started first: `best`, or the first waiting request of a bucket. */
static struct fly_want *earlier(struct fly_want *best, const struct fly_bucket *bucket) {
    if (bucket == NULL || chain_empty(&bucket->wants)) return best;
    struct fly_want *first = WANT_OF(bucket->wants.next);
    return best == NULL || first->number < best->number ? first : best;
}

static struct fly_want *first_in_line(struct fly_match *m, int source, int tag) {
    static const int ANY = FLY_MATCH_ANY;
    struct fly_want *best = NULL;
    if (m->waiting[FLY_SHAPE_BOTH] != 0)
        best = earlier(best, find_again(m, FLY_SHAPE_BOTH, source, tag));
    if (m->waiting[FLY_SHAPE_SOURCE] != 0)
        best = earlier(best, find_again(m, FLY_SHAPE_SOURCE, source, ANY));
    if (m->waiting[FLY_SHAPE_TAG] != 0)
        best = earlier(best, find_again(m, FLY_SHAPE_TAG, ANY, tag));
    if (m->waiting[FLY_SHAPE_ALL] != 0) best = earlier(best, &m->all);
    return best;
}

static struct fly_note *new_note(struct fly_match *m) {
    if (chain_empty(&m->free_notes)) {
        struct chunk *chunk = malloc(sizeof *chunk);
        if (chunk == NULL) return NULL;
        chunk->next = m->chunks;
        m->chunks = chunk;
        for (int i = 0; i < CHUNK_NOTES; i++)
            chain_append(&m->free_notes, &chunk->notes[i].links[0]);
    }
    struct fly_chain *link = m->free_notes.prev; /* the note used last is still in the cache */
    chain_remove(link);
    return NOTE_OF(link, 0);
}

static FLY_APART bool keep(struct fly_match *m, int source, int tag, const void *data,
                           size_t bytes) {
    static const int ANY = FLY_MATCH_ANY;
    struct fly_bucket *homes[FLY_SHAPES] = {NULL, NULL, NULL, &m->all};
    struct fly_note *note = new_note(m);
    if (note == NULL) return false;
    homes[FLY_SHAPE_BOTH] = pin(m, source, tag);
    homes[FLY_SHAPE_SOURCE] = pin(m, source, ANY);
    homes[FLY_SHAPE_TAG] = pin(m, ANY, tag);
    bool whole = true;
    for (int shape = 0; shape < FLY_SHAPE_ALL; shape++) {
        if (homes[shape] == NULL)
            whole = false;
        else
            homes[shape]->pins--;
    }
    if (!whole) {
        chain_append(&m->free_notes, &note->links[0]);
        return false;
    }
    for (int shape = 0; shape < FLY_SHAPES; shape++)
        chain_append(&homes[shape]->notes, &note->links[shape]);
    note->source = source;
    note->tag = tag;
    note->inline_bytes = (uint8_t)bytes;
    if (bytes != 0) memcpy(note->inline_data, data, bytes);
    m->unmatched++;
    return true;
}

bool fly_match_arrive(struct fly_match *m, int source, int tag, const void *data, size_t bytes,
                      struct fly_want **taker) {
    struct fly_want *want = m->alone;
    if (want == NULL)
        want = m->posted == 0 ? NULL : first_in_line(m, source, tag);
    else if (!fly_match_fits(want, source, tag))
        want = NULL;
    *taker = want;
    if (want == NULL) return keep(m, source, tag, data, bytes);
    give(m, want, source, tag, data, bytes);
    if (fly_match_complete(want)) fly_match_withdraw(m, want);
    return true;
}

const struct fly_note *fly_match_probe(const struct fly_match *m, int source, int tag) {
    int shape = shape_of(source, tag);
    const struct fly_bucket *bucket = shape == FLY_SHAPE_ALL ? &m->all : find(m, source, tag);
    if (bucket == NULL || chain_empty(&bucket->notes)) return NULL;
    return NOTE_OF(bucket->notes.next, shape);
}

void fly_match_each(struct fly_match *m, int source, void (*visit)(void *, struct fly_want *),
                    void *context) {
    if (m->alone != NULL && m->alone->source == source) visit(context, m->alone);
    for (size_t i = 0; i < m->room; i++) {
        for (struct fly_bucket *b = m->table[i]; b != NULL; b = b->next) {
            if (b->source != source) continue;
            struct fly_chain *link = b->wants.next;
            while (link != &b->wants) {
                struct fly_chain *next = link->next;
                visit(context, WANT_OF(link));
                link = next;
            }
        }
    }
}
