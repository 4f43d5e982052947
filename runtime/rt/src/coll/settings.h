/* What users set about collectives: algorithms, network parameters, checks. */
#ifndef FLY_COLL_SETTINGS_H
#define FLY_COLL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "datagram.h"

enum fly_operation {
    FLY_C_BARRIER,
    FLY_C_BCAST,
    FLY_C_REDUCE,
    FLY_C_ALLREDUCE,
    FLY_C_ALLGATHER,
    FLY_C_GATHER,
    FLY_C_SCATTER,
    FLY_C_REDUCE_SCATTER,
    FLY_C_ALLTOALL,
    FLY_C_ALLTOALLV,
    FLY_C_ALLTOALLW,
    FLY_C_SCAN,
    FLY_C_NEIGHBOUR_ALLGATHER,
    FLY_C_NEIGHBOUR_ALLGATHERV,
    FLY_C_NEIGHBOUR_ALLTOALL,
    FLY_C_NEIGHBOUR_ALLTOALLV,
    FLY_C_NEIGHBOUR_ALLTOALLW,
    FLY_C_INNER, /* the library's own operations */
    FLY_C_OPERATIONS
};

static inline bool fly_on_graph(int operation) {
    return operation >= FLY_C_NEIGHBOUR_ALLGATHER && operation < FLY_C_INNER;
}

/* LogGP: Culler et al. 1993; Alexandrov et al. 1995. Sender and receiver have an overhead each. */
struct fly_loggp {
    double latency_ns, send_ns, receive_ns, gap_ns, byte_ns;
    /* Messages of at least `long_least` bytes take `long_ns` more and have a time for each byte of
       their own; 0: there is no such limit. */
    size_t long_least;
    double long_ns, long_byte_ns;
    double move_byte_ns; /* time to fold or copy a byte at one rank */
    /* The cost of sending or receiving a multicast datagram, and its bytes; 0: no multicast. */
    double datagram_ns;
    size_t datagram_bytes;
};

struct fly_choice {
    int algorithm; /* -1: the model chooses */
    size_t parameter; /* 0: the model chooses */
};

struct fly_coll_settings {
    struct fly_loggp loggp;
    struct fly_choice choices[FLY_C_OPERATIONS];
    bool checks, repeats;
    bool measured; /* loggp was read from a file */
    char dump[256]; /* the prefix of the files; "": no dump */
    bool multicast; /* open a group for multicast */
    char group[64]; /* the place of that group */
    bool faulty;
    struct fly_faults faults;
};

/* The index of "multicast" among the algorithms of bcast. */
enum { FLY_BCAST_MULTICAST = 2 };
/* Messages of this many bytes or more, within a node, are read where they are: coll.h. */
enum { FLY_COLL_LONG = 16384 };
/* The bytes of the head before a fragment; how many bytes lie between the reports of ranks in
   longer broadcasts; and how many ranks report to one, where repair is a chain. */
enum { FLY_MULTICAST_HEAD = 24, FLY_MULTICAST_STEP = 1 << 15, FLY_MULTICAST_ARITY = 8 };

/* An algorithm of an operation, for the settings and the model. */
struct fly_algorithm {
    const char *name, *parameter; /* the names; parameter NULL: it has none */
    bool ordered;                 /* it folds in the order of ranks */
    /* Predicts the ns for P ranks and the bytes of each; `parameter` is the algorithm's. On a graph
       `size` is the most edges by which a rank sends or receives, and `bytes` those of an edge.
       Infinite: the algorithm cannot be used. */
    double (*predict)(const struct fly_loggp *net, int size, size_t bytes, size_t parameter);
    size_t (*best)(const struct fly_loggp *net, int size, size_t bytes); /* the best parameter */
};

struct fly_operation_table {
    const char *name;
    const struct fly_algorithm *algorithms;
    int count;
};

extern const struct fly_operation_table fly_operations[FLY_C_OPERATIONS];
/* The parameters of one node's shared memory, with `crowd` ranks for each processor. */
struct fly_loggp fly_loggp_near(int crowd);

/* Reads the environment: FLYLOOM_COLL, FLYLOOM_LOGGP, FLYLOOM_CHECK, FLYLOOM_REPEAT,
   FLYLOOM_COLL_DUMP, FLYLOOM_MULTICAST, FLYLOOM_MULTICAST_FAULTS. */
int fly_coll_settings_read(struct fly_coll_settings *settings);
/* Reads a file; on an error `error` says what is wrong. Pure but for the file. */
int fly_loggp_read(const char *path, struct fly_loggp *net, char *error, size_t room);
/* fly_barrier_best is the barrier's best n; fly_barrier_time its time, in ns. */
size_t fly_barrier_best(const struct fly_loggp *net, int size);
double fly_barrier_time(const struct fly_loggp *net, int size, size_t n);

#endif
