/* A collective call: it is opened and checked, then run, begun, or made into a request. */
#ifndef FLY_COLL_CALL_H
#define FLY_COLL_CALL_H

#include <stdbool.h>

#include "flyloom_coll.h"

struct fly_call;
struct fly_req;
struct fly_sched;
struct fly_team;

/* An operation opens its call with its name and the function that builds its schedule, fills the
   rest of the key, and runs it. */
int fly_call_open(struct fly_call *call, const char *name, struct fly_team *team, int operation,
                  void (*build)(struct fly_sched *sched, const struct fly_call *call));
int fly_call_run(struct fly_call *call);
int fly_call_begin(struct fly_call *call, struct fly_req **req, bool persistent);

int fly_call_root(const struct fly_call *call, int root);
/* Computes *bytes as count * element; ARG where that is more than memory can have. */
int fly_call_times(const struct fly_call *call, const char *what, size_t count, size_t element,
                   size_t *bytes);
void fly_call_fold(struct fly_call *call, const fly_fold *fold);
/* Fills in the memory of a checked call, and chooses its algorithm for `bytes`; returns FLY_OK. */
int fly_call_about(struct fly_call *call, const void *send, void *receive, size_t bytes);
/* Checks and fills a call that folds `count` elements of every rank, with a result at every one. */
int fly_call_folded(struct fly_call *call, const void *send, void *receive, size_t count,
                    const fly_fold *fold);
/* ARG where memory to read and memory to write have bytes in common, or one is NULL. */
int fly_call_apart(const struct fly_call *call, const void *send, size_t send_bytes,
                   const void *receive, size_t receive_bytes);

/* fly_coll_restart starts the request of a collective again; fly_coll_release frees it. */
int fly_coll_restart(struct fly_req *req);
void fly_coll_release(struct fly_req *req);
/* Whether there are collectives of the team that its user has not waited for. */
bool fly_coll_busy(const struct fly_team *team);
/* Ends all collectives of the team; it does not wait for the other members. */
void fly_coll_end(struct fly_team *team);

#define FLY_PASS(...) __VA_ARGS__
/* The three forms of an operation on `over`, from a function that fills and checks the call. */
#define FLY_FORMS_ON(over, given, ask, name, pass, ...)                                   \
    int fly_##name(over, __VA_ARGS__) {                                                   \
        struct fly_call call;                                                             \
        call.coll = NULL;                                                                 \
        int code = ask(&call, "fly_" #name, given, FLY_PASS pass);                        \
        return code != FLY_OK ? fly_call_refused(&call, code) : fly_call_run(&call);      \
    }                                                                                     \
    int fly_i##name(over, __VA_ARGS__, fly_req **req) {                                   \
        struct fly_call call;                                                             \
        call.coll = NULL;                                                                 \
        if (req != NULL) *req = NULL;                                                     \
        int code = ask(&call, "fly_i" #name, given, FLY_PASS pass);                       \
        return code != FLY_OK ? fly_call_refused(&call, code)                             \
                              : fly_call_begin(&call, req, false);                        \
    }                                                                                     \
    int fly_##name##_init(over, __VA_ARGS__, fly_req **req) {                             \
        struct fly_call call;                                                             \
        call.coll = NULL;                                                                 \
        if (req != NULL) *req = NULL;                                                     \
        int code = ask(&call, "fly_" #name "_init", given, FLY_PASS pass);                \
        return code != FLY_OK ? fly_call_refused(&call, code)                             \
                              : fly_call_begin(&call, req, true);                         \
    }
/* FLY_FORMS_ON for a team, by a function `ask`. */
#define FLY_FORMS(name, pass, ...) \
    FLY_FORMS_ON(fly_team *team, team, ask, name, pass, __VA_ARGS__)

#endif
