/* Whether broadcasts go by multicast: FLYLOOM_MULTICAST=1, or a group's address, asks for it. */
#include <stdio.h>
#include <stdlib.h>

#include "flyloom_coll.h"

static void check(const char *call, int code) {
    if (code == FLY_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, fly_strerror(code), fly_last_error(NULL));
    exit(1);
}

int main(void) {
    fly_rt *rt;
    fly_multicast facts;
    int rank, table[1000] = {0};
    check("init", fly_init(NULL, NULL, &rt));
    check("team_self", fly_team_self(fly_world(rt), &rank, NULL));
    if (rank == 0) table[999] = 7;
    check("bcast", fly_bcast(fly_world(rt), table, sizeof table, 0));
    check("multicast_query", fly_multicast_query(fly_world(rt), &facts));
    printf("rank %d has %d; multicast %s: %s\n", rank, table[999], facts.open ? "open" : "not open",
           facts.text);
    check("finalize", fly_finalize(&rt));
    return 0;
}
