/* Measurements between rank 0 and rank 1 of a team; each prints its row at rank 0. */
#ifndef FLY_PERF_H
#define FLY_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "flyloom.h"

/* Ends the program where a call of the library fails. */
#define CHECKED(call)                                                                     \
    do {                                                                                  \
        int code_ = (call);                                                               \
        if (code_ != FLY_OK) {                                                            \
            fprintf(stderr, "flyloom-perf: %d: %s\n", code_, fly_last_error(NULL));       \
            exit(3);                                                                      \
        }                                                                                 \
    } while (0)

/* PERF_DATA: where data lies in the window, behind the slots of the ring. */
enum { PERF_DATA = 4096 };

struct perf_method;

struct perf {
    fly_rt *rt;
    fly_win *win;
    int rank;
    unsigned char *base, *other; /* own memory; the other's for loads and stores, or NULL */
    size_t bytes_most;
    uint64_t repetitions;
    bool json, first;
    const struct perf_method *raw; /* the reference, or NULL; perf_open gives the ring */
    uint64_t raw_numbers;       /* the last number used in the slots of the raw ring */
};

/* A method of sending back and forth: `send` sends number n and `wait` waits for it. */
struct perf_method {
    const char *name;
    void (*send)(struct perf *p, uint64_t n, size_t bytes);
    void (*wait)(struct perf *p, uint64_t n, size_t bytes);
    uint64_t sent, got;
};

struct perf_times {
    double median_ns, p99_ns;
};

/* Measures half round trips of all methods in turn, in blocks, so that load disturbs them alike. */
void perf_latency(struct perf *p, struct perf_method *methods, int count, size_t bytes,
                  struct perf_times *times);
extern const struct perf_method perf_raw, perf_notified;
/* Makes a TCP connection between the two ranks, through the library: collective; NULL: it
   failed. */
const struct perf_method *perf_sockets(struct perf *p);

/* Processors that this process may use. */
int perf_processors(void);
/* Puts a rank on a processor of its own; false: there is none. */
bool perf_apart(int rank);
int perf_open(const fly_boot *boot, const char *transports, struct perf *p);
int perf_close(struct perf *p);
/* Prints a row: what was measured, bytes, and times; `raw` is the reference's time, or 0. */
void perf_row(struct perf *p, const char *what, size_t bytes, const struct perf_times *times,
              double raw_ns);
/* Latency of 8 bytes that the sender writes each time and the receiver reads, in shared memory. */
void perf_used(struct perf *p);
/* Latency of 8 bytes with `requests` requests of any source posted for other tags, and with
   `notifications` that nobody takes; they stay until perf_close. */
void perf_posted(struct perf *p, int requests);
void perf_unmatched(struct perf *p, int notifications);
void perf_rate(struct perf *p, size_t bytes);
/* Prints the times that LogGP parameters are found from, for sizes up to `most`, as JSON. */
void perf_loggp(struct perf *p, size_t most);
double perf_now_ns(void);
/* Sorts in ascending order. */
void perf_sort(double *values, size_t count);
/* The body of a started process; returns its exit code. */
typedef int perf_body(const fly_boot *boot, void *context);
/* Starts `ranks` processes and waits for them; each is killed after limit_s. Returns the largest
   exit code, or 3 where one was killed. */
int perf_start(const char *program, int ranks, unsigned limit_s, perf_body *body, void *context);
/* Zeroed memory that is shared with processes started later; NULL: an error was printed. */
void *perf_shared(const char *program, size_t bytes);
void perf_bandwidth(struct perf *p, size_t bytes);

#endif
