/* A file that is written beside its place first, so that it is there whole or not at all. Used by
 * the recorder of MPI's messages, and by the runtime for its record as GOAL.
 *
 * The name of the part cannot be foreseen: .flyloom-RANDOM-PLACE.PID.part, as in the Python
 * package; PLACE is this host since its start and the PID namespace, in which PID is valid. If a
 * file or link of that name exists, it is not written into.
 */
#ifndef FLYLOOM_PART_FILE_H
#define FLYLOOM_PART_FILE_H

#include <stdio.h>

#include "file_limit.h"

/* A file under construction, beside the place that it moves to at the end. */
struct part_file {
    FILE *file;
    const char *path; /* the file's path: must stay valid until the end */
    char *part;
    struct file_limit limit; /* open to end, in one thread */
};

/* Opens a part; 0, or errno. First removes what dead writers have left in the folder: parts of this
   place at once, others after a day. */
int part_file_open(struct part_file *made, const char *path);
/* Moves the part into place, unless something has failed; returns that errno, or 0. */
int part_file_end(struct part_file *made, int failed);

#endif
