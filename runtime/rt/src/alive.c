/* Finds out whether peers live: by deaths that show by themselves, and by asking awaited peers. */
#include <time.h>

#include "alive.h"
#include "progress.h"
#include "state.h"
#include "sync.h"
#include "team.h"

/* The intervals of the looks for deaths, and for peers that are awaited. A peer that was awaited in
   two consecutive looks is asked, then again in the fourth and in every sixth; one look asks
   ASK_MOST peers at most. */
static const uint64_t HEED_NS = 10000000, SEEK_NS = 250000000;
enum { SOUGHT_FIRST = 2, SOUGHT_SECOND = 4, SOUGHT_EVERY = 6, ASK_MOST = 64 };

/* A coarse clock: exact to a few milliseconds, at the cost of a few nanoseconds. */
static uint64_t about_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void heed(struct fly_rt *rt, uint64_t now) {
    if (now < rt->heed_ns) return;
    rt->heed_ns = now + HEED_NS;
    fly_watch(rt);
}

void fly_heed(struct fly_rt *rt) { heed(rt, about_now_ns()); }

/* Over a network others may need this rank, whose program may make no other call: so it serves. */
static void heed_and_serve(struct fly_rt *rt) {
    if (rt->only == NULL) fly_turn(rt);
    fly_tend(rt);
}

void fly_heed_peer(struct fly_rt *rt, int peer) {
    rt->peers[peer].wanted = true;
    heed_and_serve(rt);
}

void fly_heed_members(struct fly_win *win) {
    if (win->sync != NULL) win->sync->wanted = true; /* marks all members at once: constant time */
    heed_and_serve(win->rt);
}

void fly_ask_after(struct fly_rt *rt, int peer) {
    struct fly_carrier *via = rt->peers[peer].via;
    struct fly_packet nothing = {.kind = FLY_K_VOID};
    fly_send(rt, peer, &nothing, NULL, 0);
    if (via->ops->doubt != NULL) via->ops->doubt(via, peer);
}

static void want(const struct fly_win *win, int rank) {
    win->peers[fly_world_rank(win->object.team, rank)].wanted = true;
}

static void want_group(const struct fly_win *win, const struct fly_group *group) {
    for (int i = 0; group->open && i < group->n; i++)
        if (!fly_match_complete(&group->wants[i])) want(win, group->ranks[i]);
}

/* Marks the peers that the requests and epochs of a window wait for. */
static void want_all(struct fly_win *win) {
    for (const struct fly_req *req = win->requests; req != NULL; req = req->next)
        if (req->kind == FLY_R_NOTIFY && req->active && req->want.source >= 0 &&
            !fly_match_complete(&req->want))
            want(win, req->want.source);
    if (win->sync == NULL) return;
    for (int r = 0; win->sync->wanted && r < win->object.team->size; r++) want(win, r);
    win->sync->wanted = false;
    want_group(win, &win->sync->post);
    want_group(win, &win->sync->start);
}

static bool is_due(const struct fly_peer *peer) {
    return peer->sought == SOUGHT_FIRST || peer->sought == SOUGHT_SECOND ||
           peer->sought % SOUGHT_EVERY == 0;
}

/* Asks awaited peers whether they live. Where many are due they take turns: the rest stay due. */
static void seek(struct fly_rt *rt) {
    int asked = 0, first = rt->seek_at;
    for (size_t i = 0; i < rt->object_room; i++)
        if (rt->objects[i] != NULL && rt->objects[i]->kind == FLY_IS_WINDOW)
            want_all((struct fly_win *)rt->objects[i]);
    for (uint32_t i = 0; i < rt->pending_room; i++)
        if (rt->pending[i].used) rt->peers[rt->pending[i].peer].wanted = true;
    for (int i = 0; i < rt->size; i++) {
        int r = (first + i) % rt->size;
        struct fly_peer *peer = &rt->peers[r];
        bool wanted = peer->wanted;
        peer->wanted = false;
        if (!wanted || peer->dead || r == rt->rank || !peer->via->ops->ends_unheard) {
            peer->sought = 0;
            continue;
        }
        if (asked == ASK_MOST) continue;
        peer->sought++;
        if (!is_due(peer)) continue;
        asked++;
        rt->seek_at = (r + 1) % rt->size;
        fly_ask_after(rt, r);
    }
}

void fly_tend(struct fly_rt *rt) {
    uint64_t now = about_now_ns();
    heed(rt, now);
    if (!rt->unheard || now < rt->seek_ns || rt->finalizing) return;
    rt->seek_ns = now + SEEK_NS;
    seek(rt);
}
