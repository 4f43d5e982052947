/* tables.h: reads the "flyloom-tables 1" file: LFTs, path SLs and SL2VL tables of a fabric.
 *
 * Knows nothing of OpenSM. docs/opensm.md defines the format; two more programs read the very same
 * language (crates/formats/src/ib/table_file.rs, python/flyloom/certificate_check.py).
 */
#ifndef FLYLOOM_TABLES_H
#define FLYLOOM_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLT_LID_MAX 0xBFFFu    /* highest unicast LID */
#define FLT_NO_ROUTE 0xFFu     /* flt_port: the table has no route */
#define FLT_NO_SL 0xFFu        /* no SL: 0..15 are */
#define FLT_NO_SWITCH (-1)     /* flt_find: not in the file; flt_sl2vl: the port of an endpoint */

/* An immutable, loaded table file. */
struct flt;

/* Reads the file at `path`. Returns 0 and sets *out (free with flt_free), or returns -1 and writes
 * "FILE:LINE: what is wrong, what is valid" to err. Time is linear in the file's size but for a
 * sort of the sl2vl lines; memory about two bytes for each (switch, LID). */
int flt_load(const char *path, struct flt **out, char *err, size_t err_size);

/* As flt_load, from `len` bytes of text (no terminating zero needed); `name` stands for FILE. */
int flt_parse(const char *name, const char *text, size_t len, struct flt **out, char *err,
	      size_t err_size);

/* Frees a loaded table; NULL is fine. */
void flt_free(struct flt *t);

/* LID mask control, 0..7: an endpoint's port has 2^LMC LIDs. */
unsigned flt_lmc(const struct flt *t);

/* Number of switches; they are numbered 0.. in the order of their first mention. */
size_t flt_switches(const struct flt *t);

/* GUID (host order) of switch `sw`. */
uint64_t flt_guid(const struct flt *t, int sw);

/* Number of the switch with this GUID (host order), or FLT_NO_SWITCH. O(1) expected. */
int flt_find(const struct flt *t, uint64_t guid);

/* Out-port at switch `sw` towards `lid`, or FLT_NO_ROUTE. O(1); any lid is fine. */
uint8_t flt_port(const struct flt *t, int sw, unsigned lid);

/* SL of paths from LID `source`, of an endpoint at switch `sw`, to `lid`. O(1); any numbers are
 * fine, also of what the file does not have. */
uint8_t flt_sl(const struct flt *t, int sw, unsigned source, unsigned lid);

/* Whether the file has levels of paths from this LID, the first of an endpoint's port. */
bool flt_has_source(const struct flt *t, unsigned source);

/* Bit i is set when some path may have SL i. */
unsigned flt_sls_used(const struct flt *t);

/* The SL2VL table of switch `sw` from port `in` to port `out`, two VLs a byte, the even SL in the
 * high half, as on the wire. With FLT_NO_SWITCH: the table of an endpoint's port, that of
 * `sl2vl * * *`. O(log lines). */
void flt_sl2vl(const struct flt *t, int sw, unsigned in, unsigned out, uint8_t vl[8]);

#endif
