/* Plans a whole graph: matches senders' lists with receivers', and colours the edges. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "flyloom.h"

/* An edge as it stands in the list of one of its ends. */
struct fly_edge_end {
    int from, to;
    uint32_t slot; /* its place in that end's list */
    int weight;    /* the weight that the sender gave */
};

static void add_out(struct fly_plan *plan, struct fly_verdict *verdicts, int from, int to,
                    int weight) {
    plan->outs[plan->out_count++] =
        (struct fly_edge_end){from, to, verdicts[from].out_count++, weight};
}

static void add_in(struct fly_plan *plan, struct fly_verdict *verdicts, int from, int to) {
    plan->ins[plan->in_count++] = (struct fly_edge_end){from, to, verdicts[to].in_count++, 0};
}

static void read_edges(struct fly_plan *plan, struct fly_verdict *verdicts, const int *words,
                       size_t count) {
    size_t edges = count / 3;
    for (size_t i = 0; i < edges; i++) {
        add_out(plan, verdicts, words[i], words[edges + i], words[2 * edges + i]);
        add_in(plan, verdicts, words[i], words[edges + i]);
    }
}

static void read_lists(struct fly_plan *plan, struct fly_verdict *verdicts, int rank,
                       const int *words, size_t count) {
    size_t in = (size_t)words[0], out = (count - 1 - in) / 2;
    for (size_t i = 1; i <= in; i++) add_in(plan, verdicts, words[i], rank);
    for (size_t i = 1 + in; i < 1 + in + out; i++)
        add_out(plan, verdicts, rank, words[i], words[i + out]);
}

static int by_pair(const struct fly_edge_end *a, const struct fly_edge_end *b) {
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static int by_edge(const void *left, const void *right) {
    const struct fly_edge_end *a = left, *b = right;
    int pair = by_pair(a, b);
    if (pair != 0) return pair;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static uint32_t count_of(const struct fly_edge_end *all, size_t count,
                         const struct fly_edge_end *pair) {
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) found += by_pair(&all[i], pair) == 0;
    return found;
}

/* The first pair of ranks of which one has edges that the other lacks; NULL: none. */
static const struct fly_edge_end *unmatched(const struct fly_plan *plan) {
    size_t i = 0;
    for (; i < plan->out_count && i < plan->in_count; i++) {
        int pair = by_pair(&plan->outs[i], &plan->ins[i]);
        if (pair != 0) return pair < 0 ? &plan->outs[i] : &plan->ins[i];
    }
    if (i < plan->out_count) return &plan->outs[i];
    return i < plan->in_count ? &plan->ins[i] : NULL;
}

struct heavy {
    int weight;
    size_t edge;
};

/* Orders edges by weight; equal ones stay in the order of edges. */
static int by_weight(const void *left, const void *right) {
    const struct heavy *a = left, *b = right;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

/* Gives edges between two ranks their rounds; edges of a rank to itself have none. The heaviest are
   coloured first, so that edges of a round are alike: a round takes as long as its heaviest. */
static bool colour(struct fly_plan *plan, int *colours) {
    size_t arcs = 0;
    uint32_t rounds, *found = malloc((plan->out_count + 1) * sizeof *found);
    struct fly_arc *all = malloc((plan->out_count + 1) * sizeof *all);
    struct heavy *order = malloc((plan->out_count + 1) * sizeof *order);
    bool good = found != NULL && all != NULL && order != NULL;
    for (size_t i = 0; i < plan->out_count && good; i++) {
        colours[i] = -1;
        if (plan->outs[i].from != plan->outs[i].to)
            order[arcs++] = (struct heavy){plan->outs[i].weight, i};
    }
    if (good) qsort(order, arcs, sizeof *order, by_weight);
    for (size_t i = 0; i < arcs && good; i++)
        all[i] = (struct fly_arc){plan->outs[order[i].edge].from, plan->outs[order[i].edge].to};
    good = good && fly_degree(plan->size, arcs, all, &plan->degree) &&
           fly_colour(plan->size, arcs, all, found, &rounds);
    for (size_t i = 0; i < arcs && good; i++) colours[order[i].edge] = (int)found[i];
    free(found);
    free(all);
    free(order);
    return good;
}

static bool fill(struct fly_plan *plan, const struct fly_verdict *verdicts) {
    size_t *first = malloc((size_t)plan->size * sizeof *first), at = 0;
    int *colours = malloc((plan->out_count + 1) * sizeof *colours), tag = 0;
    plan->slots = malloc((2 * plan->out_count + 1) * sizeof *plan->slots);
    bool good = first != NULL && colours != NULL && plan->slots != NULL && colour(plan, colours);
    for (int r = 0; r < plan->size && good; r++) {
        first[r] = at;
        at += (size_t)verdicts[r].in_count + verdicts[r].out_count;
    }
    for (size_t i = 0; i < plan->out_count && good; i++) {
        const struct fly_edge_end *out = &plan->outs[i], *in = &plan->ins[i];
        tag = i > 0 && by_pair(&plan->outs[i - 1], out) == 0 ? tag + 1 : 0;
        plan->slots[first[in->to] + in->slot] = (struct fly_place){in->from, tag, colours[i]};
        plan->slots[first[out->from] + verdicts[out->from].in_count + out->slot] =
            (struct fly_place){out->to, tag, colours[i]};
    }
    free(first);
    free(colours);
    return good;
}

static void refuse(const struct fly_plan *plan, struct fly_verdict *verdicts, int code,
                   const struct fly_edge_end *pair) {
    struct fly_verdict wrong = {.code = code};
    if (pair != NULL) {
        wrong.from = pair->from;
        wrong.to = pair->to;
        wrong.in_targets = count_of(plan->outs, plan->out_count, pair);
        wrong.in_sources = count_of(plan->ins, plan->in_count, pair);
    }
    for (int r = 0; r < plan->size; r++) verdicts[r] = wrong;
}

void fly_plan_make(struct fly_plan *plan, enum fly_graph_kind kind, int size, const int *words,
                   const size_t *starts, struct fly_verdict *verdicts) {
    size_t all = starts[size];
    *plan = (struct fly_plan){.size = size};
    plan->outs = malloc((all + 1) * sizeof *plan->outs);
    plan->ins = malloc((all + 1) * sizeof *plan->ins);
    if (plan->outs == NULL || plan->ins == NULL) {
        refuse(plan, verdicts, FLY_ERR_NOMEM, NULL);
        return;
    }
    for (int r = 0; r < size; r++) {
        const int *mine = words + starts[r];
        size_t count = starts[r + 1] - starts[r];
        if (kind == FLY_GRAPH_EDGES)
            read_edges(plan, verdicts, mine, count);
        else
            read_lists(plan, verdicts, r, mine, count);
    }
    qsort(plan->outs, plan->out_count, sizeof *plan->outs, by_edge);
    qsort(plan->ins, plan->in_count, sizeof *plan->ins, by_edge);
    const struct fly_edge_end *pair = unmatched(plan);
    if (pair != NULL) {
        refuse(plan, verdicts, FLY_ERR_ARG, pair);
    } else if (plan->out_count > FLY_EDGES_MOST || !fill(plan, verdicts)) {
        refuse(plan, verdicts, FLY_ERR_NOMEM, NULL);
    } else {
        for (int r = 0; r < size; r++) verdicts[r].degree = plan->degree;
    }
}

void fly_plan_end(struct fly_plan *plan) {
    free(plan->outs);
    free(plan->ins);
    free(plan->slots);
    memset(plan, 0, sizeof *plan);
}
