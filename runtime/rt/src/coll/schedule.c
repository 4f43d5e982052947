/* Schedules: the operations put them together; here they get their memory and are freed. */
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "error.h"
#include "neighbour.h"

/* Makes room for one more entry in an array of the schedule; NULL: no memory, the schedule
   fails. */
static void *more(struct fly_sched *s, void **array, size_t *count, size_t *room, size_t bytes) {
    if (s->failed) return NULL;
    if (*count == *room) {
        size_t wider = *room == 0 ? 4 : *room * 2;
        void *grown = realloc(*array, wider * bytes);
        if (grown == NULL) {
            s->failed = true;
            return NULL;
        }
        *array = grown;
        *room = wider;
    }
    return memset((char *)*array + (*count)++ * bytes, 0, bytes);
}

#define MORE(s, name) \
    more((s), (void **)&(s)->name##s, &(s)->name##_count, &(s)->name##_room, sizeof *(s)->name##s)

void fly_round(struct fly_sched *s) {
    struct fly_span *span = MORE(s, round);
    if (span != NULL)
        *span = (struct fly_span){s->local_count, s->sending_count, s->receiving_count};
}

static void add_sending(struct fly_sched *s, int peer, int tag, const void *from, size_t bytes) {
    struct fly_sending *sending = MORE(s, sending);
    if (sending != NULL)
        *sending = (struct fly_sending){.from = from, .bytes = bytes, .peer = peer, .tag = tag};
}

static void add_receiving(struct fly_sched *s, int peer, int tag, void *to, const void *own,
                          size_t bytes, enum fly_take take) {
    struct fly_receiving *r = MORE(s, receiving);
    if (r == NULL) return;
    *r = (struct fly_receiving){.to = to, .own = own, .bytes = bytes, .peer = peer, .tag = tag,
                                .take = take};
}

void fly_send_to(struct fly_sched *s, int peer, int tag, const void *from, size_t bytes) {
    if (bytes != 0) add_sending(s, peer, tag, from, bytes);
}

void fly_receive_from(struct fly_sched *s, int peer, int tag, void *to, size_t bytes) {
    if (bytes != 0) add_receiving(s, peer, tag, to, NULL, bytes, FLY_TAKE_COPY);
}

void fly_fold_from(struct fly_sched *s, int peer, int tag, void *to, size_t bytes,
                   enum fly_take take) {
    fly_fold_onto(s, peer, tag, to, NULL, bytes, take);
}

void fly_fold_onto(struct fly_sched *s, int peer, int tag, void *to, const void *own, size_t bytes,
                   enum fly_take take) {
    if (bytes != 0) add_receiving(s, peer, tag, to, own, bytes, take);
}

void fly_signal(struct fly_sched *s, int peer, int tag) { add_sending(s, peer, tag, NULL, 0); }

void fly_await(struct fly_sched *s, int peer, int tag) {
    add_receiving(s, peer, tag, NULL, NULL, 0, FLY_TAKE_COPY);
}

static void add_local(struct fly_sched *s, void *to, void *from, size_t bytes,
                      enum fly_take take) {
    if (bytes == 0) return;
    struct fly_local_work *local = MORE(s, local);
    if (local != NULL) *local = (struct fly_local_work){to, from, bytes, take};
}

void fly_copy(struct fly_sched *s, void *to, const void *from, size_t bytes) {
    if (to != from) add_local(s, to, (void *)(uintptr_t)from, bytes, FLY_TAKE_COPY);
}

void fly_fold_local(struct fly_sched *s, void *to, void *from, size_t bytes, enum fly_take take) {
    add_local(s, to, from, bytes, take);
}

void fly_copy_shaped(struct fly_sched *s, void *to, const fly_shape *to_shape, const void *from,
                     const fly_shape *from_shape) {
    if (to_shape->blocks * to_shape->block_bytes == 0) return;
    struct fly_shape_copy *shaped = MORE(s, shaped);
    if (shaped == NULL) return;
    *shaped = (struct fly_shape_copy){*to_shape, *from_shape};
    struct fly_local_work *local = MORE(s, local);
    if (local != NULL)
        *local = (struct fly_local_work){to, (void *)(uintptr_t)from, s->shaped_count - 1,
                                    FLY_TAKE_SHAPED};
}

void *fly_temporary(struct fly_sched *s, size_t bytes) {
    if (bytes == 0 || s->failed) return NULL;
    void *made = calloc(1, bytes);
    void **grown = realloc(s->temporaries, (s->temporary_count + 1) * sizeof *grown);
    if (grown != NULL) s->temporaries = grown;
    if (made == NULL || grown == NULL) {
        free(made);
        s->failed = true;
        return NULL;
    }
    grown[s->temporary_count++] = made;
    return made;
}

/* A hash table finds receivings and sendings by <peer, tag>; both are in the same table. */
static size_t place_of(const struct fly_sched *s, int peer, int tag, bool sending) {
    uint64_t key = (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag << 1 | sending;
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(key >> 33) & (s->place_room - 1);
}

struct fly_receiving *fly_find_receiving(const struct fly_sched *s, int peer, int tag) {
    size_t at = place_of(s, peer, tag, false), mask = s->place_room - 1;
    for (; s->places[at] != 0; at = (at + 1) & mask) {
        size_t index = s->places[at] - 1;
        if (index >= s->receiving_count) continue;
        struct fly_receiving *r = &s->receivings[index];
        if (r->peer == peer && r->tag == tag) return r;
    }
    return NULL;
}

struct fly_sending *fly_find_sending(const struct fly_sched *s, int peer, int tag) {
    size_t at = place_of(s, peer, tag, true), mask = s->place_room - 1;
    for (; s->places[at] != 0; at = (at + 1) & mask) {
        size_t index = s->places[at] - 1;
        if (index < s->receiving_count) continue;
        struct fly_sending *sending = &s->sendings[index - s->receiving_count];
        if (sending->peer == peer && sending->tag == tag) return sending;
    }
    return NULL;
}

static void put_place(struct fly_sched *s, size_t at, size_t index) {
    while (s->places[at] != 0) at = (at + 1) & (s->place_room - 1);
    s->places[at] = (uint32_t)index + 1;
}

static bool make_places(struct fly_sched *s) {
    size_t all = s->receiving_count + s->sending_count;
    s->place_room = 4;
    while (s->place_room < 2 * all) s->place_room *= 2;
    s->places = calloc(s->place_room, sizeof *s->places);
    if (s->places == NULL) return false;
    for (size_t i = 0; i < s->receiving_count; i++)
        put_place(s, place_of(s, s->receivings[i].peer, s->receivings[i].tag, false), i);
    for (size_t i = 0; i < s->sending_count; i++)
        put_place(s, place_of(s, s->sendings[i].peer, s->sendings[i].tag, true),
                  s->receiving_count + i);
    return true;
}

/* The bytes of a piece, at most `most`: whole elements, and whole cache lines where possible. */
static size_t piece_of(const struct fly_receiving *r, size_t most, size_t element) {
    size_t piece = r->bytes < most ? r->bytes : most;
    if (r->take == FLY_TAKE_COPY || piece == r->bytes) return piece;
    return piece < element ? element : piece / element * element;
}

static uint64_t lines(size_t bytes) { return ((uint64_t)bytes + 63) / 64 * 64; }

uint64_t fly_piece_at(const struct fly_sched *s, const struct fly_receiving *r, uint32_t piece) {
    return s->heap_offset + r->offset + piece % FLY_COLL_DEPTH * lines(r->piece);
}

static uint64_t room_of(const struct fly_receiving *r) {
    if (r->bytes <= FLY_COLL_INLINE) return 0;
    if (r->reads) return r->take == FLY_TAKE_COPY ? 0 : lines(r->piece); /* buffer of a fold */
    return lines(r->piece) * (r->piece == r->bytes ? 1 : FLY_COLL_DEPTH);
}

/* Lays out the places of pieces in the schedule's memory: each its own, or reused in each round. */
static uint64_t lay_out(struct fly_sched *s, size_t most, size_t element, bool early) {
    uint64_t at = 0, all = s->casting == NULL ? 0 : fly_cast_room(s, most);
    for (size_t round = 0; round < s->round_count; round++) {
        if (!early) at = 0;
        for (size_t i = s->rounds[round].receiving; i < s->rounds[round + 1].receiving; i++) {
            struct fly_receiving *r = &s->receivings[i];
            r->reads = s->casting == NULL && r->bytes >= FLY_COLL_LONG &&
                       s->coll->lanes[r->peer].reads;
            r->piece = piece_of(r, r->reads ? FLY_COLL_READ * most : most, element);
            s->reads |= r->reads;
            r->offset = at;
            at += room_of(r);
        }
        if (at > all) all = at;
    }
    return all;
}

/* Gets memory for pieces: large ones, even if kept schedules must go; if that fails, smaller
   ones. */
static bool get_room(struct fly_sched *s) {
    size_t element = fly_fold_bytes(&s->key.fold);
    s->heap_bytes = lay_out(s, FLY_COLL_PIECE, element, true);
    s->early = (s->heap_bytes != 0 || s->reads) && s->heap_bytes <= FLY_COLL_EARLY &&
               s->casting == NULL;
    for (size_t most = FLY_COLL_PIECE; most >= 64; most /= 2) {
        if (!s->early) s->heap_bytes = lay_out(s, most, element, false);
        if (s->heap_bytes == 0) return true;
        do {
            if (fly_heap_get(s->coll, s->heap_bytes, &s->heap_offset)) return true;
        } while (fly_kept_drop_oldest(s->coll));
        s->early = false;
    }
    s->heap_bytes = 0;
    return false;
}

static bool keep_vector(struct fly_sched *s, const struct fly_call *call) {
    for (int i = 0; i < 4; i++) s->vector_count += call->lengths[i];
    if (s->vector_count == 0) return true;
    s->vector = malloc(s->vector_count * sizeof *s->vector);
    if (s->vector == NULL) return false;
    size_t *at = s->vector;
    for (int i = 0; i < 4; i++) {
        if (call->lengths[i] == 0) continue;
        memcpy(at, call->arrays[i], call->lengths[i] * sizeof *at);
        at += call->lengths[i];
    }
    return true;
}

struct fly_sched *fly_sched_new(const struct fly_call *call, int *code) {
    struct fly_sched *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->coll = call->coll;
        s->key = call->key;
        call->key.build(s, call);
        if (call->graph != NULL && call->coll->settings.dump[0] != 0)
            s->described = fly_edges_text(call);
        fly_round(s); /* marks where the last round ends */
        s->round_count -= s->failed ? 0 : 1;
    }
    if (s == NULL || s->failed || !keep_vector(s, call) || !make_places(s)) {
        *code = fly_fail(FLY_ERR_NOMEM, "%s: no memory for a schedule", call->name);
    } else if (!get_room(s)) {
        *code = fly_fail(FLY_ERR_NOMEM, "%s: the requests of this team's collectives use all %d "
                         "bytes that it has for arriving data", call->name, FLY_COLL_HEAP);
    } else {
        s->req.kind = FLY_R_SCHEDULE;
        return s;
    }
    if (s != NULL) fly_sched_free(s);
    return NULL;
}

void fly_sched_free(struct fly_sched *s) {
    if (s->heap_bytes != 0 && s->coll != NULL) fly_heap_give(s->coll, s->heap_offset);
    for (size_t i = 0; i < s->temporary_count; i++) free(s->temporaries[i]);
    free(s->temporaries);
    free(s->vector);
    free(s->locals);
    free(s->shapeds);
    free(s->sendings);
    free(s->receivings);
    free(s->rounds);
    free(s->places);
    free(s->described);
    free(s);
}
