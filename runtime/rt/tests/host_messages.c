/* Messages of an MPI as the transport "msg" uses them: of all lengths, each rank to each, in order.
 *
 *   mpiexec -n P host_messages COUNT
 */
#include "flyloom_mpi.h"

#include "check.h"

enum { RANKS_MOST = 8, ROOM = 1 << 20 };

static const size_t LENGTHS[] = {8, 64, 1, 8192, 0, 8193, 7, 9, 100000, 8191, 56, ROOM};

static size_t length_of(int from, int to, int n) {
    uint64_t dice = (uint64_t)(from * 1000003 + to * 1009 + n);
    return LENGTHS[below(&dice, sizeof LENGTHS / sizeof LENGTHS[0])];
}

static unsigned char byte_of(int from, int n, size_t i) {
    return (unsigned char)(from * 31 + n * 7 + (int)(i % 251));
}

struct sending {
    void *handle;
    unsigned char *data;
};

static void send_one(const fly_boot *boot, struct sending *sending, int to, int n) {
    size_t bytes = length_of(boot->rank, to, n);
    sending->data = malloc(bytes + 1);
    CHECK(sending->data != NULL, "no memory");
    for (size_t i = 0; i < bytes; i++) sending->data[i] = byte_of(boot->rank, n, i);
    CHECK(boot->msg->isend(boot->ctx, to, sending->data, bytes, &sending->handle) == 0, "isend");
}

/* Receives the messages that have come; returns how many. */
static int take(const fly_boot *boot, unsigned char *room, int next[RANKS_MOST]) {
    int peer, taken = 0;
    size_t bytes;
    void *message;
    for (;;) {
        CHECK(boot->msg->probe(boot->ctx, &peer, &bytes, &message) == 0, "probe");
        if (peer < 0) return taken;
        int n = next[peer]++;
        CHECK(bytes == length_of(peer, boot->rank, n), "message %d of rank %d has %zu bytes", n,
              peer, bytes);
        CHECK(boot->msg->receive(boot->ctx, &message, room, bytes) == 0, "receive");
        for (size_t i = 0; i < bytes; i++)
            CHECK(room[i] == byte_of(peer, n, i), "message %d of rank %d, byte %zu", n, peer, i);
        taken++;
    }
}

int main(int count, char **words) {
    fly_boot boot;
    int next[RANKS_MOST] = {0}, taken = 0, sent = 0, ended = 0;
    MPI_Init(&count, &words);
    int messages = (int)argument(count, words, 1, 50);
    CHECK(fly_mpi_boot(MPI_COMM_WORLD, &boot) == FLY_OK, "boot");
    CHECK(boot.size <= RANKS_MOST, "at most %d ranks", RANKS_MOST);
    int all = messages * boot.size;
    unsigned char *room = malloc(ROOM);
    struct sending *sendings = calloc((size_t)all, sizeof *sendings);
    CHECK(room != NULL && sendings != NULL, "no memory");
    while (taken < all || ended < all) {
        if (sent < all) {
            send_one(&boot, &sendings[sent], sent % boot.size, sent / boot.size);
            sent++;
        }
        for (int done = 1; ended < sent && done;) { /* the oldest first, as the transport does */
            CHECK(boot.msg->test(boot.ctx, &sendings[ended].handle, &done) == 0, "test");
            if (done) free(sendings[ended++].data);
        }
        taken += take(&boot, room, next);
    }
    for (int peer = 0; peer < boot.size; peer++)
        CHECK(next[peer] == messages, "%d messages of rank %d", next[peer], peer);
    free(room);
    free(sendings);
    fly_mpi_boot_free(&boot);
    if (boot.rank == 0) printf("host_messages: %d to each of %d ranks\n", messages, boot.size);
    MPI_Finalize();
    return 0;
}
