/* Settings in the environment that are misspelt. */
#ifndef FLY_NAMES_H
#define FLY_NAMES_H

#include <stdio.h>

/* Reports each FLYLOOM_ name in the environment that nothing reads, one on a line. */
void fly_names_unknown(FILE *out);

#endif
