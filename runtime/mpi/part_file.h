/* A file that is written beside its place first, so that what is there is whole or not at all: by
 * the recorder of MPI's messages, and by the runtime (its record as GOAL).
 *
 * The name of the part is one that nobody foresees, .flyloom-RANDOM-PLACE.PID.part as in the Python
 * package; PLACE is this host since its start and the PID namespace, where PID means what it does
 * here. A file or a link that has the name is not written into.
 */
#ifndef FLYLOOM_PART_FILE_H
#define FLYLOOM_PART_FILE_H

#include <stdio.h>

#include "file_limit.h"

struct part_file {
    FILE *file;
    const char *path; /* of the file: stays until the end */
    char *part;
    struct file_limit limit; /* open to end, in one thread */
};

/* 0, or errno. First removes what writers that are dead have left in the folder: those of this
   place at once, others after a day. */
int part_file_open(struct part_file *made, const char *path);
/* The part takes the file's place, unless something has failed: an errno, or 0. The same, then. */
int part_file_end(struct part_file *made, int failed);

#endif
