/* Errors: a call that fails leaves its text, and returns its code. */
#ifndef FLY_ERROR_H
#define FLY_ERROR_H

#include "flyloom.h"

struct fly_rt;

/* A code beside those of flyloom.h: there is nothing, such as no target (FLY_PROC_NULL), or no file
   yet. */
enum { FLY_NOTHING = -1 };

/* Formats the text of an error, and returns its code. */
int fly_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* FLY_ERR_PEER, with the rank that died first. `peer`, or -1, is the one that the call needs, which
   may have ended because of that death. Ranks are those of the world. */
int fly_fail_dead(const struct fly_rt *rt, const char *call, int peer);

#endif
