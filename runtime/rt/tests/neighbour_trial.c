/* A random graph and neighbour collectives on it: expected bytes come from formulas over edges. */
#include "neighbour_trial.h"

#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xA5 };

static bool adjacent(const struct sparse *s) { return s->seed % 2 == 1; }

static void shuffle(int *all, size_t count, uint64_t *random) {
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)below(random, i);
        int kept = all[i - 1];
        all[i - 1] = all[j];
        all[j] = kept;
    }
}

/* The ranks at the other end of this rank's edges, in the order of the edges. */
static size_t ends(const struct sparse *s, int rank, bool in, int *peers) {
    size_t count = 0;
    for (size_t i = 0; i < s->edge_count; i++)
        if ((in ? s->edges[i].to : s->edges[i].from) == rank)
            peers[count++] = in ? s->edges[i].from : s->edges[i].to;
    return count;
}

/* Sets the place of each edge at one end: the n-th edge of a pair is the n-th of it in the list. */
static void place(struct sparse *s, int rank, bool in, const int *peers, size_t count) {
    bool taken[EDGES_MOST] = {false};
    for (size_t i = 0; i < s->edge_count; i++) {
        struct edge *edge = &s->edges[i];
        size_t at = 0;
        if ((in ? edge->to : edge->from) != rank) continue;
        while (at < count && (taken[at] || peers[at] != (in ? edge->from : edge->to))) at++;
        CHECK(at < count, "the trial's own lists");
        taken[at] = true;
        *(in ? &edge->in : &edge->out) = at;
    }
}

static void draw_edges(struct sparse *s, uint64_t *random) {
    static const size_t PER_RANK[] = {0, 1, 3, 6};
    size_t most = PER_RANK[below(random, 4)] * (size_t)s->size;
    int hub = (int)below(random, (uint64_t)s->size);
    uint64_t habit = below(random, 3); /* anything; one rank has many; many are repeated */
    s->edge_count = (size_t)below(random, most + 1);
    for (size_t i = 0; i < s->edge_count; i++) {
        struct edge *edge = &s->edges[i];
        *edge = (struct edge){.from = (int)below(random, (uint64_t)s->size),
                              .to = (int)below(random, (uint64_t)s->size)};
        if (habit == 1 && below(random, 2) == 0) edge->to = hub;
        if (habit == 2 && i > 0 && below(random, 2) == 0) *edge = s->edges[i - 1];
        edge->giver = (int)below(random, (uint64_t)s->size);
    }
    if (adjacent(s)) return;
    /* The edges in the order of the ranks that give them. */
    struct edge sorted[EDGES_MOST];
    size_t count = 0;
    for (int giver = 0; giver < s->size; giver++)
        for (size_t i = 0; i < s->edge_count; i++)
            if (s->edges[i].giver == giver) sorted[count++] = s->edges[i];
    memcpy(s->edges, sorted, count * sizeof *sorted);
}

void sparse_draw(struct sparse *s, int rank, int size, uint64_t seed) {
    uint64_t random = seed;
    memset(s, 0, sizeof *s);
    s->rank = rank;
    s->size = size;
    s->seed = seed;
    draw_edges(s, &random);
    for (int r = 0; r < size; r++) {
        int sources[EDGES_MOST], targets[EDGES_MOST], in_others = 0, out_others = 0;
        size_t in = ends(s, r, true, sources), out = ends(s, r, false, targets);
        if (adjacent(s)) {
            shuffle(sources, in, &random);
            shuffle(targets, out, &random);
        }
        place(s, r, true, sources, in);
        place(s, r, false, targets, out);
        for (size_t i = 0; i < in; i++) in_others += sources[i] != r;
        for (size_t i = 0; i < out; i++) out_others += targets[i] != r;
        if (in_others > s->degree) s->degree = in_others;
        if (out_others > s->degree) s->degree = out_others;
        if (r != rank) continue;
        s->in_count = in;
        s->out_count = out;
        memcpy(s->sources, sources, in * sizeof *sources);
        memcpy(s->targets, targets, out * sizeof *targets);
    }
    for (size_t i = 0; i < s->edge_count; i++) {
        if (s->edges[i].to == rank) s->ins[s->edges[i].in] = &s->edges[i];
        if (s->edges[i].from == rank) s->outs[s->edges[i].out] = &s->edges[i];
    }
}

void sparse_make(struct sparse *s, fly_team *team) {
    int from[EDGES_MOST], to[EDGES_MOST], weights[EDGES_MOST], code;
    uint64_t random = s->seed + (uint64_t)s->rank;
    bool weighed = s->seed / 2 % 2 == 1;
    const int *sources, *targets;
    size_t count = 0, in, out;
    for (size_t i = 0; i < s->edge_count; i++) {
        if (s->edges[i].giver != s->rank) continue;
        from[count] = s->edges[i].from;
        to[count++] = s->edges[i].to;
    }
    for (size_t i = 0; i < EDGES_MOST; i++) weights[i] = (int)below(&random, 5);
    if (adjacent(s) && weighed)
        code = fly_graph_adjacent_weighted(team, s->in_count, s->sources, s->out_count, s->targets,
                                           weights, &s->graph);
    else if (adjacent(s))
        code = fly_graph_adjacent(team, s->in_count, s->sources, s->out_count, s->targets,
                                  &s->graph);
    else if (weighed)
        code = fly_graph_create_weighted(team, count, from, to, weights, &s->graph);
    else
        code = fly_graph_create(team, count, from, to, &s->graph);
    CHECK(code == FLY_OK, "rank %d: %s", s->rank, fly_last_error(NULL));
    CHECK(fly_graph_neighbours(s->graph, &in, &sources, &out, &targets) == FLY_OK, "neighbours");
    CHECK(in == s->in_count && out == s->out_count, "rank %d of %d: %zu sources, not %zu; %zu "
          "targets, not %zu", s->rank, s->size, in, s->in_count, out, s->out_count);
    CHECK(in == 0 || memcmp(sources, s->sources, in * sizeof *sources) == 0, "sources");
    CHECK(out == 0 || memcmp(targets, s->targets, out * sizeof *targets) == 0, "targets");
}

static bool has_lists(const struct sparse_call *call) {
    return call->operation == SPARSE_ALLGATHERV || call->operation == SPARSE_ALLTOALLV ||
           call->operation == SPARSE_ALLTOALLW;
}

static bool gathers(const struct sparse_call *call) {
    return call->operation == SPARSE_ALLGATHER || call->operation == SPARSE_ALLGATHERV;
}

/* How many bytes a rank sends from a place; from all places the same if the call gathers. */
static size_t bytes_of(const struct sparse_call *call, int from, size_t out) {
    uint64_t state = call->seed + (uint64_t)from * 1013;
    if (!has_lists(call)) return call->bytes;
    if (!gathers(call)) state += (out + 1) * UINT64_C(1000000007);
    return below(&state, 3) == 0 ? 0 : (size_t)below(&state, call->bytes + 1);
}

static unsigned char byte_of(const struct sparse_call *call, uint64_t epoch, int from, size_t out,
                             size_t i) {
    uint64_t state = call->seed * 31 + epoch * 1000003 + (uint64_t)from * 7919 + i;
    if (!gathers(call)) state += (out + 1) * UINT64_C(104729000003);
    return (unsigned char)(draw(&state) >> 23);
}

unsigned char *sparse_send(const struct sparse_call *call) { return call->send + GUARD; }
unsigned char *sparse_receive(const struct sparse_call *call) { return call->receive + GUARD; }

void sparse_call_draw(struct sparse_call *call, const struct sparse *s, uint64_t seed,
                      size_t most) {
    uint64_t random = seed;
    memset(call, 0, sizeof *call);
    call->sparse = s;
    call->seed = seed;
    call->operation = (enum sparse_operation)below(&random, SPARSE_OPERATIONS);
    uint64_t how = below(&random, 8);
    call->bytes = how == 0 ? 0 : how < 5 ? 1 + below(&random, 40) : 1 + below(&random, most);
    size_t gap = has_lists(call) ? 3 : 0;
    for (size_t i = 0; i < s->out_count; i++) {
        call->send_bytes[i] = bytes_of(call, s->rank, i);
        call->send_at[i] = call->sent;
        call->send_shapes[i] = (fly_shape){1, call->send_bytes[i], 0};
        if (call->operation == SPARSE_ALLTOALLW)
            call->send_shapes[i] = draw_shape(draw(&random), call->send_bytes[i], &call->sent,
                                              &call->send_at[i]);
        else if (!gathers(call)) call->sent += call->send_bytes[i] + gap;
    }
    if (gathers(call)) call->sent = bytes_of(call, s->rank, 0);
    for (size_t i = s->in_count; i-- > 0;) { /* the last comes first in memory */
        call->receive_bytes[i] = bytes_of(call, s->ins[i]->from, s->ins[i]->out);
        call->receive_at[i] = call->received;
        call->receive_shapes[i] = (fly_shape){1, call->receive_bytes[i], 0};
        if (call->operation == SPARSE_ALLTOALLW)
            call->receive_shapes[i] = draw_shape(draw(&random), call->receive_bytes[i],
                                                 &call->received, &call->receive_at[i]);
        else
            call->received += call->receive_bytes[i] + gap;
    }
    for (size_t i = 0; i < s->in_count && !has_lists(call); i++)
        call->receive_at[i] = i * call->bytes;
    call->send = malloc(call->sent + 2 * GUARD);
    call->receive = malloc(call->received + 2 * GUARD);
    CHECK(call->send != NULL && call->receive != NULL, "memory");
}

void sparse_call_end(struct sparse_call *call) {
    free(call->send);
    free(call->receive);
}

void sparse_call_fill(struct sparse_call *call, uint64_t epoch) {
    const struct sparse *s = call->sparse;
    unsigned char *send = sparse_send(call);
    memset(call->send, GUARD_BYTE, call->sent + 2 * GUARD);
    memset(call->receive, GUARD_BYTE, call->received + 2 * GUARD);
    for (size_t i = 0; gathers(call) && i < call->sent; i++)
        send[i] = byte_of(call, epoch, s->rank, 0, i);
    for (size_t k = 0; !gathers(call) && k < s->out_count; k++)
        for (size_t i = 0; i < call->send_bytes[k]; i++)
            send[shape_place(&call->send_shapes[k], call->send_at[k], i)] =
                byte_of(call, epoch, s->rank, k, i);
}

#define CALL(name, ...)                                                         \
    (form == SPARSE_BLOCKING ? fly_neighbour_##name(__VA_ARGS__)                \
     : form == SPARSE_BEGUN  ? fly_ineighbour_##name(__VA_ARGS__, req)          \
                             : fly_neighbour_##name##_init(__VA_ARGS__, req))

int sparse_call_make(struct sparse_call *c, enum sparse_form form, fly_req **req) {
    fly_graph *graph = c->sparse->graph;
    unsigned char *send = sparse_send(c), *receive = sparse_receive(c);
    switch (c->operation) {
    case SPARSE_ALLGATHER: return CALL(allgather, graph, send, receive, c->bytes);
    case SPARSE_ALLGATHERV:
        return CALL(allgatherv, graph, send, c->sent, receive, c->receive_bytes, c->receive_at);
    case SPARSE_ALLTOALL: return CALL(alltoall, graph, send, receive, c->bytes);
    case SPARSE_ALLTOALLW:
        return CALL(alltoallw, graph, send, c->send_shapes, c->send_at, receive, c->receive_shapes,
                    c->receive_at);
    default:
        return CALL(alltoallv, graph, send, c->send_bytes, c->send_at, receive, c->receive_bytes,
                    c->receive_at);
    }
}

void sparse_call_check(const struct sparse_call *call, uint64_t epoch) {
    const struct sparse *s = call->sparse;
    struct sparse_call wanted = *call;
    wanted.send = malloc(call->sent + 2 * GUARD);
    wanted.receive = malloc(call->received + 2 * GUARD);
    CHECK(wanted.send != NULL && wanted.receive != NULL, "memory");
    sparse_call_fill(&wanted, epoch);
    for (size_t k = 0; k < s->in_count; k++)
        for (size_t i = 0; i < call->receive_bytes[k]; i++)
            sparse_receive(&wanted)[shape_place(&call->receive_shapes[k], call->receive_at[k],
                                                i)] =
                byte_of(call, epoch, s->ins[k]->from, s->ins[k]->out, i);
    for (size_t i = 0; i < call->received + 2 * GUARD; i++)
        CHECK(wanted.receive[i] == call->receive[i], "operation %d, rank %d of %d, graph %lu, %zu "
              "bytes: byte %ld of %zu", (int)call->operation, s->rank, s->size,
              (unsigned long)s->seed, call->bytes, (long)i - GUARD, call->received);
    CHECK(memcmp(wanted.send, call->send, call->sent + 2 * GUARD) == 0, "send was written");
    free(wanted.send);
    free(wanted.receive);
}
