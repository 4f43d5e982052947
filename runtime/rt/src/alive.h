/* Whether peers live: deaths that show by themselves, and questions to peers that are awaited. */
#ifndef FLY_ALIVE_H
#define FLY_ALIVE_H

struct fly_rt;
struct fly_win;

/* Looks for deaths unless that was done a few milliseconds ago. Calls that access memory without a
   wait use it, since it costs only a read of a coarse clock. */
void fly_heed(struct fly_rt *rt);
/* fly_heed for turns. Where a death shows only when something is sent, it sometimes also asks the
   peers that a request, an epoch, an operation or a call (`wanted`) waits for. */
void fly_tend(struct fly_rt *rt);
/* fly_tend for a call that may return without a wait, but needs a peer, or all members of a window,
   to live. */
void fly_heed_peer(struct fly_rt *rt, int peer);
void fly_heed_members(struct fly_win *win);
/* Asks a peer whether it lives. */
void fly_ask_after(struct fly_rt *rt, int peer);

#endif
