/* Runs a function as several ranks: threads of this process, or processes with the file bootstrap.
 */
#ifndef FLY_TEST_RANKS_H
#define FLY_TEST_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "flyloom.h"

/* A rank's part; returns 0, or says what was wrong and returns another number. */
typedef int rank_body(const fly_boot *boot, void *context);

/* Room for the path of a folder of new_folder. */
enum { FOLDER_BYTES = 512 };

/* Makes a folder in TMPDIR, or in /tmp; false where that cannot be. */
bool new_folder(char path[FOLDER_BYTES]);

/* Threads of this process; the first result that is not 0. */
int run_threads(int ranks, rank_body *body, void *context);
/* No test depends on the speed of the machine: a test that has not ended after HANG_S hangs. A rank
   that polls for something gives up after VAIN_S, and reports what it waited for. */
enum { HANG_S = 300, VAIN_S = 200 };

/* Forked processes, with the bootstrap by files in a new folder; killed after HANG_S. With
   FLYLOOM_TEST_NODES=NAME[,NAME...] each is in one of these network namespaces, in turn; with
   FLYLOOM_TEST_PLACES=PLACE[,PLACE...] it has one of these as its FLYLOOM_MULTICAST. */
int run_processes(int ranks, rank_body *body, void *context);

/* As run_processes, and the victim is killed (SIGKILL) after this number of microseconds. */
int run_and_kill(int ranks, rank_body *body, void *context, int victim, unsigned microseconds);

/* Reports that a rank has begun; run_and_kill kills only after all have. Deaths in fly_init are for
   other tests. */
void rank_has_begun(void);
int run_and_kill_begun(int ranks, rank_body *body, void *context, int victim,
                       unsigned microseconds);
/* Seconds of a monotonic clock. */
double now_s(void);

/* A gathering of the threads `members` (ranks of the whole) among themselves, for a team. */
typedef struct gathering gathering;
gathering *gathering_new(int size);
void gathering_end(gathering *g);
fly_boot gathering_boot(gathering *g, int rank);

#endif
