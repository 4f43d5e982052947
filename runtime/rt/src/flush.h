/* Completion of a window's operations: at the origin, at the target, for one member or all. */
#ifndef FLY_FLUSH_H
#define FLY_FLUSH_H

struct fly_win;

/* Waits for the answers of a peer, or of all (-1). */
void fly_answers(struct fly_win *win, int peer);
/* Waits until all operations on a member, or on all, are done at the target. */
int fly_complete(struct fly_win *win, int rank);
int fly_complete_all(struct fly_win *win);
/* fly_complete_all where a barrier of the window follows. In a window of two members neither has to
   ask: the other takes the packet of the barrier after all puts that were sent before it. */
int fly_complete_before_barrier(struct fly_win *win);
/* FLY_ERR_PEER where a member is known to have died. */
int fly_member_died(const struct fly_win *win);

#endif
