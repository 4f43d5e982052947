/* The engine of collectives: only it runs schedules, with the runtime's lock held. */
#ifndef FLY_COLL_ENGINE_H
#define FLY_COLL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fly_coll;
struct fly_packet;
struct fly_req;
struct fly_rt;
struct fly_sched;
struct fly_win;

/* Advances the collectives that run; every turn of the library calls it. */
void fly_coll_turn(struct fly_rt *rt);
/* A packet of a collective arrived. false: there is no memory. */
bool fly_coll_arrived(struct fly_win *win, int peer, const struct fly_packet *packet,
                      const void *data, size_t bytes);
/* Waits for the request of a collective. */
void fly_coll_await(struct fly_req *req);

int fly_sched_start(struct fly_sched *s);
void fly_sched_end(struct fly_sched *s, int error);
struct fly_sched *fly_sched_find(const struct fly_coll *coll, uint64_t number);
void fly_early_free(struct fly_coll *coll);
/* Sends a packet with two numbers to a rank, where there is a credit for it now; false: there is
   none. */
bool fly_coll_post(struct fly_coll *coll, int rank, int tag, int what, uint64_t number,
                   uint64_t offset, uint64_t value, const void *data, size_t bytes);

#endif
