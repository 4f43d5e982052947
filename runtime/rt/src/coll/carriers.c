/* Chooses the carrier of datagrams by the place: "ud:" is InfiniBand's, everything else UDP. */
#include <stdio.h>
#include <string.h>

#include "datagram.h"

/* NULL: this library was built without that carrier. */
static const struct fly_datagram_ops *carrier_of(const char **where) {
    if (strncmp(*where, "ud:", 3) != 0) return &fly_udp;
    *where += 3;
#ifdef FLY_WITH_UD
    return &fly_ud;
#else
    return NULL;
#endif
}

bool fly_datagrams_valid(const char *where, char *why, size_t room) {
    const struct fly_datagram_ops *carrier = carrier_of(&where);
    if ((carrier != NULL ? carrier : &fly_udp)->valid(where, why, room)) return true;
    size_t used = strlen(why);
    snprintf(why + used, room - used, "; behind ud: for InfiniBand's datagrams");
    return false;
}

struct fly_datagrams *fly_datagrams_open(const char *where, uint64_t *token, char *why,
                                         size_t room) {
    const struct fly_datagram_ops *carrier = carrier_of(&where);
    if (carrier != NULL) return carrier->open(where, token, why, room);
    snprintf(why, room, "ud: the library was built without librdmacm");
    return NULL;
}
