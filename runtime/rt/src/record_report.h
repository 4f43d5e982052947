/* Reports to the recorder of MPI programs: `flyloom record` with messages and notified access. */
#ifndef FLY_RECORD_REPORT_H
#define FLY_RECORD_REPORT_H

#include "record.h"

struct fly_reporter {
    const struct flyloom_record_hooks *hooks; /* NULL: nothing is reported */
    uint64_t runtime;
    int *ranks; /* by rank of this runtime: the rank in MPI_COMM_WORLD */
    uint64_t entered_ns;
};

/* Whether a recorder is loaded that can have what this rank does; says why where it cannot. */
bool fly_report_wanted(const struct fly_rt *rt);
/* Collective. Nothing is reported where some rank has no recorder. */
int fly_report_begin(struct fly_rt *rt, struct fly_reporter *reporter);
void fly_report_free(struct fly_reporter *reporter);
/* The program enters the library, and leaves it after these events. */
void fly_report_enter(struct fly_reporter *reporter);
void fly_report_leave(const struct fly_reporter *reporter, const struct fly_event *events,
                      uint64_t count);

/* Calls of MPI and time between the two are the library's own, also before it records. */
uint64_t fly_report_hush(void);
void fly_report_speak(uint64_t start_ns);

/* Whether the program has initialised an MPI. */
bool fly_program_has_mpi(void);

#endif
