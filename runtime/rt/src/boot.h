/* Bootstraps of the library's own. */
#ifndef FLY_BOOT_H
#define FLY_BOOT_H

#include "flyloom.h"

/* By what the environment says; ended with fly_boot_files_free. timeout_ms 0: a minute. */
int fly_boot_environment(uint32_t timeout_ms, fly_boot *boot);

#endif
