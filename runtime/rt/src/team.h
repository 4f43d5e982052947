/* Teams: ranks of members in the world, and a team's beginning and end. */
#ifndef FLY_TEAM_H
#define FLY_TEAM_H

#include "state.h"

static inline int fly_world_rank(const struct fly_team *team, int rank) {
    return team->world == NULL ? rank : team->world[rank];
}
/* The rank in the team of a rank of the world, or -1. */
int fly_team_rank(const struct fly_team *team, int world);
int fly_team_set(struct fly_team *team, struct fly_rt *rt, const fly_boot *boot, int *world);
void fly_team_clear(struct fly_team *team);

#endif
