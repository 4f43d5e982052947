/* Bootstraps of the library's own. */
#ifndef FLY_BOOT_H
#define FLY_BOOT_H

#include "flyloom.h"

/* By what the environment says; ended with fly_boot_files_free. */
int fly_boot_environment(fly_boot *boot);

#endif
