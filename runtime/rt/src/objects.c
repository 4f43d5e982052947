/* Looks up teams and windows by the number by which packets name them. */
#include <stdlib.h>

#include "error.h"
#include "objects.h"
#include "state.h"

enum { FIRST_ROOM = 16 };

static size_t place_of(const struct fly_rt *rt, uint32_t id) {
    size_t at = id & (rt->object_room - 1);
    while (rt->objects[at] != NULL && rt->objects[at]->id != id)
        at = (at + 1) & (rt->object_room - 1);
    return at;
}

struct fly_object *fly_object_find(struct fly_rt *rt, uint32_t id) {
    if (rt->last != NULL && rt->last->id == id) return rt->last;
    struct fly_object *found = rt->objects[place_of(rt, id)];
    if (found != NULL) rt->last = found;
    return found;
}

static int grow(struct fly_rt *rt, size_t room) {
    struct fly_object **old = rt->objects, **objects = calloc(room, sizeof *objects);
    if (objects == NULL) return fly_fail(FLY_ERR_NOMEM, "no memory for %zu windows", room);
    size_t old_room = rt->object_room;
    rt->objects = objects;
    rt->object_room = room;
    for (size_t i = 0; i < old_room; i++)
        if (old[i] != NULL) objects[place_of(rt, old[i]->id)] = old[i];
    free(old);
    return FLY_OK;
}

int fly_object_add(struct fly_rt *rt, struct fly_object *object) {
    if (rt->object_count * 2 >= rt->object_room) {
        int code = grow(rt, rt->object_room == 0 ? FIRST_ROOM : rt->object_room * 2);
        if (code != FLY_OK) return code;
    }
    rt->objects[place_of(rt, object->id)] = object;
    rt->object_count++;
    return FLY_OK;
}

/* Moves up the entries behind the removed one, so that a search never meets a gap. */
void fly_object_remove(struct fly_rt *rt, const struct fly_object *object) {
    size_t mask = rt->object_room - 1, gap = place_of(rt, object->id);
    if (rt->objects[gap] == NULL) return;
    rt->objects[gap] = NULL;
    rt->object_count--;
    rt->last = NULL;
    for (size_t at = (gap + 1) & mask; rt->objects[at] != NULL; at = (at + 1) & mask) {
        struct fly_object *moved = rt->objects[at];
        rt->objects[at] = NULL;
        rt->objects[place_of(rt, moved->id)] = moved;
    }
}
