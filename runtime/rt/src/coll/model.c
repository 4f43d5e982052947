/* Predicts by LogGP the time of each algorithm for P ranks and the bytes of each, and its best
 * parameter.
 *
 * A message of s bytes takes o_s + L + o_r + s G; the next one leaves max(g, o_s) + s G later. On
 * one node, long messages have their own G and an extra overhead, and folds and copies are counted.
 * Pure: no state, no I/O.
 */
#include <math.h>
#include <stdint.h>

#include "settings.h"

/* What a processor takes to switch from one waiting rank to the next. */
static const double SWITCH_NS = 2000;

/* The values are those of docs/collectives.md. Where ranks share a processor, a message is seen
   when its receiver's turn comes, and what one rank does the others wait for. */
struct fly_loggp fly_loggp_near(int crowd) {
    struct fly_loggp net = {
        .latency_ns = 100, .send_ns = 60, .receive_ns = 60, .gap_ns = 100, .byte_ns = 0.1,
        .long_least = FLY_COLL_LONG, .long_ns = 800, .long_byte_ns = 0.035,
        .move_byte_ns = 0.03, .datagram_ns = 3000,
    };
    if (crowd <= 1) return net;
    net.latency_ns = crowd * SWITCH_NS;
    net.send_ns *= crowd;
    net.receive_ns *= crowd;
    net.gap_ns *= crowd;
    net.byte_ns *= crowd;
    net.long_ns *= crowd;
    net.long_byte_ns *= crowd;
    net.move_byte_ns *= crowd;
    net.datagram_ns *= crowd;
    return net;
}

enum { SEGMENT_LEAST = 1024, SEGMENTS_MOST = 4096 };

static double most(double a, double b) { return a > b ? a : b; }

static int log2_up(int size) {
    int rounds = 0;
    while (1L << rounds < size) rounds++;
    return rounds;
}

static int log2_down(int size) {
    int rounds = 0;
    while (2L << rounds <= size) rounds++;
    return rounds;
}

/* The time that the bytes of a message take. */
static double carry(const struct fly_loggp *net, double bytes) {
    if (net->long_least != 0 && bytes >= (double)net->long_least)
        return net->long_ns + bytes * net->long_byte_ns;
    return bytes * net->byte_ns;
}

static double message(const struct fly_loggp *net, double bytes) {
    return net->send_ns + net->latency_ns + net->receive_ns + carry(net, bytes);
}

/* The time from one message to the next of the same sender, or receiver. */
static double gap(const struct fly_loggp *net, double bytes) {
    return most(net->gap_ns, most(net->send_ns, net->receive_ns)) + carry(net, bytes);
}

double fly_barrier_time(const struct fly_loggp *net, int size, size_t n) {
    double arity = (double)n, step = most(net->gap_ns, net->send_ns);
    int rounds = 0;
    for (double reach = 1; reach < size; reach *= arity + 1) rounds++;
    double wait = most(net->receive_ns, arity * net->receive_ns - (arity - 1) * step);
    return rounds * (net->send_ns + (arity - 1) * step + net->latency_ns + wait);
}

/* Tries all n: they are few, and the result is kept. */
size_t fly_barrier_best(const struct fly_loggp *net, int size) {
    size_t best = 1;
    double least = fly_barrier_time(net, size, 1);
    for (size_t n = 2; n < (size_t)size; n++) {
        double time = fly_barrier_time(net, size, n);
        if (time < least) {
            least = time;
            best = n;
        }
    }
    return best;
}

static double barrier_n(const struct fly_loggp *net, int size, size_t bytes, size_t n) {
    (void)bytes;
    return fly_barrier_time(net, size, n);
}

static size_t barrier_best(const struct fly_loggp *net, int size, size_t bytes) {
    (void)bytes;
    return fly_barrier_best(net, size);
}

static double barrier_tree(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)bytes;
    (void)none;
    return 2 * log2_up(size) * message(net, 0);
}

static double binomial(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)none;
    return log2_up(size) * message(net, (double)bytes);
}

static double pipeline(const struct fly_loggp *net, int size, size_t bytes, size_t segment) {
    double piece = segment < bytes ? (double)segment : (double)bytes;
    double count = bytes == 0 ? 0 : ceil((double)bytes / piece);
    double step = net->send_ns + net->receive_ns > net->gap_ns ? net->send_ns + net->receive_ns
                                                               : net->gap_ns;
    return (size - 1) * message(net, piece) + (count - 1) * (step + carry(net, piece));
}

/* Tries powers of two; a schedule may not have more than SEGMENTS_MOST segments. */
static size_t pipeline_best(const struct fly_loggp *net, int size, size_t bytes) {
    size_t segment = SEGMENT_LEAST;
    while (segment * SEGMENTS_MOST < bytes) segment *= 2;
    size_t best = segment;
    double least = pipeline(net, size, bytes, segment);
    for (; segment < bytes; segment *= 2) {
        double time = pipeline(net, size, bytes, segment);
        if (time < least) {
            least = time;
            best = segment;
        }
    }
    return best;
}

/* The datagrams go one after the other; then the ranks that a rank repairs report to it that they
   are complete. In a long broadcast all ranks report up a tree to the root. */
static double multicast(const struct fly_loggp *net, int size, size_t bytes, size_t arity) {
    if (net->datagram_bytes == 0 || bytes / net->datagram_bytes >= INT32_MAX) return INFINITY;
    if (size < 2 || bytes == 0) return 0;
    double piece = most(1, (double)(bytes < net->datagram_bytes ? bytes : net->datagram_bytes));
    double count = ceil((double)bytes / piece);
    double step = most(net->gap_ns, net->datagram_ns) + piece * net->byte_ns;
    bool tracked = count > most(1, (double)(FLY_MULTICAST_STEP / net->datagram_bytes));
    double up = tracked && arity == 1 ? FLY_MULTICAST_ARITY : (double)arity, below = 1;
    int levels = tracked ? 0 : 1;
    for (double all = 1; tracked && all < size; all += below) {
        below *= up;
        levels++;
    }
    double reports = up < size - 1 ? up : size - 1;
    return 2 * net->datagram_ns + net->latency_ns + piece * net->byte_ns + (count - 1) * step +
           levels * (message(net, 0) + (reports - 1) * gap(net, 0));
}

static size_t multicast_best(const struct fly_loggp *net, int size, size_t bytes) {
    size_t best = 1;
    for (size_t arity = 2; arity <= 64; arity *= 2)
        if (multicast(net, size, bytes, arity) < multicast(net, size, bytes, best)) best = arity;
    return best;
}

/* Ranks beyond a power of two hand in their part first, and get the result last. */
static double extra(const struct fly_loggp *net, int size, size_t bytes) {
    return size == 1 << log2_down(size) ? 0 : 2 * message(net, (double)bytes);
}

/* Doubling works on a copy of what is sent, and folds after each message. */
static double doubling(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    double move = (double)bytes * net->move_byte_ns;
    (void)none;
    return move + log2_down(size) * (message(net, (double)bytes) + move) + extra(net, size, bytes);
}

static double ring_once(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)none;
    return (size - 1) * message(net, (double)bytes / size);
}

static double ring_twice(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    double folds = (size - 1) * ((double)bytes / size) * net->move_byte_ns;
    return 2 * ring_once(net, size, bytes, none) + folds;
}

static double rabenseifner(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    double all = extra(net, size, bytes);
    (void)none;
    for (int parts = 2; parts <= size; parts *= 2) {
        double half = (double)bytes / parts;
        all += 2 * message(net, half) + half * net->move_byte_ns;
    }
    return all;
}

static double up_and_down(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    double folds = log2_up(size) * (double)bytes * net->move_byte_ns;
    return 2 * binomial(net, size, bytes, none) + folds;
}

static double ring(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)none;
    return (size - 1) * message(net, (double)bytes);
}

static double doubled(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)none;
    double all = 0;
    for (int have = 1; have < size; have *= 2) {
        int part = have < size - have ? have : size - have;
        all += message(net, part * (double)bytes);
    }
    return all;
}

/* At the end the gathered blocks are put in the order of ranks. */
static double bruck(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    return doubled(net, size, bytes, none) + size * (double)bytes * net->move_byte_ns;
}

static double linear(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)none;
    return size < 2 ? 0 : message(net, (double)bytes) + (size - 2) * gap(net, (double)bytes);
}

static double tree_scatter(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    return binomial(net, size, bytes, none) + linear(net, size, bytes / (size_t)size, none);
}

static double direct_scatter(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    return linear(net, size, bytes / (size_t)size, none);
}

static double exchange(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)none;
    double step = gap(net, (double)bytes), both = net->send_ns + net->receive_ns;
    if (both > net->gap_ns) step = both + carry(net, (double)bytes);
    return size < 2 ? 0 : message(net, (double)bytes) + (size - 2) * step;
}

/* Each rank gets all parts and folds them. It copies its own part for the others first, and the
   result at the end: three copies beside the folds. */
static double fold_all(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    double folds = (size + 2) * (double)bytes * net->move_byte_ns;
    return exchange(net, size, bytes, none) + folds;
}

/* Ranks that read from one another in no fixed order sometimes read from the same one at once: a
   tenth more time, as measured with 2 to 8 ranks. */
static double crossing(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    bool reads = net->long_least != 0 && bytes >= net->long_least;
    return exchange(net, size, bytes, none) * (reads && size > 2 ? 1.1 : 1);
}

static double halves(const struct fly_loggp *net, int size, size_t bytes, size_t none) {
    (void)none;
    return log2_up(size) * message(net, (double)bytes * (size / 2));
}

/* `coloured` sends along edges in rounds: each begins when the one before is done, but not before
   the gap allows. `at_once` sends everything at once, among a rank and its neighbours. */
static double coloured(const struct fly_loggp *net, int degree, size_t bytes, size_t none) {
    double one = message(net, (double)bytes);
    (void)none;
    return degree < 1 ? 0 : one + (degree - 1) * most(one, gap(net, (double)bytes));
}

static double at_once(const struct fly_loggp *net, int degree, size_t bytes, size_t none) {
    return exchange(net, degree + 1, bytes, none);
}

#define TABLE(name, algorithms) {name, algorithms, (int)(sizeof algorithms / sizeof *algorithms)}

static const struct fly_algorithm BARRIER[] = {
    {"dissemination", "n", false, barrier_n, barrier_best},
    {"tree", NULL, false, barrier_tree, NULL},
};
static const struct fly_algorithm BCAST[] = {
    {"binomial", NULL, true, binomial, NULL},
    {"pipeline", "segment", true, pipeline, pipeline_best},
    [FLY_BCAST_MULTICAST] = {"multicast", "ways", true, multicast, multicast_best},
};
static const struct fly_algorithm REDUCE[] = {
    {"binomial", NULL, true, binomial, NULL},
    {"pipeline", "segment", true, pipeline, pipeline_best},
};
static const struct fly_algorithm ALLREDUCE[] = {
    {"doubling", NULL, true, doubling, NULL},
    {"ring", NULL, false, ring_twice, NULL},
    {"rabenseifner", NULL, true, rabenseifner, NULL},
    {"tree", NULL, true, up_and_down, NULL},
    {"linear", NULL, true, fold_all, NULL},
};
static const struct fly_algorithm ALLGATHER[] = {
    {"ring", NULL, false, ring, NULL},
    {"bruck", NULL, false, bruck, NULL},
};
static const struct fly_algorithm GATHER[] = {
    {"linear", NULL, false, linear, NULL},
    {"binomial", NULL, false, doubled, NULL},
};
static const struct fly_algorithm REDUCE_SCATTER[] = {
    {"ring", NULL, false, ring_once, NULL},
    {"linear", NULL, true, direct_scatter, NULL},
    {"tree", NULL, true, tree_scatter, NULL},
};
static const struct fly_algorithm ALLTOALL[] = {
    {"linear", NULL, false, crossing, NULL},
    {"pairwise", NULL, false, ring, NULL},
    {"bruck", NULL, false, halves, NULL},
};
static const struct fly_algorithm ALLTOALLV[] = {
    {"linear", NULL, false, crossing, NULL},
    {"pairwise", NULL, false, ring, NULL},
};
static const struct fly_algorithm SCAN[] = {
    {"doubling", NULL, true, binomial, NULL},
    {"chain", NULL, true, ring, NULL},
};
static const struct fly_algorithm NEIGHBOUR[] = {
    {"coloured", NULL, false, coloured, NULL},
    {"at_once", NULL, false, at_once, NULL},
};

const struct fly_operation_table fly_operations[FLY_C_OPERATIONS] = {
    [FLY_C_BARRIER] = TABLE("barrier", BARRIER),
    [FLY_C_BCAST] = TABLE("bcast", BCAST),
    [FLY_C_REDUCE] = TABLE("reduce", REDUCE),
    [FLY_C_ALLREDUCE] = TABLE("allreduce", ALLREDUCE),
    [FLY_C_ALLGATHER] = TABLE("allgather", ALLGATHER),
    [FLY_C_GATHER] = TABLE("gather", GATHER),
    [FLY_C_SCATTER] = TABLE("scatter", GATHER),
    [FLY_C_REDUCE_SCATTER] = TABLE("reduce_scatter", REDUCE_SCATTER),
    [FLY_C_ALLTOALL] = TABLE("alltoall", ALLTOALL),
    [FLY_C_ALLTOALLV] = TABLE("alltoallv", ALLTOALLV),
    [FLY_C_ALLTOALLW] = TABLE("alltoallw", ALLTOALLV),
    [FLY_C_SCAN] = TABLE("scan", SCAN),
    [FLY_C_NEIGHBOUR_ALLGATHER] = TABLE("neighbour_allgather", NEIGHBOUR),
    [FLY_C_NEIGHBOUR_ALLGATHERV] = TABLE("neighbour_allgatherv", NEIGHBOUR),
    [FLY_C_NEIGHBOUR_ALLTOALL] = TABLE("neighbour_alltoall", NEIGHBOUR),
    [FLY_C_NEIGHBOUR_ALLTOALLV] = TABLE("neighbour_alltoallv", NEIGHBOUR),
    [FLY_C_NEIGHBOUR_ALLTOALLW] = TABLE("neighbour_alltoallw", NEIGHBOUR),
};
