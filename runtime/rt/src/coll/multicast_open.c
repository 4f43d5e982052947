/* The multicast group of a team: all ranks join it, try it out between all, and leave it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agree.h"
#include "error.h"
#include "mark.h"
#include "multicast.h"
#include "progress.h"

/* In each round of the trial a rank sends PROBES datagrams, and waits twice as long as before. */
enum { PROBES = 3, ROUNDS = 5 };
static const uint64_t FIRST_NS = 10000000;
/* Flags and limits in the values that ranks agree on: CANNOT, a rank cannot join; else how far a
   rank's bytes are below BYTES_MOST. */
static const uint64_t CANNOT = UINT64_C(1) << 40, BYTES_MOST = 65536;

/* Finds the largest value of all ranks; false: a rank has died. */
static bool agree(struct fly_coll *coll, uint64_t *value) {
    return fly_agree(coll->rt, &coll->team->object, value) == FLY_OK;
}

/* The reason for which this rank alone cannot use multicast; NULL: none. */
static const char *objection(const struct fly_coll *coll) {
    if (!coll->settings.multicast) return "not asked for: FLYLOOM_MULTICAST";
    if (coll->rt->record != NULL) return "a record has messages between two ranks only";
    return NULL;
}

static bool join(struct fly_coll *coll) {
    struct fly_cast *cast = coll->cast;
    const struct fly_coll_settings *set = &coll->settings;
    const char *against = objection(coll);
    if (against != NULL) {
        snprintf(cast->text, sizeof cast->text, "%s", against);
        return false;
    }
    cast->link = fly_datagrams_open(set->group, &cast->token, cast->text, sizeof cast->text);
    if (cast->link == NULL || !set->faulty) return cast->link != NULL;
    struct fly_datagrams *faulty = fly_faults_wrap(cast->link, &set->faults, coll->team->rank);
    if (faulty != NULL) cast->link = faulty;
    return faulty != NULL;
}

/* Rank 0 opens a group, which the others join. The smallest datagram size of any rank is for
   all. */
static bool join_all(struct fly_coll *coll) {
    struct fly_cast *cast = coll->cast;
    bool first = coll->team->rank == 0, joined = first && join(coll);
    uint64_t token = joined ? cast->token : 0;
    if (!agree(coll, &token)) return false;
    if (token == 0) {
        if (!first) snprintf(cast->text, sizeof cast->text, "rank 0 could not: its own text tells");
        return false;
    }
    cast->token = token;
    if (!first) joined = join(coll);
    if (joined) cast->room = malloc(cast->link->most_bytes);
    if (cast->room == NULL) joined = false;
    uint64_t less = joined ? BYTES_MOST - cast->link->most_bytes
                           : CANNOT + (uint64_t)coll->team->rank;
    if (!agree(coll, &less)) return false;
    if (less >= CANNOT) {
        if (joined) snprintf(cast->text, sizeof cast->text, "rank %d could not: its own text tells",
                             (int)(less - CANNOT));
        return false;
    }
    cast->fragment_bytes = BYTES_MOST - less - sizeof(struct fly_cast_head);
    return true;
}

/* Distributes rank 0's key for marks by the transports, so that eavesdroppers on the group lack
   it. */
static bool agree_on_key(struct fly_coll *coll) {
    uint64_t *key = coll->cast->key;
    ssize_t bytes = sizeof coll->cast->key;
    if (coll->team->rank == 0 && getrandom(key, (size_t)bytes, 0) != bytes) key[0] = key[1] = 0;
    for (int i = 0; i < 2; i++) {
        key[i] >>= 2; /* fly_agree carries fewer bits */
        if (!agree(coll, &key[i])) return false;
    }
    if ((key[0] | key[1]) != 0) return true;
    snprintf(coll->cast->text, sizeof coll->cast->text, "rank 0 has no random numbers");
    return false;
}

/* The mark of a rank's probe that comes from `source`. If others resend it, its source differs. */
static uint64_t mark_of(const struct fly_cast *cast, int rank, uint64_t source) {
    uint64_t words[] = {cast->token, (uint64_t)rank, source};
    return fly_mark(cast->key, words, sizeof words / sizeof *words);
}

/* Takes the probes that have come, and notes the source of each rank's datagrams; returns how many
   ranks are still to be heard. */
static int hear(struct fly_coll *coll) {
    struct fly_cast *cast = coll->cast;
    struct fly_cast_head head;
    uint64_t mark, source;
    size_t bytes, room = cast->link->most_bytes;
    int missing = 0;
    while ((bytes = cast->link->ops->receive(cast->link, cast->room, room, &source)) != 0) {
        if (bytes != sizeof head + sizeof mark) continue;
        memcpy(&head, cast->room, sizeof head);
        memcpy(&mark, cast->room + sizeof head, sizeof mark);
        if (head.token == cast->token && head.number == FLY_CAST_PROBE && head.source >= 0 &&
            head.source < coll->team->size && mark == mark_of(cast, head.source, source))
            cast->sources[head.source] = source;
    }
    for (int r = 0; r < coll->team->size; r++) missing += cast->sources[r] == 0;
    return missing;
}

/* Whether datagrams of every rank reach every other. Those of the first round may be sent before a
   switch knows who has joined. */
static bool try_all(struct fly_coll *coll) {
    struct fly_cast *cast = coll->cast;
    struct fly_cast_head head = {cast->token, FLY_CAST_PROBE, 0, coll->team->rank};
    uint64_t mark = mark_of(cast, coll->team->rank, cast->link->source);
    uint64_t missing = 1, wait_ns = FIRST_NS;
    cast->sources = calloc((size_t)coll->team->size, sizeof *cast->sources);
    if (cast->sources != NULL) cast->sources[coll->team->rank] = cast->link->source;
    coll->rt->casts++;
    for (int round = 0; round < ROUNDS && missing != 0; round++, wait_ns *= 2) {
        struct fly_pause pause = {.rt = coll->rt};
        uint64_t until = fly_now_ns() + wait_ns;
        bool heard = false;
        for (int i = 0; i < PROBES; i++)
            cast->link->ops->send(cast->link, &head, sizeof head, &mark, sizeof mark);
        while (cast->sources != NULL && !heard) {
            heard = hear(coll) == 0;
            if (fly_now_ns() >= until) break;
            if (!heard) fly_wait_more(&pause);
        }
        missing = heard ? 0 : 1 + (uint64_t)coll->team->rank;
        if (!agree(coll, &missing)) break;
    }
    coll->rt->casts--;
    if (missing != 0)
        snprintf(cast->text, sizeof cast->text, "%s: datagrams do not come to rank %d from all",
                 cast->link->place, (int)missing - 1);
    return missing == 0;
}

static void leave(struct fly_cast *cast) {
    if (cast->link != NULL) cast->link->ops->close(cast->link);
    free(cast->room);
    free(cast->sources);
    cast->link = NULL;
    cast->room = NULL;
    cast->sources = NULL;
}

void fly_cast_open(struct fly_coll *coll) {
    struct fly_cast *cast = calloc(1, sizeof *cast), none = {0};
    if (cast == NULL) coll->settings.multicast = false; /* the others learn it below */
    coll->cast = cast != NULL ? cast : &none;
    if (!join_all(coll) || !agree_on_key(coll) || !try_all(coll)) {
        leave(coll->cast);
        coll->cast = cast;
        return;
    }
    size_t step = FLY_MULTICAST_STEP / cast->fragment_bytes;
    size_t most = cast->link->waiting_bytes < FLY_CAST_WINDOW ? cast->link->waiting_bytes
                                                              : FLY_CAST_WINDOW;
    cast->step = step < 1 ? 1 : (uint32_t)step;
    cast->window = (uint32_t)(most / (cast->step * cast->fragment_bytes)) * cast->step;
    if (cast->window == 0) cast->window = cast->step;
    cast->early_last = &cast->early;
    coll->settings.loggp.datagram_bytes = cast->fragment_bytes;
    snprintf(cast->text, sizeof cast->text, "%s", cast->link->place);
}

void fly_cast_close(struct fly_coll *coll) {
    struct fly_cast *cast = coll->cast;
    if (cast == NULL) return;
    leave(cast);
    fly_cast_forget(cast);
    free(cast);
    coll->cast = NULL;
}

int fly_multicast_query(fly_team *team, fly_multicast *facts) {
    if (team == NULL || facts == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_multicast_query: team or facts is NULL");
    memset(facts, 0, sizeof *facts);
    fly_enter(team->rt);
    const struct fly_cast *cast = team->coll != NULL ? team->coll->cast : NULL;
    if (cast == NULL) {
        snprintf(facts->text, sizeof facts->text, "%s", team->coll == NULL
                 ? "no collective has been called yet" : "not asked for: FLYLOOM_MULTICAST");
    } else {
        snprintf(facts->text, sizeof facts->text, "%s", cast->text);
        facts->open = cast->link != NULL;
        facts->fragment_bytes = cast->link != NULL ? cast->fragment_bytes : 0;
        facts->sent = cast->sent;
        facts->taken = cast->taken;
        facts->asked = cast->asked;
        facts->repaired = cast->repaired;
        facts->dropped = cast->link != NULL ? cast->link->dropped : 0;
    }
    fly_leave(team->rt);
    return FLY_OK;
}
