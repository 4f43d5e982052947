/* Teams and windows by the number that packets name them with. */
#ifndef FLY_OBJECTS_H
#define FLY_OBJECTS_H

#include <stdint.h>

struct fly_object;
struct fly_rt;

int fly_object_add(struct fly_rt *rt, struct fly_object *object);
void fly_object_remove(struct fly_rt *rt, const struct fly_object *object);
struct fly_object *fly_object_find(struct fly_rt *rt, uint32_t id);

#endif
