/* The C interface of the core; crates/capi/src/lib.rs declares the same in Rust. */
#ifndef FLYLOOM_MAP_H
#define FLYLOOM_MAP_H

#include <stddef.h>
#include <stdint.h>

#define FLYLOOM_MAP_INTERFACE 1

struct flyloom_map_request {
    const char *network;      /* the inline form, or the name of a file */
    const char *network_text; /* what is in that file; NULL for an inline form */
    const char *table;        /* the name of a file with the endpoints of hosts; NULL for none */
    const char *table_text;   /* what is in it: lines of a host and an endpoint */
    const char *objective;    /* "congestion" or "hops"; NULL is the first */
    const char *effort;       /* "fast", "normal" or "best"; NULL is "normal" */
    const char *seed;         /* a number; NULL is 0 */
    const char *hosts;        /* the host of each process, host_bytes each, ended by a zero */
    size_t host_bytes;
    int processes;
    const int *edges; /* sender, receiver and weight of each */
    size_t edge_count;
    uint64_t memory; /* bytes that may be used; 0: not known */
};

/* Returns FLYLOOM_MAP_INTERFACE. */
typedef int flyloom_map_interface_type(void);

/* Writes the new rank of each process into `ranks`, and a message into `said`, which has `room`
 * bytes. 1: ranks change; 0: they stay as they are; -1: refused, and `said` says why. */
typedef int flyloom_map_type(const struct flyloom_map_request *request, int *ranks, char *said,
                             size_t room);

#endif
