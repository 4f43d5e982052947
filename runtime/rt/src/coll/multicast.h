/* Broadcast by multicast: the group of a team, and what a broadcast of it keeps.
 *
 * The root sends fragments as datagrams. Everything else goes over the team's transports, which
 * lose nothing: HAVE, to those that a rank repairs, says that all fragments below a number have
 * been sent and are here; WANT asks for one, which FRAGMENT brings; COMPLETE says that a rank needs
 * no more. So each is done as soon as those it repairs are, whatever the number of ranks. In long
 * broadcasts HAS also tells, up a tree, how many all ranks of a part of it have: so the root does
 * not send more than there is room for at the slowest. A rank asks for a fragment once, when three
 * later ones are here, or when HAVE is and nothing comes any more: repair costs what was lost, and
 * nothing is waited for by a clock alone. Whom it asks is its parent in a tree; with one way that
 * is a ring, and it asks the one before it.
 *
 * Source: Hoefler, Siebert, Rehm: A practically constant-time MPI broadcast algorithm for
 * large-scale InfiniBand clusters with multicast, CAC workshop at IPDPS 2007; there the second
 * phase sends everything once more, here only what is missing.
 */
#ifndef FLY_COLL_MULTICAST_H
#define FLY_COLL_MULTICAST_H

#include "coll.h"

/* Fragments asked for at a time; bytes that may be under way of long broadcasts; those that are
   kept of broadcasts that have not begun here. */
enum { FLY_CAST_SLOTS = 8, FLY_CAST_WINDOW = 1 << 17, FLY_CAST_EARLY = 1 << 17 };

/* In front of every datagram. */
struct fly_cast_head {
    uint64_t token, number; /* of the group; of the broadcast, or FLY_CAST_PROBE */
    uint32_t fragment;
    int32_t source;
};
#define FLY_CAST_PROBE UINT64_MAX
_Static_assert(sizeof(struct fly_cast_head) == FLY_MULTICAST_HEAD, "what the model counts with");

struct fly_cast_early;

struct fly_cast { /* of a team */
    struct fly_datagrams *link; /* NULL: not open; `text` says why */
    uint64_t token;
    uint64_t key[2];   /* of marks; goes over the transports alone */
    uint64_t *sources; /* by rank: whence its datagrams come; 0: not heard of yet */
    size_t fragment_bytes;
    uint32_t step, window;  /* fragments */
    uint32_t in_flight;     /* of long broadcasts of this rank */
    struct fly_sched *sending; /* which of them sends: one after the other */
    struct fly_cast_early *early, **early_last;
    size_t early_bytes;
    unsigned char *room; /* for a datagram */
    uint64_t sent, taken, asked, repaired;
    char text[200];
};

struct fly_cast_child { /* that this rank repairs */
    uint32_t told;      /* of HAVE */
    bool complete;
    struct {
        uint64_t offset;
        uint32_t fragment; /* + 1; 0: nothing is wanted */
    } wants[FLY_CAST_SLOTS];
};

struct fly_casting { /* a broadcast */
    bool root, begun, told_complete;
    bool tracked;      /* a long one: all tell how much they have */
    uint32_t count;    /* of fragments */
    uint32_t have;     /* without a gap; the root: sent */
    uint32_t reach;    /* behind the last one that came by multicast */
    uint32_t looked;   /* those below are here, or were asked for */
    uint32_t heard;    /* HAVE of who repairs */
    uint32_t told;     /* HAS, to the parent */
    uint32_t all_have; /* of the ranks below and this one */
    uint32_t slots, asked; /* how many may be asked for, and are */
    uint32_t slot[FLY_CAST_SLOTS]; /* fragment + 1; 0: free */
    uint64_t quiet_ns; /* since when nothing came */
    int repairer, parent; /* ranks; -1: none */
    int first_repaired, repaired_count, first_below, below_count; /* counted from the root */
    struct fly_cast_child *repaired;
    uint32_t *below; /* what they have */
    unsigned char *bits; /* which fragments are here */
};

/* multicast.c: fragments that were kept. */
void fly_cast_forget(struct fly_cast *cast);

/* Of a packet's `flags`: those of multicast begin here. */
enum { FLY_CAST_HAVE = FLY_WHAT_CAST, FLY_CAST_WANT, FLY_CAST_FRAGMENT, FLY_CAST_HAS,
       FLY_CAST_COMPLETE };

#endif
