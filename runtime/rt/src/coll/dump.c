/* Dumps what ran for an independent checker: FLYLOOM_COLL_DUMP=PREFIX writes PREFIX.RANK.
 *
 * A line is a word and numbers: "run OPERATION ALGORITHM NUMBER RANK SIZE ROOT BYTES SEND RECEIVE";
 * for neighbours, "target PEER AT BLOCKS BYTES STRIDE" and "source ..." for each, in the order of
 * the lists, AT counted from the start of what is sent or received; then for each round "round",
 * "copy TO FROM BYTES", "fold TO FROM BYTES left|right", "send PEER TAG FROM BYTES", "receive PEER
 * TAG TO BYTES", "take PEER TAG TO BYTES left|right"; then "done". Memory is written as its
 * address, and a broadcast by multicast as a message from its root to each rank.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "../../../mpi/file_limit.h"
#include "coll.h"
#include "remote.h"

static const char *side(enum fly_take take) { return take == FLY_TAKE_LEFT ? "left" : "right"; }

struct copy {
    FILE *file;
    char *to, *from;
};

static int dump_run(void *context, ptrdiff_t to, ptrdiff_t from, size_t bytes) {
    const struct copy *copy = context;
    fprintf(copy->file, "copy %p %p %zu\n", (void *)(copy->to + to), (void *)(copy->from + from),
            bytes);
    return FLY_OK;
}

static void dump_round(FILE *file, const struct fly_sched *s, const struct fly_span *span) {
    fprintf(file, "round\n");
    for (size_t i = span[0].local; i < span[1].local; i++) {
        const struct fly_local_work *l = &s->locals[i];
        struct copy copy = {file, l->to, l->from};
        if (l->take == FLY_TAKE_SHAPED)
            fly_each_run(&s->shapeds[l->bytes].to, &s->shapeds[l->bytes].from, dump_run, &copy);
        else if (l->take == FLY_TAKE_COPY)
            fprintf(file, "copy %p %p %zu\n", l->to, l->from, l->bytes);
        else
            fprintf(file, "fold %p %p %zu %s\n", l->to, l->from, l->bytes, side(l->take));
    }
    for (size_t i = span[0].receiving; i < span[1].receiving; i++) { /* folded into a copy */
        const struct fly_receiving *r = &s->receivings[i];
        if (r->own != NULL)
            fprintf(file, "copy %p %p %zu\n", (void *)r->to, (const void *)r->own, r->bytes);
    }
    for (size_t i = span[0].sending; i < span[1].sending; i++) {
        const struct fly_sending *out = &s->sendings[i];
        fprintf(file, "send %d %d %p %zu\n", out->peer, out->tag, (const void *)out->from,
                out->bytes);
    }
    for (size_t i = span[0].receiving; i < span[1].receiving; i++) {
        const struct fly_receiving *r = &s->receivings[i];
        if (r->take == FLY_TAKE_COPY)
            fprintf(file, "receive %d %d %p %zu\n", r->peer, r->tag, (void *)r->to, r->bytes);
        else
            fprintf(file, "take %d %d %p %zu %s\n", r->peer, r->tag, (void *)r->to, r->bytes,
                    side(r->take));
    }
}

static void dump_multicast(FILE *file, const struct fly_sched *s) {
    const struct fly_team *team = s->coll->team;
    fprintf(file, "round\n");
    if (team->rank != s->key.root)
        fprintf(file, "receive %d 0 %p %zu\n", s->key.root, s->key.receive, s->key.bytes);
    for (int r = 0; r < team->size && team->rank == s->key.root; r++)
        if (r != team->rank) fprintf(file, "send %d 0 %p %zu\n", r, s->key.receive, s->key.bytes);
}

void fly_dump(const struct fly_sched *s) {
    const struct fly_coll *coll = s->coll;
    const struct fly_operation_table *table = &fly_operations[s->key.operation];
    char path[sizeof coll->settings.dump + 16];
    if (table->name == NULL) return;
    snprintf(path, sizeof path, "%s.%d", coll->settings.dump, coll->team->rank);
    int opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    struct file_limit limit;
    FILE *file = opened < 0 ? NULL : fdopen(opened, "a");
    if (file == NULL) {
        if (opened >= 0) close(opened);
        return;
    }
    file_limit_begin(&limit);
    fprintf(file, "run %s %s %" PRIu64 " %d %d %d %zu %p %p\n", table->name,
            table->algorithms[s->key.algorithm].name, s->number, coll->team->rank,
            coll->team->size, s->key.root, s->key.bytes, s->key.send, s->key.receive);
    if (s->casting != NULL) dump_multicast(file, s);
    if (s->described != NULL) fprintf(file, "%s", s->described);
    for (size_t round = 0; round < s->round_count; round++)
        dump_round(file, s, &s->rounds[round]);
    fprintf(file, "done\n");
    fclose(file);
    file_limit_end(&limit);
}
