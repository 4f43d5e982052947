/* Graphs of neighbour collectives: made collectively, coloured at rank 0, freed by each rank alone.
 *
 * Rank 0 gathers the lists of all ranks, finds each edge's place at both ends, colours the edges,
 * and sends each rank its own: O(edges) bytes, once. The n-th edge of a pair in the sender's list
 * is the n-th in the receiver's. Errors that one rank finds are agreed on before any rank waits for
 * a message.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "call.h"
#include "error.h"
#include "plan.h"
#include "progress.h"
#include "trees.h"

enum { GROUP = 64 }; /* ranks of a round, whose messages fit into the heap */

struct offer {
    uint64_t kind, words;
};

/* Makes all ranks fail where one does; the others report which. */
static int together(const char *name, struct fly_team *team, int code) {
    uint64_t worst = code == FLY_OK ? 0 : (uint64_t)code << 32 | (uint32_t)team->rank;
    fly_enter(team->rt);
    int agreed = fly_agree(team->rt, &team->object, &worst);
    fly_leave(team->rt);
    if (code != FLY_OK) return code;
    if (agreed != FLY_OK) return agreed;
    if (worst == 0) return FLY_OK;
    code = (int)(worst >> 32);
    return fly_fail(code, "%s: rank %d could not: %s", name, (int)(uint32_t)worst,
                    fly_strerror(code));
}

static void offers(struct fly_sched *s, const struct fly_call *call) {
    fly_bruck_gather(s, call, call->key.receive, call->key.bytes);
}

/* Sends the words of each rank to rank 0, which stores them one rank after the other. */
static void collect(struct fly_sched *s, const struct fly_call *call) {
    const size_t *bytes = call->arrays[0];
    unsigned char *to = call->key.receive;
    fly_round(s);
    if (call->rank != 0) fly_send_to(s, 0, 0, call->key.send, bytes[call->rank]);
    for (int r = 0; r < call->size && call->rank == 0; to += bytes[r++]) {
        if (r % GROUP == GROUP - 1) fly_round(s);
        if (r == 0)
            fly_copy(s, to, call->key.send, bytes[0]);
        else
            fly_receive_from(s, r, 0, to, bytes[r]);
    }
}

/* Sends each rank its part back. */
static void hand_out(struct fly_sched *s, const struct fly_call *call) {
    const size_t *bytes = call->arrays[0];
    const unsigned char *from = call->key.send;
    fly_round(s);
    if (call->rank != 0) fly_receive_from(s, 0, 0, call->key.receive, bytes[call->rank]);
    for (int r = 0; r < call->size && call->rank == 0; from += bytes[r++]) {
        if (r % GROUP == GROUP - 1) fly_round(s);
        if (r == 0)
            fly_copy(s, call->key.receive, from, bytes[0]);
        else
            fly_send_to(s, r, 0, from, bytes[r]);
    }
}

static int run(const char *name, struct fly_team *team, fly_build *build, const void *send,
               void *receive, size_t bytes, const size_t *sizes) {
    struct fly_call call;
    int code = fly_call_open(&call, name, team, FLY_C_INNER, build);
    if (code != FLY_OK) return code;
    call.key.send = send;
    call.key.receive = receive;
    call.key.bytes = bytes;
    if (sizes != NULL) {
        call.arrays[0] = sizes;
        call.lengths[0] = (size_t)call.size;
    }
    return fly_call_run(&call);
}

/* The state while a graph is made; offers[i] is of rank + i. */
struct graph_build {
    const char *name;
    struct fly_team *team;
    enum fly_graph_kind kind;
    int *mine; /* this rank's words */
    size_t mine_count;
    struct offer *offers;
    size_t *sizes, *starts;
    int *words; /* the words of all ranks, at rank 0 */
    struct fly_verdict *verdicts, verdict;
    struct fly_plan plan;
    struct fly_place *slots;
    struct fly_graph *graph;
};

static void free_graph(struct fly_graph *graph) {
    if (graph == NULL) return;
    free(graph->ins);
    free(graph->outs);
    free(graph->sources);
    free(graph->targets);
    free(graph);
}

static void end_making(struct graph_build *m) {
    fly_plan_end(&m->plan);
    free(m->mine);
    free(m->offers);
    free(m->sizes);
    free(m->starts);
    free(m->words);
    free(m->verdicts);
    free(m->slots);
    free_graph(m->graph);
}

static int no_memory(const struct graph_build *m) {
    return fly_fail(FLY_ERR_NOMEM, "%s: no memory", m->name);
}

/* Gathers all lists at rank 0. */
static int gather(struct graph_build *m) {
    size_t size = (size_t)m->team->size, rank = (size_t)m->team->rank, all = 0;
    m->offers[0] = (struct offer){m->kind, m->mine_count};
    int code = run(m->name, m->team, offers, NULL, m->offers, sizeof *m->offers, NULL);
    if (code != FLY_OK) return code;
    uint64_t first = m->offers[(size - rank) % size].kind;
    for (size_t r = 0; r < size; r++) {
        const struct offer *offer = &m->offers[(r + size - rank) % size];
        if (offer->kind != first)
            return fly_fail(FLY_ERR_ARG, "%s: rank %zu calls fly_graph_%s, rank 0 fly_graph_%s",
                            m->name, r, first == FLY_GRAPH_EDGES ? "adjacent" : "create",
                            first == FLY_GRAPH_EDGES ? "create" : "adjacent");
        m->starts[r] = all;
        m->sizes[r] = (size_t)offer->words * sizeof *m->words;
        all += (size_t)offer->words;
    }
    m->starts[size] = all;
    if (rank == 0) {
        m->words = malloc((all + 1) * sizeof *m->words);
        m->verdicts = calloc(size, sizeof *m->verdicts);
        if (m->words == NULL || m->verdicts == NULL) code = no_memory(m);
    }
    code = together(m->name, m->team, code);
    if (code != FLY_OK) return code;
    return run(m->name, m->team, collect, m->mine, m->words, 0, m->sizes);
}

static int judge(struct graph_build *m) {
    size_t size = (size_t)m->team->size;
    if (m->team->rank == 0)
        fly_plan_make(&m->plan, m->kind, m->team->size, m->words, m->starts, m->verdicts);
    for (size_t r = 0; r < size; r++) m->sizes[r] = sizeof m->verdict;
    int code = run(m->name, m->team, hand_out, m->verdicts, &m->verdict, 1, m->sizes);
    const struct fly_verdict *v = &m->verdict;
    if (code != FLY_OK || v->code == FLY_OK) return code;
    if (v->code == FLY_ERR_NOMEM)
        return fly_fail(v->code, "%s: rank 0 has no memory for all edges", m->name);
    return fly_fail(v->code, "%s: rank %d has rank %d %u times among its targets; rank %d has "
                    "rank %d %u times among its sources", m->name, v->from, v->to,
                    (unsigned)v->in_targets, v->to, v->from, (unsigned)v->in_sources);
}

static int make_room(struct graph_build *m) {
    size_t in = m->verdict.in_count, out = m->verdict.out_count;
    struct fly_graph *graph = calloc(1, sizeof *graph);
    m->slots = malloc((in + out + 1) * sizeof *m->slots);
    m->graph = graph;
    if (graph == NULL) return no_memory(m);
    graph->in_count = in;
    graph->out_count = out;
    graph->degree = (int)m->verdict.degree;
    graph->ins = malloc((in + 1) * sizeof *graph->ins);
    graph->outs = malloc((out + 1) * sizeof *graph->outs);
    graph->sources = malloc((in + 1) * sizeof *graph->sources);
    graph->targets = malloc((out + 1) * sizeof *graph->targets);
    bool there = m->slots != NULL && graph->ins != NULL && graph->outs != NULL &&
                 graph->sources != NULL && graph->targets != NULL;
    return there ? FLY_OK : no_memory(m);
}

static int by_colour(const void *left, const void *right) {
    const struct fly_route *a = left, *b = right;
    if (a->colour != b->colour) return a->colour < b->colour ? -1 : 1;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static void routes(const struct fly_place *slots, size_t count, struct fly_route *into,
                   int *peers) {
    for (size_t i = 0; i < count; i++) {
        into[i] = (struct fly_route){slots[i].peer, slots[i].tag, slots[i].colour, (int)i};
        peers[i] = slots[i].peer;
    }
    qsort(into, count, sizeof *into, by_colour);
}

static int receive(struct graph_build *m) {
    size_t size = (size_t)m->team->size;
    struct fly_graph *graph = m->graph;
    for (size_t r = 0; r < size; r++) {
        const struct fly_verdict *v = m->team->rank == 0 ? &m->verdicts[r] : &m->verdict;
        m->sizes[r] = ((size_t)v->in_count + v->out_count) * sizeof *m->slots;
    }
    int code = run(m->name, m->team, hand_out, m->plan.slots, m->slots, 2, m->sizes);
    if (code != FLY_OK) return code;
    routes(m->slots, graph->in_count, graph->ins, graph->sources);
    routes(m->slots + graph->in_count, graph->out_count, graph->outs, graph->targets);
    while (graph->selfs < (int)graph->in_count && graph->ins[graph->selfs].colour < 0)
        graph->selfs++;
    return FLY_OK;
}

static void link_in(struct graph_build *m) {
    struct fly_graph *graph = m->graph;
    fly_enter(m->team->rt);
    graph->coll = m->team->coll;
    graph->number = graph->coll->graph_count++;
    graph->next = graph->coll->graphs;
    graph->coll->graphs = graph;
    fly_leave(m->team->rt);
    m->graph = NULL;
}

/* Makes the graph; `code` is the error that this rank has found so far. Frees m->mine. */
static int make(struct graph_build *m, int code, struct fly_graph **out) {
    struct fly_call first; /* opening a call sets up the team's collectives */
    int opened = fly_call_open(&first, m->name, m->team, FLY_C_INNER, offers);
    if (opened != FLY_OK) {
        end_making(m);
        return opened;
    }
    size_t size = (size_t)m->team->size;
    m->offers = calloc(size, sizeof *m->offers);
    m->sizes = calloc(size, sizeof *m->sizes);
    m->starts = calloc(size + 1, sizeof *m->starts);
    if (code == FLY_OK && (m->offers == NULL || m->sizes == NULL || m->starts == NULL))
        code = no_memory(m);
    code = together(m->name, m->team, code);
    if (code == FLY_OK) code = gather(m);
    if (code == FLY_OK) code = judge(m);
    if (code == FLY_OK) code = together(m->name, m->team, make_room(m));
    if (code == FLY_OK) code = receive(m);
    if (code == FLY_OK) {
        *out = m->graph;
        link_in(m);
    }
    end_making(m);
    return code;
}

static int list(const struct graph_build *m, const char *what, size_t count, const int ranks[],
                int *into) {
    if (count != 0 && ranks == NULL)
        return fly_fail(FLY_ERR_ARG, "%s: %s is NULL, for %zu ranks", m->name, what, count);
    for (size_t i = 0; i < count; i++)
        if (ranks[i] < 0 || ranks[i] >= m->team->size)
            return fly_fail(FLY_ERR_RANK, "%s: %s[%zu]: %d must be 0 to %d", m->name, what, i,
                            ranks[i], m->team->size - 1);
    if (count != 0) memcpy(into, ranks, count * sizeof *into);
    return FLY_OK;
}

static int open_up(struct graph_build *m, const char *name, enum fly_graph_kind kind,
                   fly_team *team, struct fly_graph **graph) {
    if (graph != NULL) *graph = NULL;
    if (team == NULL) return fly_fail(FLY_ERR_ARG, "%s: team is NULL", name);
    *m = (struct graph_build){.name = name, .team = team, .kind = kind};
    return FLY_OK;
}

/* Appends the weights of the outgoing edges; 1 where there are none. */
static int weigh(const struct graph_build *m, const char *what, size_t count, const int weights[],
                 int *into) {
    for (size_t i = 0; i < count; i++) {
        into[i] = weights == NULL ? 1 : weights[i];
        if (into[i] < 0)
            return fly_fail(FLY_ERR_ARG, "%s: %s[%zu]: %d must be 0 or more", m->name, what, i,
                            into[i]);
    }
    return FLY_OK;
}

/* Makes room for two lists, the second with weights, and `more` words before them. */
static int words_for(struct graph_build *m, size_t more, size_t a, size_t b,
                     struct fly_graph *const *graph) {
    if (graph == NULL) return fly_fail(FLY_ERR_ARG, "%s: graph is NULL", m->name);
    if (a > FLY_EDGES_MOST || b > FLY_EDGES_MOST)
        return fly_fail(FLY_ERR_ARG, "%s: %zu edges must be at most %d", m->name, a > b ? a : b,
                        FLY_EDGES_MOST);
    m->mine = calloc(more + a + 2 * b + 1, sizeof *m->mine);
    m->mine_count = more + a + 2 * b;
    return m->mine != NULL ? FLY_OK : no_memory(m);
}

static int create(const char *name, fly_team *team, size_t count, const int from[],
                  const int to[], const int weights[], fly_graph **graph) {
    struct graph_build m;
    int code = open_up(&m, name, FLY_GRAPH_EDGES, team, graph);
    if (code != FLY_OK) return code;
    code = words_for(&m, 0, count, count, graph);
    if (code == FLY_OK) code = list(&m, "from", count, from, m.mine);
    if (code == FLY_OK) code = list(&m, "to", count, to, m.mine + count);
    if (code == FLY_OK) code = weigh(&m, "weights", count, weights, m.mine + 2 * count);
    return make(&m, code, graph);
}

int fly_graph_create(fly_team *team, size_t count, const int from[], const int to[],
                     fly_graph **graph) {
    return create("fly_graph_create", team, count, from, to, NULL, graph);
}

int fly_graph_create_weighted(fly_team *team, size_t count, const int from[], const int to[],
                              const int weights[], fly_graph **graph) {
    return create("fly_graph_create_weighted", team, count, from, to, weights, graph);
}

static int adjacent(const char *name, fly_team *team, size_t in_count, const int sources[],
                    size_t out_count, const int targets[], const int weights[],
                    fly_graph **graph) {
    struct graph_build m;
    int code = open_up(&m, name, FLY_GRAPH_ADJACENT, team, graph);
    if (code != FLY_OK) return code;
    code = words_for(&m, 1, in_count, out_count, graph);
    if (code == FLY_OK) m.mine[0] = (int)in_count;
    if (code == FLY_OK) code = list(&m, "sources", in_count, sources, m.mine + 1);
    if (code == FLY_OK) code = list(&m, "targets", out_count, targets, m.mine + 1 + in_count);
    if (code == FLY_OK)
        code = weigh(&m, "target_weights", out_count, weights, m.mine + 1 + in_count + out_count);
    return make(&m, code, graph);
}

int fly_graph_adjacent(fly_team *team, size_t in_count, const int sources[], size_t out_count,
                       const int targets[], fly_graph **graph) {
    return adjacent("fly_graph_adjacent", team, in_count, sources, out_count, targets, NULL,
                    graph);
}

int fly_graph_adjacent_weighted(fly_team *team, size_t in_count, const int sources[],
                                size_t out_count, const int targets[],
                                const int target_weights[], fly_graph **graph) {
    return adjacent("fly_graph_adjacent_weighted", team, in_count, sources, out_count, targets,
                    target_weights, graph);
}

int fly_graph_neighbours(const fly_graph *graph, size_t *in_count, const int **sources,
                         size_t *out_count, const int **targets) {
    if (graph == NULL) return fly_fail(FLY_ERR_ARG, "fly_graph_neighbours: graph is NULL");
    if (in_count != NULL) *in_count = graph->in_count;
    if (sources != NULL) *sources = graph->sources;
    if (out_count != NULL) *out_count = graph->out_count;
    if (targets != NULL) *targets = graph->targets;
    return FLY_OK;
}

int fly_graph_team(const fly_graph *graph, fly_team **team) {
    if (graph == NULL || team == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_graph_team: %s is NULL", graph == NULL ? "graph"
                                                                               : "team");
    *team = graph->coll == NULL ? NULL : graph->coll->team;
    if (*team != NULL) return FLY_OK;
    return fly_fail(FLY_ERR_STATE, "fly_graph_team: graph: its team is gone");
}

int fly_graph_free(fly_graph **graph) {
    if (graph == NULL || *graph == NULL)
        return fly_fail(FLY_ERR_ARG, "fly_graph_free: graph is NULL");
    struct fly_coll *coll = (*graph)->coll;
    if (coll != NULL) {
        struct fly_rt *rt = coll->rt;
        fly_enter(rt);
        struct fly_graph **at = &coll->graphs;
        while (*at != *graph) at = &(*at)->next;
        *at = (*graph)->next;
        fly_leave(rt);
    }
    free_graph(*graph);
    *graph = NULL;
    return FLY_OK;
}

void fly_graphs_orphan(struct fly_coll *coll) {
    for (struct fly_graph *graph = coll->graphs; graph != NULL; graph = graph->next)
        graph->coll = NULL;
    coll->graphs = NULL;
}
