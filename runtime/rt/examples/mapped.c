/* Finds which process should have which rank on the network that FLYLOOM_NETWORK names. */
#include <stdio.h>

#include "flyloom.h"

int main(void) {
    enum { PROCESSES = 4, HOST_BYTES = 8 };
    /* Processes 0 and 2 exchange much data, and so do 1 and 3; but 0 shares a host with 1. */
    static const char hosts[PROCESSES][HOST_BYTES] = {"a", "a", "b", "b"};
    static const int edges[] = {0, 2, 100, 2, 0, 100, 1, 3, 100, 3, 1, 100, 0, 1, 1};
    int ranks[PROCESSES];
    int code = fly_map(PROCESSES, hosts[0], HOST_BYTES, 5, edges, ranks);
    if (code == FLY_ERR_UNSUPPORTED) {
        printf("ranks stay as they are: there is no network, or nobody who maps to it\n");
        return 0;
    }
    if (code != FLY_OK) {
        fprintf(stderr, "map: %s\n", fly_last_error(NULL));
        return 1;
    }
    for (int p = 0; p < PROCESSES; p++) printf("process %d has rank %d\n", p, ranks[p]);
    return 0;
}
