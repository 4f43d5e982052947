/* Calls that make communicators and windows, and those of windows that wait: what a schedule needs
 * besides messages. A communicator is described when it is made, so that all of its processes count
 * those of the same group in the same order.
 */
#include "record_requests.h"

static void waits(void) { rec_event(REC_WAITS, 0, 0, NULL); }

static void made(const MPI_Comm *comm) {
    if (*comm != MPI_COMM_NULL) rec_comm(*comm);
    waits();
}

static void made_window(const MPI_Win *win) {
    rec_win(*win);
    waits();
}

#define MAKES(name, parameters, arguments)                                                        \
    CALLED(name, parameters, arguments, (void)0, made(made_comm))
#define WINDOW(name, parameters, arguments)                                                       \
    CALLED(name, parameters, arguments, (void)0, made_window(win))

MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made_comm), (comm, made_comm))
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made_comm),
      (comm, info, made_comm))
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made_comm), (comm, group, made_comm))
MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made_comm),
      (comm, group, tag, made_comm))
MAKES(Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *made_comm),
      (comm, colour, key, made_comm))
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made_comm),
      (comm, type, key, info, made_comm))
MAKES(Cart_create,
      (MPI_Comm comm, int count, const int sizes[], const int rounds[], int reorder,
       MPI_Comm *made_comm),
      (comm, count, sizes, rounds, reorder, made_comm))
MAKES(Cart_sub, (MPI_Comm comm, const int stays[], MPI_Comm *made_comm), (comm, stays, made_comm))
MAKES(Graph_create,
      (MPI_Comm comm, int count, const int index[], const int edges[], int reorder,
       MPI_Comm *made_comm),
      (comm, count, index, edges, reorder, made_comm))
MAKES(Dist_graph_create,
      (MPI_Comm comm, int count, const int sources[], const int degrees[],
       const int destinations[], const int weights[], MPI_Info info, int reorder,
       MPI_Comm *made_comm),
      (comm, count, sources, degrees, destinations, weights, info, reorder, made_comm))
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
       const int destinations[], const int out_weights[], MPI_Info info, int reorder,
       MPI_Comm *made_comm),
      (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made_comm))
MAKES(Intercomm_create,
      (MPI_Comm comm, int leader, MPI_Comm peers, int other, int tag, MPI_Comm *made_comm),
      (comm, leader, peers, other, tag, made_comm))
MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made_comm), (comm, high, made_comm))

/* Its communicator may be used once the request is complete: it is described at its first use. */
CALLED(Comm_idup, (MPI_Comm comm, MPI_Comm *made_comm, MPI_Request *request),
       (comm, made_comm, request), (void)0, waits())
CALLED(Comm_free, (MPI_Comm *comm), (comm), (void)0, waits())
CALLED(Comm_disconnect, (MPI_Comm *comm), (comm), (void)0, waits())

WINDOW(Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
       (base, size, unit, info, comm, win))
WINDOW(Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
       (size, unit, info, comm, base, win))
WINDOW(Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
       (size, unit, info, comm, base, win))
WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
CALLED(Win_free, (MPI_Win *win), (win), (void)0, waits())

/* The transfers of this process to a target, or to all, are complete. */
static void complete(MPI_Win win, int target, int is_fence) {
    const struct peers *of = rec_win(win);
    if (of == NULL) return;
    int world = target < 0 ? -1 : rec_world_rank(of, target);
    uint64_t words[2] = {of->number, world < 0 ? REC_ANY : (uint64_t)world};
    rec_event(REC_SYNC, is_fence ? REC_FENCE : 0, 2, words);
}

CALLED(Win_fence, (int assert, MPI_Win win), (assert, win), (void)0, complete(win, -1, 1))
CALLED(Win_flush, (int target, MPI_Win win), (target, win), (void)0, complete(win, target, 0))
CALLED(Win_flush_local, (int target, MPI_Win win), (target, win), (void)0,
       complete(win, target, 0))
CALLED(Win_flush_all, (MPI_Win win), (win), (void)0, complete(win, -1, 0))
CALLED(Win_flush_local_all, (MPI_Win win), (win), (void)0, complete(win, -1, 0))
CALLED(Win_unlock, (int target, MPI_Win win), (target, win), (void)0, complete(win, target, 0))
CALLED(Win_unlock_all, (MPI_Win win), (win), (void)0, complete(win, -1, 0))
CALLED(Win_complete, (MPI_Win win), (win), (void)0, complete(win, -1, 0))
CALLED(Win_lock, (int kind, int target, int assert, MPI_Win win), (kind, target, assert, win),
       (void)0, waits())
CALLED(Win_lock_all, (int assert, MPI_Win win), (assert, win), (void)0, waits())
CALLED(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win), (void)0,
       waits())
CALLED(Win_wait, (MPI_Win win), (win), (void)0, waits())
CALLED(Win_test, (MPI_Win win, int *flag), (win, flag), (void)0,
       if (*flag) waits(); else rec_event(REC_POLL, 0, 0, NULL))
