/* A clock for programs that measure: preloaded, it gives the program itself, and no library, times
 * of which each is later than the one before it by the next of STEPS_NS, over and over. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The next of the steps, in turns. */
static long step(void) {
    static const char *at;
    char *rest;
    if (at == NULL || *at == 0) at = getenv("STEPS_NS");
    if (at == NULL) return 0;
    long ns = strtol(at, &rest, 10);
    at = *rest == ',' ? rest + 1 : rest;
    return ns;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static long now_ns;
    Dl_info caller, program;
    void *headers = (void *)getauxval(AT_PHDR);
    if (!dladdr(__builtin_return_address(0), &caller) || !dladdr(headers, &program) ||
        caller.dli_fbase != program.dli_fbase)
        return (int)syscall(SYS_clock_gettime, clock, time);
    now_ns += step();
    *time = (struct timespec){now_ns / 1000000000, now_ns % 1000000000};
    return 0;
}
