/* The dissemination barrier that all collective calls stand on; it also finds a maximum.
 *
 * In round k rank r sends to r + 2^k and receives from r - 2^k (mod P); after ceil(log2 P) rounds
 * it has heard of all. Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988.
 * Once a member has died nobody waits any more: ranks may learn of the death in different calls,
 * and those that give up look dead to the rest in turn.
 */
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "error.h"
#include "progress.h"
#include "record.h"
#include "remote.h"
#include "state.h"
#include "team.h"

/* A bit of the value that the members exchange: some member is dead. */
static const uint64_t DEAD = UINT64_C(1) << 63;

int fly_agree_init(struct fly_agree *agree, int size) {
    memset(agree, 0, sizeof *agree);
    while (1L << agree->rounds < size) agree->rounds++;
    agree->got[0] = calloc((size_t)agree->rounds * 2 + 1, sizeof *agree->got[0]);
    if (agree->got[0] == NULL) return fly_fail(FLY_ERR_NOMEM, "no memory for a team of %d", size);
    agree->got[1] = agree->got[0] + agree->rounds;
    return FLY_OK;
}

void fly_agree_end(struct fly_agree *agree) {
    free(agree->got[0]);
    memset(agree, 0, sizeof *agree);
}

void fly_agree_arrived(struct fly_object *object, const struct fly_packet *packet) {
    struct fly_agree *agree = &object->agree;
    uint64_t round = packet->agree.round >> 1;
    if (round >= (uint64_t)agree->rounds) return;
    struct fly_round *got = &agree->got[packet->agree.round & 1][round];
    got->value = packet->agree.value;
    got->here = true;
    if ((got->value & DEAD) != 0) fly_peer_died_said(object->team->rt, (uint32_t)packet->tag);
}

static bool anyone_dead(const struct fly_rt *rt, const struct fly_team *team) {
    for (int i = 0; rt->deaths != 0 && i < team->size; i++)
        if (rt->peers[fly_world_rank(team, i)].dead) return true;
    return false;
}

static int tell(struct fly_rt *rt, const struct fly_object *object, int round, int peer,
                uint64_t value) {
    int code = fly_credit(rt, peer, FLY_CLASS_OTHER, true);
    if (code != FLY_OK) return code;
    struct fly_packet packet = {.kind = FLY_K_AGREE, .window = object->id};
    packet.source = object->team->rank;
    packet.tag = (int32_t)fly_dead_word(rt);
    packet.agree.round = (uint64_t)round << 1 | (object->agree.epoch & 1);
    packet.agree.value = value;
    fly_record_packet(rt, FLY_E_SEND, object->id, peer, FLY_TAG_BARRIER, false);
    return fly_send(rt, peer, &packet, NULL, 0);
}

int fly_agree(struct fly_rt *rt, struct fly_object *object, uint64_t *value) {
    const struct fly_team *team = object->team;
    struct fly_agree *agree = &object->agree;
    uint64_t own = *value, largest = own;
    for (int k = 0; k < agree->rounds; k++) {
        int step = (int)((1L << k) % team->size);
        int to = fly_world_rank(team, (team->rank + step) % team->size);
        struct fly_round *got = &agree->got[agree->epoch & 1][k];
        int from = fly_world_rank(team, (team->rank - step + team->size) % team->size);
        struct fly_pause pause = {.rt = rt, .awaited = 1 + from};
        if (tell(rt, object, k, to, largest) != FLY_OK) largest |= DEAD;
        while (!got->here && !anyone_dead(rt, team)) fly_wait_more(&pause);
        uint64_t heard = got->here ? got->value : DEAD;
        fly_record_packet(rt, FLY_E_RECV, object->id, from, FLY_TAG_BARRIER, true);
        got->here = false;
        uint64_t flag = (heard | largest) & DEAD;
        if ((heard & ~DEAD) > (largest & ~DEAD)) largest = heard;
        largest |= flag;
    }
    for (int k = 0; k < agree->rounds; k++) /* its receivers cannot leave the barrier earlier */
        fly_let_out(rt, fly_world_rank(team, (team->rank + (int)((1L << k) % team->size)) %
                                                 team->size));
    agree->epoch++;
    bool died = (largest & DEAD) != 0 || anyone_dead(rt, team);
    *value = died ? own : largest; /* the others' values may then be of another call */
    return died ? fly_fail_dead(rt, "all ranks of the team", -1) : FLY_OK;
}
