/* Requests: made, freed, and parted from a window that ends. */
#ifndef FLY_REQUEST_H
#define FLY_REQUEST_H

#include "state.h"

struct fly_req *fly_req_new(struct fly_win *win, enum fly_req_kind kind);
void fly_req_drop(struct fly_req *req);
/* Detaches a request from a window that ends: it becomes inactive, and can only be freed. */
void fly_req_orphan(struct fly_req *req);

#endif
