/* The transports of this build. */
#include "transport.h"

extern const struct fly_carrier_ops fly_loop, fly_msg, fly_ofi, fly_shm;

const struct fly_carrier_ops *const fly_transports[] = {
    &fly_shm,
#ifdef FLY_WITH_OFI
    &fly_ofi,
#endif
    &fly_msg,
    &fly_loop,
    NULL,
};
