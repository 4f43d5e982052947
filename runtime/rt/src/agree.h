/* The barrier that all collective calls of teams and windows use; it also finds a maximum. */
#ifndef FLY_AGREE_H
#define FLY_AGREE_H

#include "state.h"

int fly_agree_init(struct fly_agree *agree, int size);
void fly_agree_end(struct fly_agree *agree);
/* Collective: waits for all members; *value becomes the largest. FLY_ERR_PEER: one is dead. */
int fly_agree(struct fly_rt *rt, struct fly_object *object, uint64_t *value);
void fly_agree_arrived(struct fly_object *object, const struct fly_packet *packet);

#endif
