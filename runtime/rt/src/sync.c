/* One-sided synchronisation. */
#include <stdlib.h>

#include "core.h"

int fly_sync_init(struct fly_win *win) { (void)win; return FLY_OK; }
void fly_sync_end(struct fly_win *win) { (void)win; }
bool fly_sync_open(const struct fly_win *win) { (void)win; return false; }
bool fly_sync_arrived(struct fly_win *win, const struct fly_packet *p) { (void)win; (void)p; return true; }
