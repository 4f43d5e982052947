/* Teams: ordered processes, and their ranks in the world. */
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "boot_files.h"
#include "coll/call.h"
#include "error.h"
#include "objects.h"
#include "progress.h"
#include "record.h"
#include "state.h"
#include "team.h"

int fly_team_rank(const struct fly_team *team, int world) {
    if (team->world == NULL) return world;
    for (int r = 0; r < team->size; r++)
        if (team->world[r] == world) return r;
    return -1;
}

int fly_team_set(struct fly_team *team, struct fly_rt *rt, const fly_boot *boot, int *world) {
    *team = (struct fly_team){.rt = rt, .rank = boot->rank, .size = boot->size, .boot = *boot};
    team->world = world;
    team->object.kind = FLY_IS_TEAM;
    team->object.team = team;
    return fly_agree_init(&team->object.agree, boot->size);
}

void fly_team_clear(struct fly_team *team) {
    fly_agree_end(&team->object.agree);
    free(team->world);
    team->world = NULL;
}

struct member {
    int32_t world, code;
    uint32_t next_object, spare;
};

/* Finds the world ranks of the members, which must be distinct processes of rt. */
static int members_of(struct fly_rt *rt, const struct member *all, int size, int **world,
                      uint32_t *id) {
    bool *seen = calloc((size_t)rt->size, sizeof *seen);
    *world = malloc((size_t)size * sizeof **world);
    int code = FLY_OK;
    if (seen == NULL || *world == NULL) code = fly_fail(FLY_ERR_NOMEM, "no memory for a team");
    for (int r = 0; r < size && code == FLY_OK; r++) {
        int one = all[r].world;
        if (all[r].code != FLY_OK)
            code = fly_fail(all[r].code, "fly_team_create: member %d could not", r);
        else if (one < 0 || one >= rt->size || seen[one])
            code = fly_fail(FLY_ERR_ARG, "fly_team_create: members: member %d is not a process "
                            "of this runtime, or is there twice", r);
        if (code != FLY_OK) break;
        seen[one] = true;
        (*world)[r] = one;
        if (all[r].next_object > *id) *id = all[r].next_object;
    }
    free(seen);
    return code;
}

/* Exchanges whether all members could make the team. */
static int all_could(const fly_boot *members, struct member *all, int code) {
    struct member mine = {.code = code};
    int gathered = fly_boot_gather(members, "fly_team_create: members", &mine, all, sizeof mine);
    if (gathered != FLY_OK) return code == FLY_OK ? gathered : code;
    for (int r = 0; r < members->size && code == FLY_OK; r++)
        if (all[r].code != FLY_OK)
            code = fly_fail(all[r].code, "fly_team_create: member %d could not: %s", r,
                            fly_strerror(all[r].code));
    return code;
}

int fly_team_create(fly_rt *rt, const fly_boot *members, fly_team **out) {
    if (rt == NULL || members == NULL || out == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_team_create: rt, members or team is NULL");
    *out = NULL;
    if (members->allgather == NULL || members->size < 1 || members->rank < 0 ||
        members->rank >= members->size || members->size > rt->size)
        return fly_fail(FLY_ERR_ARG, "fly_team_create: members: rank %d of %d, of %d processes, "
                        "must be a rank of a part of them, with an allgather", members->rank,
                        members->size, rt->size);
    struct member *all = calloc((size_t)members->size, sizeof *all);
    struct fly_team *team = calloc(1, sizeof *team);
    struct member mine = {.world = rt->rank, .next_object = rt->next_object};
    int *world = NULL;
    uint32_t id = 0;
    if (all == NULL || team == NULL) {
        free(all);
        free(team);
        return fly_fail(FLY_ERR_NOMEM, "fly_team_create: no memory for a team");
    }
    int code = fly_boot_gather(members, "fly_team_create: members", &mine, all, sizeof mine);
    bool gathered = code == FLY_OK;
    if (code == FLY_OK) code = members_of(rt, all, members->size, &world, &id);
    if (code == FLY_OK) code = fly_team_set(team, rt, members, world);
    else free(world);
    fly_record_skip(rt);
    fly_enter(rt);
    team->object.id = id;
    if (rt->next_object <= id) rt->next_object = id + 1;
    if (code == FLY_OK) code = fly_object_add(rt, &team->object);
    fly_leave(rt);
    bool added = code == FLY_OK;
    if (gathered) code = all_could(members, all, code);
    fly_record_skip(rt);
    fly_enter(rt);
    if (code == FLY_OK) {
        rt->teams++;
        *out = team;
    } else {
        if (added) fly_object_remove(rt, &team->object);
        if (team->object.team != NULL) fly_team_clear(team);
        free(team);
    }
    fly_leave(rt);
    free(all);
    return code;
}

int fly_team_free(fly_team **out) {
    if (out == NULL || *out == NULL) return fly_fail(FLY_ERR_ARG, "fly_team_free: team is NULL");
    struct fly_team *team = *out;
    struct fly_rt *rt = team->rt;
    if (team == &rt->world)
        return fly_fail(FLY_ERR_STATE, "fly_team_free: team: fly_finalize frees fly_world");
    fly_enter(rt);
    int code = FLY_OK;
    if (team->windows != 0)
        code = fly_fail(FLY_ERR_STATE, "fly_team_free: team: it has %zu windows", team->windows);
    else if (fly_coll_busy(team))
        code = fly_fail(FLY_ERR_STATE, "fly_team_free: team: a collective is not waited for");
    uint64_t value = (uint64_t)code;
    int together = fly_agree(rt, &team->object, &value);
    if (value == 0) {
        fly_coll_end(team);
        fly_object_remove(rt, &team->object);
        fly_team_clear(team);
        free(team);
        rt->teams--;
        *out = NULL;
        code = together;
    } else if (code == FLY_OK) {
        code = fly_fail(FLY_ERR_STATE, "fly_team_free: team: it is in use at another rank");
    }
    fly_leave(rt);
    return code;
}

int fly_team_self(fly_team *team, int *rank, int *size) {
    if (team == NULL) return fly_fail(FLY_ERR_ARG, "fly_team_self: team is NULL");
    if (rank != NULL) *rank = team->rank;
    if (size != NULL) *size = team->size;
    return FLY_OK;
}

fly_team *fly_world(fly_rt *rt) {
    if (rt == NULL) {
        fly_fail(FLY_ERR_ARG, "fly_world: rt is NULL");
        return NULL;
    }
    return &rt->world;
}
