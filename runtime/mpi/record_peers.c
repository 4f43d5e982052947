/* Translates ranks of communicators and windows to ranks of MPI_COMM_WORLD, once for each.
 *
 * The translation is an attribute of the communicator or window, and ends with it. Threads cache
 * what they used last; when any of these ends they look again, since its handle may be reused.
 */
#include "record.h"

#include <pthread.h>
#include <stdlib.h>

static int comm_key = MPI_KEYVAL_INVALID, win_key = MPI_KEYVAL_INVALID;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static void drop(struct peers *peers) {
    if (peers == NULL) return;
    free(peers->world);
    free(peers->own_world);
    free(peers->to);
    free(peers);
}

/* One user less; the peers of a communicator outlive it while receives of any source use them. */
void rec_release(const struct peers *peers) {
    struct peers *mine = (struct peers *)peers;
    if (mine != NULL && atomic_fetch_sub(&mine->users, 1) == 1) drop(mine);
}

static int comm_ends(MPI_Comm comm, int key, void *peers, void *extra) {
    (void)comm, (void)key, (void)extra;
    atomic_fetch_add(&rec_age, 1);
    rec_release(peers);
    return MPI_SUCCESS;
}

static int win_ends(MPI_Win win, int key, void *peers, void *extra) {
    (void)win, (void)key, (void)extra;
    atomic_fetch_add(&rec_age, 1);
    rec_release(peers);
    return MPI_SUCCESS;
}

void rec_peers_begin(void) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_ends, &comm_key, NULL);
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_ends, &win_key, NULL);
}

/* Finds which processes the `size` ranks of a group are; 0, or -1 where memory is short. */
static int processes(MPI_Group group, int size, int **world) {
    size_t room = (size_t)size + 1;
    int *ranks = calloc(room, sizeof *ranks), *found = malloc(room * sizeof *found);
    if (ranks == NULL || found == NULL) {
        free(ranks);
        free(found);
        return -1;
    }
    for (int i = 0; i < size; i++) ranks[i] = i;
    PMPI_Group_translate_ranks(group, size, ranks, rec_world, found);
    int same = 1;
    for (int i = 0; i < size; i++) {
        if (found[i] == MPI_UNDEFINED) found[i] = -1;
        same = same && found[i] == i;
    }
    if (same) {
        free(found);
        found = NULL;
    }
    *world = found;
    free(ranks);
    return 0;
}

/* Fills in which processes the ranks of a group are; 0, or -1 where memory is short. */
static int translate(struct peers *peers, MPI_Group group) {
    PMPI_Group_size(group, &peers->size);
    return processes(group, peers->size, &peers->world);
}

/* The first user, and the number of what was found; NULL, and nothing kept, where `code` is not 0.
 */
static struct peers *whole(struct peers *peers, int code, int is_window) {
    if (code != 0) {
        drop(peers);
        return NULL;
    }
    atomic_init(&peers->users, 1);
    if (rec_calls) rec_group(peers, is_window ? REC_WINDOW : 0);
    return peers;
}

static int room_for(struct peers *peers, int degree) {
    peers->to = malloc(((size_t)degree + 1) * sizeof *peers->to);
    peers->degree = peers->to != NULL ? degree : 0;
    return peers->to != NULL ? 0 : -1;
}

/* Fills in whom the neighbourhood collectives of a topology send to. */
static int neighbours(struct peers *peers, MPI_Comm comm) {
    int kind = MPI_UNDEFINED, count = 0;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &count);
        if (room_for(peers, 2 * count) != 0) return -1;
        for (int d = 0; d < count; d++)
            PMPI_Cart_shift(comm, d, 1, &peers->to[2 * d], &peers->to[2 * d + 1]);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, peers->me, &count);
        if (room_for(peers, count) != 0) return -1;
        PMPI_Graph_neighbors(comm, peers->me, count, peers->to);
    } else if (kind == MPI_DIST_GRAPH) {
        int in = 0, is_weighted = 0;
        PMPI_Dist_graph_neighbors_count(comm, &in, &count, &is_weighted);
        int *from = malloc(((size_t)in + 1) * sizeof *from);
        size_t most = (size_t)(in > count ? in : count) + 1;
        int *weights = malloc(most * sizeof *weights), *others = malloc(most * sizeof *others);
        int code = from && weights && others ? room_for(peers, count) : -1;
        if (code == 0)
            PMPI_Dist_graph_neighbors(comm, in, from, weights, count, peers->to, others);
        free(from);
        free(weights);
        free(others);
        return code;
    }
    return 0;
}

static struct peers *of_comm(MPI_Comm comm) {
    struct peers *peers = calloc(1, sizeof *peers);
    if (peers == NULL) return NULL;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_test_inter(comm, &peers->inter);
    PMPI_Comm_rank(comm, &peers->me);
    PMPI_Comm_size(comm, &peers->own);
    PMPI_Comm_group(comm, &group);
    int code = peers->inter ? processes(group, peers->own, &peers->own_world)
                            : translate(peers, group);
    PMPI_Group_free(&group);
    if (code == 0 && peers->inter) {
        PMPI_Comm_remote_group(comm, &group);
        code = translate(peers, group);
        PMPI_Group_free(&group);
    }
    if (code == 0 && !peers->inter) code = neighbours(peers, comm);
    return whole(peers, code, 0);
}

static struct peers *of_win(MPI_Win win) {
    struct peers *peers = calloc(1, sizeof *peers);
    if (peers == NULL) return NULL;
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Win_get_group(win, &group);
    PMPI_Group_rank(group, &peers->me);
    int code = translate(peers, group);
    PMPI_Group_free(&group);
    peers->own = peers->size;
    return whole(peers, code, 1);
}

static const struct peers *remember(struct known_handle *at, uintptr_t handle,
                                    const struct peers *peers) {
    if (peers == NULL) {
        atomic_store(&rec_lost, 1);
        return NULL;
    }
    *at = (struct known_handle){handle, peers, atomic_load(&rec_age)};
    return peers;
}

/* Finds the peers of a communicator that is not in this thread's cache. */
const struct peers *rec_comm_new(MPI_Comm comm) {
    struct peers *peers = NULL;
    int is_there = 0;
    PMPI_Comm_get_attr(comm, comm_key, &peers, &is_there);
    if (!is_there) {
        pthread_mutex_lock(&making);
        PMPI_Comm_get_attr(comm, comm_key, &peers, &is_there);
        if (!is_there && (peers = of_comm(comm)) != NULL)
            PMPI_Comm_set_attr(comm, comm_key, peers);
        pthread_mutex_unlock(&making);
    }
    return remember(&rec_thread.comms[rec_cache_slot((uintptr_t)comm)], (uintptr_t)comm, peers);
}

/* Finds the peers of a window that is not in this thread's cache. */
const struct peers *rec_win_new(MPI_Win win) {
    struct peers *peers = NULL;
    int is_there = 0;
    PMPI_Win_get_attr(win, win_key, &peers, &is_there);
    if (!is_there) {
        pthread_mutex_lock(&making);
        PMPI_Win_get_attr(win, win_key, &peers, &is_there);
        if (!is_there && (peers = of_win(win)) != NULL) PMPI_Win_set_attr(win, win_key, peers);
        pthread_mutex_unlock(&making);
    }
    return remember(&rec_thread.wins[rec_cache_slot((uintptr_t)win)], (uintptr_t)win, peers);
}
