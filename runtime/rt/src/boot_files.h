/* The bootstrap by files, and the gathering by any bootstrap. */
#ifndef FLY_BOOT_FILES_H
#define FLY_BOOT_FILES_H

#include "flyloom.h"

/* The bootstrap that the environment asks for; fly_boot_files_free ends it. */
int fly_boot_environment(fly_boot *boot);
/* Gathers `bytes` of every rank of a boot. The error gives the reason as far as it is known. */
int fly_boot_gather(const fly_boot *boot, const char *what, const void *mine, void *all,
                    size_t bytes);

#endif
