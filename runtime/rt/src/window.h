/* Windows of the library's own, and memory of windows. */
#ifndef FLY_WINDOW_H
#define FLY_WINDOW_H

#include <stddef.h>

struct fly_memory;
struct fly_rt;
struct fly_team;
struct fly_win;

/* A window for the library's own use: neither its team nor the runtime counts it. */
int fly_win_inner(struct fly_team *team, size_t bytes, void **base, struct fly_win **win);
/* Frees it without the other members. */
void fly_win_drop(struct fly_win *win);
/* Whole pages, from the transport that wants to allocate them. */
int fly_memory_get(struct fly_rt *rt, size_t bytes, struct fly_memory *memory);
void fly_memory_free(struct fly_memory *memory);

#endif
