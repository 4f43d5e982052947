/* The processors that a process may use, and how many ranks of a node share one. */
#ifndef FLY_PROCESSORS_H
#define FLY_PROCESSORS_H

#include <stdint.h>

/* The processors that a process may use. The kernel applies two limits: a set of processors
   (sched_setaffinity, taskset, cpusets, launchers that bind) and, for a control group as a whole,
   as much processor time as `quota` processors have (docker --cpus, Kubernetes, Slurm). */
struct fly_processors {
    uint64_t set[16];      /* a bit for each processor; all zero where it is not known */
    uint32_t quota;        /* whole processors whose time the group may use; 0: no limit */
    uint32_t reserved;
    uint64_t group;        /* the control group that has the quota: its inode */
};

/* Reads the limits of this process. `groups` is where control groups are mounted, /sys/fs/cgroup,
   and `own` the file that lists the process's groups, /proc/self/cgroup. What cannot be read counts
   as no limit. */
void fly_processors_read(const char *groups, const char *own, struct fly_processors *found);

/* The number of ranks that share the most contended processor, by sets and quotas; at least 1. `of`
   has the processors of the `count` ranks of a node. */
int fly_processors_crowd(const struct fly_processors *of, int count);

#endif
