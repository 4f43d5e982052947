/* The settings of a runtime, read from fly_config and the environment. */
#ifndef FLY_SETTINGS_H
#define FLY_SETTINGS_H

#include "state.h"

int fly_settings_read(const fly_config *config, struct fly_settings *settings);
/* FLYLOOM_START_TIMEOUT_MS. */
int fly_settings_start(uint32_t *start_ms);
/* Places of the transports in fly_transports, in the order of the settings, and their number. */
int fly_settings_transports(const struct fly_settings *settings, int order[FLY_CARRIERS],
                            int *count);

#endif
