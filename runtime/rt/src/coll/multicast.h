/* Broadcast by multicast: the group of a team, and what a broadcast of it keeps.
 *
 * The root sends fragments as datagrams. Everything else goes over the team's transports, which
 * lose nothing. Each rank repairs some others, its children in a tree: it sends them HAVE, up to
 * which fragment all have been sent and are here. A child sends WANT for a fragment that it lacks,
 * which FRAGMENT brings, and COMPLETE when it needs no more. So a rank is done as soon as its
 * children are, whatever the number of ranks. In long broadcasts each rank also sends HAS up a
 * tree: how many fragments all ranks below it have. So the root sends no more than the slowest rank
 * has room for. A rank asks for a fragment once: when three later ones are here, or when HAVE says
 * that it was sent and nothing comes any more. So repair costs what was lost, and nothing rests on
 * a clock alone. With an arity of one the tree is a chain: a rank asks the one before it.
 *
 * Source: Hoefler, Siebert, Rehm: A practically constant-time MPI broadcast algorithm for
 * large-scale InfiniBand clusters with multicast, CAC workshop at IPDPS 2007; there the second
 * phase sends everything once more, here only what is missing.
 */
#ifndef FLY_COLL_MULTICAST_H
#define FLY_COLL_MULTICAST_H

#include "coll.h"

/* How many fragments a rank asks for at a time; the most bytes of long broadcasts in flight; the
   most bytes kept of broadcasts that have not begun here. */
enum { FLY_CAST_SLOTS = 8, FLY_CAST_WINDOW = 1 << 17, FLY_CAST_EARLY = 1 << 17 };

/* The head of every datagram. */
struct fly_cast_head {
    uint64_t token, number; /* the group's; the broadcast's, or FLY_CAST_PROBE */
    uint32_t fragment;
    int32_t source;
};
#define FLY_CAST_PROBE UINT64_MAX
_Static_assert(sizeof(struct fly_cast_head) == FLY_MULTICAST_HEAD, "what the model counts with");

struct fly_early_fragment;

struct fly_cast { /* the multicast state of a team */
    struct fly_datagrams *link; /* NULL: not open; `text` says why */
    uint64_t token;
    uint64_t key[2];   /* for marks; exchanged over the transports only */
    uint64_t *sources; /* by rank: the source of its datagrams; 0: not heard of yet */
    size_t fragment_bytes;
    uint32_t step, window;  /* in fragments: between reports; the most in flight */
    uint32_t in_flight;     /* fragments of this rank's long broadcasts that not all have */
    struct fly_sched *sending; /* the one that sends now: they take turns */
    struct fly_early_fragment *early, **early_last;
    size_t early_bytes;
    unsigned char *room; /* buffer for one datagram */
    uint64_t sent, taken, asked, repaired;
    char text[200];
};

struct fly_cast_child { /* a rank that this one repairs */
    uint32_t announced;      /* the count of the last HAVE that was sent to it */
    bool complete;
    struct {
        uint64_t offset;
        uint32_t fragment; /* the number plus 1; 0: nothing is wanted */
    } wants[FLY_CAST_SLOTS];
};

struct fly_broadcast { /* the state of one broadcast */
    bool root, begun, complete_sent;
    bool tracked;      /* it is long: all ranks report how much they have */
    uint32_t count;    /* how many fragments it has */
    uint32_t have;     /* fragments here without a gap; at the root: sent */
    uint32_t reach;    /* one behind the last fragment that came by multicast */
    uint32_t looked;   /* fragments below this one are here, or were asked for */
    uint32_t heard;    /* the count in the last HAVE of the repairer */
    uint32_t announced; /* the count in the last HAS to the parent */
    uint32_t all_have; /* what this rank and all below it have */
    uint32_t slots, asked; /* how many fragments may be asked for, and have been */
    uint32_t slot[FLY_CAST_SLOTS]; /* fragment + 1; 0: free */
    uint64_t quiet_ns; /* when the last fragment came */
    int repairer, parent; /* ranks; -1: none */
    int first_repaired, repaired_count, first_below, below_count; /* places from the root */
    struct fly_cast_child *repaired;
    uint32_t *below; /* what the ranks below have reported */
    unsigned char *bits; /* which fragments are here */
};

/* multicast.c: drops the fragments that were kept. */
void fly_cast_forget(struct fly_cast *cast);

/* Values of a packet's `flags`: those of multicast begin here. */
enum { FLY_CAST_HAVE = FLY_WHAT_CAST, FLY_CAST_WANT, FLY_CAST_FRAGMENT, FLY_CAST_HAS,
       FLY_CAST_COMPLETE };

#endif
