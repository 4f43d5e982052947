/* tables_store.h: how tables.c keeps what it read; private to tables.c and tables_store.c. */
#ifndef FLYLOOM_TABLES_STORE_H
#define FLYLOOM_TABLES_STORE_H

#include "tables.h"

#define FLT_WILD 256u                /* `*` as a port */
#define FLT_SWITCHES_MAX FLT_LID_MAX /* every switch needs a LID */
#define FLT_NO_MEMORY (-2)
#define FLT_FULL (-3)

struct flt_switch {
	uint64_t guid;
	unsigned cap;         /* LIDs 0..cap-1 have room in the arrays below */
	uint8_t *port;        /* by LID */
	uint8_t *sl;          /* by LID */
	uint8_t *given;       /* bitmap by LID: an lft line has it */
	unsigned long line;   /* of the first mention */
	bool has_lft;
};

struct flt_row {
	uint64_t key;         /* scope, in, out */
	uint32_t seq;         /* later wins */
	uint8_t vl[8];
};

struct flt {
	struct flt_switch *sw;
	size_t sw_count, sw_cap;
	int32_t *slot;        /* open addressing, guid -> switch, -1 free */
	size_t slots;         /* a power of two */
	struct flt_row *rows;     /* sorted by key, one a key, once loaded */
	size_t row_count, row_cap;
	int lmc;              /* -1: not seen yet */
	int sl_default;       /* -1: none */
	unsigned sls_used;
};

/* The number of the switch with this guid, made when new with `line` as its first mention, or
 * FLT_NO_MEMORY or FLT_FULL. */
int flt_intern(struct flt *t, uint64_t guid, unsigned long line);

/* Makes room for LIDs up to and with `lid` (at most FLT_LID_MAX): 0 or FLT_NO_MEMORY. */
int flt_reserve(struct flt_switch *s, unsigned lid);

/* Key of the SL2VL row of switch number `scope` (FLT_NO_SWITCH: any) from port to port (FLT_WILD:
 * any). */
uint64_t flt_row_key(int scope, unsigned in, unsigned out);

/* Appends a row (key and vl set): 0 or FLT_NO_MEMORY. */
int flt_add_row(struct flt *t, struct flt_row row);

/* Sorts the rows and keeps the last of each key; flt_sl2vl works from then on. */
void flt_sort_rows(struct flt *t);

#endif
