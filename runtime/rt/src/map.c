/* fly_map: asks the core of flyloom which process should have which rank on the network. */
#include <stdlib.h>

#include "../../mpi/map_ask.h"
#include "error.h"

static int check(int processes, const char *hosts, size_t host_bytes, size_t count,
                 const int edges[], const int ranks[]) {
    static const char CALL[] = "fly_map";
    if (processes < 1 || hosts == NULL || host_bytes == 0 || ranks == NULL ||
        (count != 0 && edges == NULL))
        return fly_fail(FLY_ERR_ARG, "%s: %s", CALL,
                        processes < 1 ? "processes must be 1 or more"
                        : ranks == NULL ? "ranks is NULL"
                        : hosts == NULL || host_bytes == 0 ? "hosts is NULL" : "edges is NULL");
    for (size_t i = 0; i < count; i++) {
        const int *edge = &edges[3 * i];
        for (int end = 0; end < 2; end++)
            if (edge[end] < 0 || edge[end] >= processes)
                return fly_fail(FLY_ERR_RANK, "%s: edges[%zu]: %d must be 0 to %d", CALL, i,
                                edge[end], processes - 1);
        if (edge[2] < 0)
            return fly_fail(FLY_ERR_ARG, "%s: edges[%zu]: a weight of %d must be 0 or more", CALL,
                            i, edge[2]);
    }
    return FLY_OK;
}

int fly_map(int processes, const char *hosts, size_t host_bytes, size_t count, const int edges[],
            int ranks[]) {
    char said[400] = "";
    int code = check(processes, hosts, host_bytes, count, edges, ranks);
    if (code != FLY_OK) return code;
    struct mapping_request asked = {edges, count, hosts, host_bytes, processes};
    if (!map_can(said, sizeof said)) return fly_fail(FLY_ERR_UNSUPPORTED, "fly_map: %s", said);
    int moved = map_ask(&asked, ranks, said, sizeof said);
    if (moved < 0) return fly_fail(FLY_ERR_ARG, "fly_map: %s", said);
    for (int r = 0; moved == 0 && r < processes; r++) ranks[r] = r;
    return FLY_OK;
}
