/* The words of the locks: fields and steps. Plain definitions: the Spin models include them too.
 *
 * Word of a target: X, a process holds it exclusively; READER, how many hold it shared or wait for
 * X to go; SERVED and NEXT, the queue of writers that found it taken: a writer's ticket is the NEXT
 * that it found, and its turn is when SERVED equals the ticket. Nobody has the lock where X and
 * READER are 0 and the queue is empty.
 *
 * Word of the master (rank 0 of the window): WRITER, processes that hold exclusive locks or ask
 * for one; WRITER_WAITS, those that yielded to lock_all; ALL, processes with lock_all; PHASE, how
 * often a writer that had yielded came back.
 */
#ifndef FLY_LOCK_WORDS_H
#define FLY_LOCK_WORDS_H

#define FLY_LOCK_X_SHIFT 0
#define FLY_LOCK_READER_SHIFT 1
#define FLY_LOCK_READER_BITS 31
#define FLY_LOCK_SERVED_SHIFT 32
#define FLY_LOCK_NEXT_SHIFT 48
#define FLY_LOCK_LINE_BITS 16

#define FLY_MASTER_WRITER_SHIFT 0
#define FLY_MASTER_WRITER_BITS 16
#define FLY_MASTER_WAITS_SHIFT 16
#define FLY_MASTER_WAITS_BITS 16
#define FLY_MASTER_ALL_SHIFT 32
#define FLY_MASTER_ALL_BITS 24
#define FLY_MASTER_PHASE_SHIFT 56
#define FLY_MASTER_PHASE_BITS 8

#endif
