/* The end of the recorder: rank 0 collects what every process has counted, and writes files. */
#include "part_file.h"
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An entry of the traffic matrix. */
struct matrix_entry {
    uint32_t from, to;
    uint64_t bytes, messages;
};

enum { PIECE = 1 << 20 }; /* entries of one message */

static int by_pair(const void *a, const void *b) {
    const struct matrix_entry *one = a, *other = b;
    if (one->from != other->from) return one->from < other->from ? -1 : 1;
    return (one->to > other->to) - (one->to < other->to);
}

/* Sorts entries and adds up those of the same pair; how many are left. */
static uint64_t merged(struct matrix_entry *entries, uint64_t count) {
    if (count == 0) return 0;
    qsort(entries, count, sizeof *entries, by_pair);
    uint64_t kept = 0;
    for (uint64_t i = 1; i < count; i++) {
        if (by_pair(&entries[kept], &entries[i]) == 0) {
            entries[kept].bytes += entries[i].bytes;
            entries[kept].messages += entries[i].messages;
        } else {
            entries[++kept] = entries[i];
        }
    }
    return kept + 1;
}

/* What all threads of this process have counted; NULL where memory is short. */
static struct matrix_entry *own(int rank, uint64_t *count) {
    uint64_t most = 1, found = 0;
    for (const struct pair_table *table = rec_tables(); table != NULL; table = table->next)
        most += table->used;
    struct matrix_entry *entries = malloc(most * sizeof *entries);
    *count = 0;
    if (entries == NULL) {
        atomic_store(&rec_lost, 1);
        return NULL;
    }
    for (const struct pair_table *table = rec_tables(); table != NULL; table = table->next) {
        for (size_t i = 0; i < table->room; i++) {
            const struct pair_traffic *pair = &table->slots[i];
            if (pair->key == 0) continue;
            uint32_t peer = (uint32_t)((pair->key - 1) >> 1), me = (uint32_t)rank;
            int comes = (int)((pair->key - 1) & 1);
            entries[found++] = (struct matrix_entry){
                comes ? peer : me, comes ? me : peer, pair->bytes, pair->messages};
        }
    }
    *count = merged(entries, found);
    return entries;
}

static void cannot(const char *path, int why) {
    fprintf(stderr, "flyloom: record: %s: cannot be written: %s\n", path, file_limit_why(why));
}

static void write_file(const char *path, int size, const struct matrix_entry *entries,
                       uint64_t count, int is_messages) {
    struct part_file made;
    int failed = part_file_open(&made, path);
    uint64_t rows = 0;
    for (uint64_t i = 0; i < count; i++)
        rows += (is_messages ? entries[i].messages : entries[i].bytes) != 0;
    if (failed == 0) {
        fprintf(made.file, "%%%%MatrixMarket matrix coordinate real general\n");
        fprintf(made.file, "%% %s sent by process row-1 to process column-1%s\n",
                is_messages ? "messages" : "bytes", rec_collectives ? "" : ", no collectives");
        fprintf(made.file, "%d %d %llu\n", size, size, (unsigned long long)rows);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t value = is_messages ? entries[i].messages : entries[i].bytes;
            if (value != 0)
                fprintf(made.file, "%u %u %llu\n", entries[i].from + 1, entries[i].to + 1,
                        (unsigned long long)value);
        }
        failed = part_file_end(&made, 0);
    }
    if (failed != 0) cannot(path, failed);
}

/* Room at rank 0 for the entries of all, its own first; NULL where memory is short. */
static struct matrix_entry *room_for_all(struct matrix_entry *entries, const uint64_t *counts,
                                         int size) {
    uint64_t all = 1;
    for (int i = 0; i < size; i++) all += counts[i];
    return realloc(entries, all * sizeof *entries);
}

static void receive(MPI_Comm comm, struct matrix_entry *into, uint64_t count, int from) {
    for (uint64_t at = 0; at < count; at += PIECE) {
        uint64_t left = count - at, now = left < PIECE ? left : PIECE;
        PMPI_Recv(into + at, (int)(now * sizeof *into), MPI_BYTE, from, 0, comm,
                  MPI_STATUS_IGNORE);
    }
}

static void send(MPI_Comm comm, const struct matrix_entry *from, uint64_t count) {
    for (uint64_t at = 0; at < count; at += PIECE) {
        uint64_t left = count - at, now = left < PIECE ? left : PIECE;
        PMPI_Send(from + at, (int)(now * sizeof *from), MPI_BYTE, 0, 0, comm);
    }
}

/* Is called in every process, before the end of MPI. */
void rec_write(const char *path, const char *messages_path) {
    const char *first = path != NULL ? path : messages_path;
    MPI_Comm comm = MPI_COMM_NULL; /* separate, since the program may have messages pending */
    if (PMPI_Comm_create(MPI_COMM_WORLD, rec_world, &comm) != MPI_SUCCESS) return;
    int rank = 0, size = 1, is_room = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    uint64_t count = 0, *counts = NULL;
    struct matrix_entry *entries = own(rank, &count), *all = NULL;
    int mine[2] = {atomic_load(&rec_lost), atomic_load(&rec_outside)}, found[2] = {0, 0};
    PMPI_Reduce(mine, found, 2, MPI_INT, MPI_MAX, 0, comm);
    if (rank == 0) is_room = (counts = calloc((size_t)size, sizeof *counts)) != NULL;
    PMPI_Bcast(&is_room, 1, MPI_INT, 0, comm);
    if (is_room) {
        PMPI_Gather(&count, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, 0, comm);
        if (rank == 0 && (all = room_for_all(entries, counts, size)) != NULL) entries = all;
        if (rank == 0) is_room = all != NULL;
        PMPI_Bcast(&is_room, 1, MPI_INT, 0, comm);
    }
    if (is_room && rank != 0) send(comm, entries, count);
    if (is_room && rank == 0) {
        for (int i = 1; i < size; i++) {
            receive(comm, entries + count, counts[i], i);
            count += counts[i];
        }
        count = merged(entries, count);
        if (path != NULL) write_file(path, size, entries, count, 0);
        if (messages_path != NULL) write_file(messages_path, size, entries, count, 1);
    } else if (rank == 0) {
        cannot(first, ENOMEM);
    }
    if (rank == 0 && found[0])
        fprintf(stderr, "flyloom: record: memory was short: %s has too little\n", first);
    if (rank == 0 && found[1])
        fprintf(stderr, "flyloom: record: %s lacks what went to processes of MPI_Comm_spawn\n",
                first);
    free(counts);
    free(entries);
    PMPI_Comm_free(&comm);
}
