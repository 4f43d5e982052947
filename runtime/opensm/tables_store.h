/* tables_store.h: how tables.c keeps what it read; private to tables.c and tables_store.c. */
#ifndef FLYLOOM_TABLES_STORE_H
#define FLYLOOM_TABLES_STORE_H

#include "tables.h"

#define FLT_WILD 256u                /* `*` as a port */
#define FLT_DEFAULT 0xFEu            /* `.` in a row of levels: the LID is given, the SL is not */
#define FLT_NO_MEMORY (-2)

/* The levels of one switch or source: one byte a LID, FLT_NO_SL where no record gives it. */
struct flt_levels {
	unsigned source;      /* its LID; 0 for a switch's */
	unsigned cap;         /* LIDs 0..cap-1 have room */
	uint8_t *sl;
};

struct flt_switch {
	uint64_t guid;
	unsigned cap;         /* LIDs 0..cap-1 have room in port and given */
	uint8_t *port;        /* by LID */
	uint8_t *given;       /* bitmap by LID: an lft line has it */
	struct flt_levels levels;
	unsigned long line;   /* the line of the first mention */
	bool has_lft;
};

struct flt_row {
	uint64_t key;         /* switch, in, out */
	unsigned long line;
	uint8_t vl[8];
};

struct flt {
	struct flt_switch *sw;
	size_t sw_count, sw_cap;
	int32_t *slot;        /* open addressing, guid -> switch, -1 free */
	size_t slots;         /* a power of two */
	struct flt_row *rows;     /* sorted by key once loaded */
	size_t row_count, row_cap;
	unsigned form;        /* flt_row_form of the last sl2vl line */
	struct flt_levels *from;  /* the levels of `sl from`, in the order of the file */
	size_t from_count, from_cap;
	uint16_t *from_at;    /* by source LID, 1 + its place in `from`; NULL without `sl from` */
	int lmc;              /* -1: not seen yet */
	int sl_default;       /* -1: not seen yet */
	unsigned sls_used;
};

/* The number of the switch with this guid, made when new with `line` as its first mention, or
 * FLT_NO_MEMORY. */
int flt_intern(struct flt *t, uint64_t guid, unsigned long line);

/* Makes room for ports of LIDs up to and with `lid` (at most FLT_LID_MAX): 0 or FLT_NO_MEMORY. */
int flt_reserve(struct flt_switch *s, unsigned lid);

/* As flt_reserve, for levels. */
int flt_reserve_levels(struct flt_levels *levels, unsigned lid);

/* The levels of paths from a source LID (at most FLT_LID_MAX), made when new; NULL: no memory. */
struct flt_levels *flt_from(struct flt *t, unsigned source);

/* Key of the SL2VL row of switch number `scope` (FLT_NO_SWITCH: any) from port to port (FLT_WILD:
 * any). */
uint64_t flt_row_key(int scope, unsigned in, unsigned out);

/* How special a row is, 0 (`* * *`) to 7: of two that match, the one of the higher form counts. */
unsigned flt_row_form(int scope, unsigned in, unsigned out);

/* Appends a row: 0 or FLT_NO_MEMORY. */
int flt_add_row(struct flt *t, struct flt_row row);

/* Sorts the rows; flt_sl2vl works from then on. Returns a row that has the key of an earlier line,
 * or NULL. */
const struct flt_row *flt_sort_rows(struct flt *t);

#endif
