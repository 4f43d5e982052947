/* Asks the core for a mapping of processes to a network; prints nothing. */
#ifndef FLYLOOM_MAP_ASK_H
#define FLYLOOM_MAP_ASK_H

#include <stddef.h>

/* What the core is asked to map: the traffic between processes, and their hosts. */
struct mapping_request {
    const int *edges; /* sender, receiver and weight of each */
    size_t count;
    const char *hosts; /* the host of each process, host_bytes each, ended by a zero */
    size_t host_bytes;
    int size; /* processes */
};

/* Whether there is a network to map to, and the core; else 0, and `said` has the reason. */
int map_can(char *said, size_t room);

/* Writes the new rank of each process into `ranks`, and a message into `said`. 1: ranks change;
 * 0: they stay as they are; -1: refused, and `said` says why. */
int map_ask(const struct mapping_request *asked, int *ranks, char *said, size_t room);

#endif
