/* What the start of a runtime gives to the files that gather by its bootstrap. */
#ifndef FLY_RUNTIME_H
#define FLY_RUNTIME_H

struct fly_rt;

/* Collective: FLY_OK where `code` is FLY_OK at every rank. */
int fly_all_could(struct fly_rt *rt, const char *what, int code);

#endif
