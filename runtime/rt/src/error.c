/* Errors: their names, and the text of the last one of each thread. */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"
#include "state.h"

/* The text of each thread's last error; nothing else depends on it. */
static _Thread_local char last[512];

static const char *const TEXTS[] = {
    [FLY_OK] = "FLY_OK: no error",
    [FLY_ERR_ARG] = "FLY_ERR_ARG: a parameter is not valid",
    [FLY_ERR_RANK] = "FLY_ERR_RANK: no such rank in the team",
    [FLY_ERR_TAG] = "FLY_ERR_TAG: the tag is out of bounds",
    [FLY_ERR_RANGE] = "FLY_ERR_RANGE: outside the target's memory",
    [FLY_ERR_STATE] = "FLY_ERR_STATE: not in this state",
    [FLY_ERR_NOMEM] = "FLY_ERR_NOMEM: out of memory, files or mappings",
    [FLY_ERR_TIMEOUT] = "FLY_ERR_TIMEOUT: the time allowed went by",
    [FLY_ERR_PEER] = "FLY_ERR_PEER: a process has died",
    [FLY_ERR_TRANSPORT] = "FLY_ERR_TRANSPORT: a transport does not work",
    [FLY_ERR_UNSUPPORTED] = "FLY_ERR_UNSUPPORTED: this transport or build cannot do it",
};

const char *fly_strerror(int error) {
    if (error < 0 || (size_t)error >= sizeof TEXTS / sizeof *TEXTS)
        return "not an error of flyloom";
    return TEXTS[error];
}

const char *fly_last_error(fly_rt *rt) {
    (void)rt;
    return last;
}

int fly_fail_dead(const struct fly_rt *rt, const char *call, int peer) {
    int first = rt->deaths == 0 ? peer : rt->first_dead;
    if (first < 0) return fly_fail(FLY_ERR_PEER, "%s: a rank has died", call);
    if (peer < 0 || peer == first)
        return fly_fail(FLY_ERR_PEER, "%s: rank %d has died", call, first);
    return fly_fail(FLY_ERR_PEER, "%s: rank %d has died, and rank %d has ended", call, first, peer);
}

int fly_fail(int code, const char *format, ...) {
    va_list words;
    va_start(words, format);
    vsnprintf(last, sizeof last, format, words);
    va_end(words);
    return code;
}

int fly_error_set(int error, const char *text) {
    return text == NULL ? fly_fail(error, "%s", "") : fly_fail(error, "%s", text);
}
