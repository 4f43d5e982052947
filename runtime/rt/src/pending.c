/* Operations that wait for an answer, found by the token that the answer carries. */
#include <stdlib.h>

#include "pending.h"
#include "state.h"

enum { FIRST_ROOM = 16 };

uint32_t fly_pending_new(struct fly_rt *rt) {
    if (rt->pending_free == UINT32_MAX) {
        uint32_t room = rt->pending_room == 0 ? FIRST_ROOM : rt->pending_room * 2;
        struct fly_pending *grown = realloc(rt->pending, room * sizeof *grown);
        if (grown == NULL) return UINT32_MAX;
        for (uint32_t i = rt->pending_room; i < room; i++) {
            grown[i] = (struct fly_pending){0};
            grown[i].next_free = i + 1 == room ? UINT32_MAX : i + 1;
        }
        rt->pending = grown;
        rt->pending_free = rt->pending_room;
        rt->pending_room = room;
    }
    uint32_t token = rt->pending_free;
    rt->pending_free = rt->pending[token].next_free;
    rt->pending[token] = (struct fly_pending){.used = true};
    return token;
}

void fly_pending_done(struct fly_rt *rt, uint32_t token, int error) {
    struct fly_pending *pending = &rt->pending[token];
    pending->used = false;
    pending->next_free = rt->pending_free;
    rt->pending_free = token;
    if (!pending->moved) rt->peers[pending->peer].replies--;
    pending->win->operations--;
    if (pending->state != NULL) *pending->state = error == FLY_OK ? 1 : -error;
    if (pending->req != NULL) {
        pending->req->want.left--;
        if (error != FLY_OK) pending->req->error = error;
    }
}
