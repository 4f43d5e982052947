/* Neighbour collectives: messages go along the edges of a graph, by colour or all at once.
 *
 * Every rank goes through its edges in the order of their colours, and no rank sends or receives
 * two edges of one colour. So the unfinished edge of the smallest colour is in the current round of
 * both its ends, however many colours each rank puts into one round: every wait ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "call.h"
#include "error.h"
#include "graph.h"
#include "neighbour.h"
#include "shapes.h"

enum { COLOURED, AT_ONCE };
enum { SEND_BYTES, SEND_AT, RECEIVE_BYTES, RECEIVE_AT }; /* arrays; bytes may be shapes */
enum { COLOURS_AT_ONCE = 64 }; /* colours in one round, whose messages fit in the heap */

static bool has_shapes(const struct fly_call *call) {
    return call->key.operation == FLY_C_NEIGHBOUR_ALLTOALLW;
}

/* The memory that a slot sends, packed if it has gaps. */
static struct fly_piece out_of(const struct fly_call *call, int slot) {
    const struct fly_key *key = &call->key;
    unsigned char *send = (unsigned char *)(uintptr_t)key->send;
    switch (key->operation) {
    case FLY_C_NEIGHBOUR_ALLTOALL:
        return (struct fly_piece){send + (size_t)slot * key->bytes, key->bytes};
    case FLY_C_NEIGHBOUR_ALLTOALLV:
        return (struct fly_piece){send + call->arrays[SEND_AT][slot],
                                  call->arrays[SEND_BYTES][slot]};
    case FLY_C_NEIGHBOUR_ALLTOALLW:
        return (struct fly_piece){send + call->arrays[SEND_AT][slot],
                                  fly_shape_bytes(&fly_shapes_of(call->arrays[SEND_BYTES])[slot])};
    default: return (struct fly_piece){send, key->bytes};
    }
}

static struct fly_piece in_of(const struct fly_call *call, int slot) {
    unsigned char *receive = call->key.receive;
    const size_t *sizes = call->arrays[RECEIVE_BYTES];
    if (call->arrays[RECEIVE_AT] == NULL)
        return (struct fly_piece){receive + (size_t)slot * call->key.bytes, call->key.bytes};
    return (struct fly_piece){receive + call->arrays[RECEIVE_AT][slot],
                              has_shapes(call) ? fly_shape_bytes(&fly_shapes_of(sizes)[slot])
                                               : sizes[slot]};
}

static void copy_own(struct fly_sched *s, const struct fly_call *call, int out, int in) {
    struct fly_piece from = out_of(call, out), to = in_of(call, in);
    if (has_shapes(call))
        fly_copy_shaped(s, to.at, &fly_shapes_of(call->arrays[RECEIVE_BYTES])[in], from.at,
                        &fly_shapes_of(call->arrays[SEND_BYTES])[out]);
    else
        fly_copy(s, to.at, from.at, from.bytes);
}

static void build(struct fly_sched *s, const struct fly_call *call) {
    const struct fly_graph *graph = call->graph;
    const fly_shape *outs = fly_shapes_of(call->arrays[SEND_BYTES]);
    const fly_shape *ins = fly_shapes_of(call->arrays[RECEIVE_BYTES]);
    int colours = call->key.algorithm == COLOURED ? 1 : COLOURS_AT_ONCE, current = -1;
    size_t in = 0, out = 0, selfs = (size_t)graph->selfs;
    bool shaped = has_shapes(call);
    struct fly_piece *packed = shaped ? fly_temporary(s, graph->in_count * sizeof *packed) : NULL;
    fly_round(s);
    for (; in < selfs; in++, out++) copy_own(s, call, graph->outs[out].slot, graph->ins[in].slot);
    while (!s->failed && (in < graph->in_count || out < graph->out_count)) {
        bool sends = in == graph->in_count || (out < graph->out_count &&
                                               graph->outs[out].colour <= graph->ins[in].colour);
        const struct fly_route *route = sends ? &graph->outs[out++] : &graph->ins[in++];
        struct fly_piece piece = sends ? out_of(call, route->slot) : in_of(call, route->slot);
        if (piece.bytes == 0) continue;
        if (current >= 0 && route->colour / colours != current) fly_round(s);
        current = route->colour / colours;
        if (shaped && sends)
            piece = fly_shape_out(s, &outs[route->slot], piece.at, false);
        else if (shaped && packed != NULL)
            piece = packed[route->slot] = fly_shape_in(s, &ins[route->slot], piece.at);
        if (sends)
            fly_send_to(s, route->peer, route->tag, piece.at, piece.bytes);
        else
            fly_receive_from(s, route->peer, route->tag, piece.at, piece.bytes);
    }
    if (packed == NULL || current < 0) return;
    fly_round(s);
    for (size_t i = selfs; i < graph->in_count; i++) {
        int slot = graph->ins[i].slot;
        fly_shape_back(s, &packed[slot], &ins[slot], in_of(call, slot).at);
    }
}

/* Uses the arguments of the call, not the schedule that was built of them, so as to check it. */
char *fly_edges_text(const struct fly_call *call) {
    const struct fly_graph *graph = call->graph;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (file == NULL) return NULL;
    for (int in = 0; in < 2; in++) {
        size_t count = in ? graph->in_count : graph->out_count;
        const unsigned char *base = in ? call->key.receive : call->key.send;
        for (size_t i = 0; i < count; i++) {
            struct fly_piece piece = in ? in_of(call, (int)i) : out_of(call, (int)i);
            fly_shape shape = {1, piece.bytes, 0};
            if (has_shapes(call))
                shape = fly_shapes_of(call->arrays[in ? RECEIVE_BYTES : SEND_BYTES])[i];
            fprintf(file, "%s %d %zu %zu %zu %td\n", in ? "source" : "target",
                    in ? graph->sources[i] : graph->targets[i], (size_t)(piece.at - base),
                    shape.blocks, shape.block_bytes, shape.stride_bytes);
        }
    }
    return fclose(file) == 0 ? text : NULL;
}

static int open_up(struct fly_call *call, const char *name, const struct fly_graph *graph,
                   int operation, const void *send) {
    if (graph == NULL) return fly_fail(FLY_ERR_ARG, "%s: graph is NULL", name);
    if (graph->coll == NULL) return fly_fail(FLY_ERR_STATE, "%s: graph: its team is gone", name);
    int code = fly_call_open(call, name, graph->coll->team, operation, build);
    if (code == FLY_OK && send == FLY_IN_PLACE)
        code = fly_fail(FLY_ERR_ARG, "%s: send: FLY_IN_PLACE is not for it", name);
    call->graph = graph;
    call->parts = graph->degree;
    call->key.root = graph->number;
    return code;
}

/* Checks a rank's edges to itself: their sizes must be equal at both ends. */
static int own(const struct fly_call *call, const struct fly_graph *graph) {
    for (int i = 0; i < graph->selfs; i++) {
        int out = graph->outs[i].slot, in = graph->ins[i].slot;
        struct fly_piece from = out_of(call, out), to = in_of(call, in);
        if (from.bytes == to.bytes) continue;
        return fly_fail(FLY_ERR_ARG, "%s: receive_%s[%d]: %zu bytes from itself, which sends %zu",
                        call->name, has_shapes(call) ? "shapes" : "bytes", in, to.bytes,
                        from.bytes);
    }
    return FLY_OK;
}

/* Fills in a call with a block for each source, and one for each target unless `send_bytes` is
   NULL. */
static int lists(struct fly_call *call, const size_t *send_bytes, const size_t *send_at,
                 const size_t *receive_bytes, const size_t *receive_at) {
    const size_t *arrays[] = {send_bytes, send_at, receive_bytes, receive_at};
    for (int i = call->key.operation == FLY_C_NEIGHBOUR_ALLTOALLV ? 0 : 2; i < 4; i++) {
        call->arrays[i] = arrays[i];
        call->lengths[i] = i < 2 ? call->graph->out_count : call->graph->in_count;
    }
    int code = own(call, call->graph);
    if (code == FLY_OK) fly_call_choose(call, 0); /* all ranks must choose alike, so no sizes */
    return code;
}

static int ask_allgather(struct fly_call *call, const char *name, fly_graph *graph,
                         const void *send, void *receive, size_t bytes) {
    size_t all = 0;
    int code = open_up(call, name, graph, FLY_C_NEIGHBOUR_ALLGATHER, send);
    if (code == FLY_OK) code = fly_call_times(call, "bytes", graph->in_count, bytes, &all);
    if (code == FLY_OK)
        code = fly_call_apart(call, send, graph->out_count == 0 ? 0 : bytes, receive, all);
    return code != FLY_OK ? code : fly_call_about(call, send, receive, bytes);
}

static int ask_alltoall(struct fly_call *call, const char *name, fly_graph *graph,
                        const void *send, void *receive, size_t bytes) {
    size_t in = 0, out = 0;
    int code = open_up(call, name, graph, FLY_C_NEIGHBOUR_ALLTOALL, send);
    if (code == FLY_OK) code = fly_call_times(call, "bytes", graph->in_count, bytes, &in);
    if (code == FLY_OK) code = fly_call_times(call, "bytes", graph->out_count, bytes, &out);
    if (code == FLY_OK) code = fly_call_apart(call, send, out, receive, in);
    return code != FLY_OK ? code : fly_call_about(call, send, receive, bytes);
}

static int ask_allgatherv(struct fly_call *call, const char *name, fly_graph *graph,
                          const void *send, size_t bytes, void *receive,
                          const size_t receive_bytes[], const size_t receive_at[]) {
    size_t in = 0;
    int code = open_up(call, name, graph, FLY_C_NEIGHBOUR_ALLGATHERV, send);
    size_t count = code == FLY_OK ? graph->in_count : 0, one;
    if (code == FLY_OK) code = fly_call_times(call, "bytes", 1, bytes, &one);
    if (code == FLY_OK)
        code = fly_call_extent(call, "receive", count, receive_bytes, receive_at, &in);
    if (code == FLY_OK)
        code = fly_call_disjoint(call, "neighbour", count, receive_bytes, receive_at);
    if (code == FLY_OK)
        code = fly_call_apart(call, send, graph->out_count == 0 ? 0 : bytes, receive, in);
    if (code != FLY_OK) return code;
    call->key.send = send;
    call->key.receive = receive;
    call->key.bytes = bytes;
    return lists(call, NULL, NULL, receive_bytes, receive_at);
}

static int ask_alltoallv(struct fly_call *call, const char *name, fly_graph *graph,
                         const void *send, const size_t send_bytes[], const size_t send_at[],
                         void *receive, const size_t receive_bytes[], const size_t receive_at[]) {
    size_t in = 0, out = 0;
    int code = open_up(call, name, graph, FLY_C_NEIGHBOUR_ALLTOALLV, send);
    size_t count = code == FLY_OK ? graph->in_count : 0;
    if (code == FLY_OK)
        code = fly_call_extent(call, "receive", count, receive_bytes, receive_at, &in);
    if (code == FLY_OK)
        code = fly_call_extent(call, "send", graph->out_count, send_bytes, send_at, &out);
    if (code == FLY_OK)
        code = fly_call_disjoint(call, "neighbour", count, receive_bytes, receive_at);
    if (code == FLY_OK) code = fly_call_apart(call, send, out, receive, in);
    if (code != FLY_OK) return code;
    call->key.send = send;
    call->key.receive = receive;
    call->key.bytes = in;
    return lists(call, send_bytes, send_at, receive_bytes, receive_at);
}

static int ask_alltoallw(struct fly_call *call, const char *name, fly_graph *graph,
                         const void *send, const fly_shape send_shapes[], const size_t send_at[],
                         void *receive, const fly_shape receive_shapes[],
                         const size_t receive_at[]) {
    int code = open_up(call, name, graph, FLY_C_NEIGHBOUR_ALLTOALLW, send);
    if (code != FLY_OK) return code;
    size_t ins = graph->in_count, outs = graph->out_count;
    call->key.send = send;
    call->key.receive = receive;
    code = fly_call_shapes(call, "receive", ins, receive_shapes, receive_at);
    if (code == FLY_OK) code = fly_call_shapes(call, "send", outs, send_shapes, send_at);
    if (code == FLY_OK) code = fly_call_memory(call, ins, receive_shapes, outs, send_shapes);
    if (code == FLY_OK)
        code = fly_call_shapes_apart(call, "neighbour", ins, receive_shapes, receive_at, outs,
                                     send_shapes, send_at);
    if (code != FLY_OK) return code;
    fly_call_keep_shapes(call, outs, send_shapes, send_at, ins, receive_shapes, receive_at);
    code = own(call, graph);
    if (code == FLY_OK) fly_call_choose(call, 0); /* all ranks must choose alike, so no sizes */
    return code;
}

FLY_FORMS_ON(fly_graph *graph, graph, ask_allgather, neighbour_allgather, (send, receive, bytes),
             const void *send, void *receive, size_t bytes)
FLY_FORMS_ON(fly_graph *graph, graph, ask_alltoall, neighbour_alltoall, (send, receive, bytes),
             const void *send, void *receive, size_t bytes)
FLY_FORMS_ON(fly_graph *graph, graph, ask_allgatherv, neighbour_allgatherv,
             (send, bytes, receive, receive_bytes, receive_at), const void *send, size_t bytes,
             void *receive, const size_t receive_bytes[], const size_t receive_at[])
FLY_FORMS_ON(fly_graph *graph, graph, ask_alltoallv, neighbour_alltoallv,
             (send, send_bytes, send_at, receive, receive_bytes, receive_at), const void *send,
             const size_t send_bytes[], const size_t send_at[], void *receive,
             const size_t receive_bytes[], const size_t receive_at[])
FLY_FORMS_ON(fly_graph *graph, graph, ask_alltoallw, neighbour_alltoallw,
             (send, send_shapes, send_at, receive, receive_shapes, receive_at), const void *send,
             const fly_shape send_shapes[], const size_t send_at[], void *receive,
             const fly_shape receive_shapes[], const size_t receive_at[])
