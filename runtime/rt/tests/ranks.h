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
/* No test rests on the speed of the machine: what has not ended after so long hangs. A rank that
   looks again and again for what must come gives up earlier, and says what it was. */
enum { HANG_S = 300, VAIN_S = 200 };

/* Forked processes, with the bootstrap by files in a new folder; killed after HANG_S. With
   FLYLOOM_TEST_NODES=NAME[,NAME...] each is in one of these network namespaces, in turn; with
   FLYLOOM_TEST_PLACES=PLACE[,PLACE...] it has one of these as its FLYLOOM_MULTICAST. */
int run_processes(int ranks, rank_body *body, void *context);

/* Likewise, and one of them is killed (SIGKILL) after so many microseconds. */
int run_and_kill(int ranks, rank_body *body, void *context, int victim, unsigned microseconds);

/* Likewise, after all ranks have said that they have begun: where a death in fly_init is for other
   tests. */
void rank_has_begun(void);
int run_and_kill_begun(int ranks, rank_body *body, void *context, int victim,
                       unsigned microseconds);
/* Seconds of a clock that never goes back. */
double now_s(void);

/* A gathering of the threads `members` (ranks of the whole) among themselves, for a team. */
typedef struct gathering gathering;
gathering *gathering_new(int size);
void gathering_end(gathering *g);
fly_boot gathering_boot(gathering *g, int rank);

#endif
