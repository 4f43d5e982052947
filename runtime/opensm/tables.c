/* tables.c: strict parser of the "flyloom-tables 1" file; see tables.h. */
#define _POSIX_C_SOURCE 200809L
#include "tables_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct reader {
	const char *name, *at, *stop;
	unsigned long line;
	struct flt *t;
	char *err;
	size_t err_size;
};

/* ---- errors ---- */

__attribute__((format(printf, 2, 3)))
static int fail(struct reader *r, const char *fmt, ...)
{
	va_list args;
	int used;

	if (!r->err_size)
		return -1;
	used = snprintf(r->err, r->err_size, "%s:%lu: ", r->name, r->line);
	if (used >= 0 && (size_t)used < r->err_size) {
		va_start(args, fmt);
		vsnprintf(r->err + used, r->err_size - (size_t)used, fmt, args);
		va_end(args);
	}
	return -1;
}

static int out_of_memory(struct reader *r)
{
	return fail(r, "out of memory while reading the table file");
}

/* ---- words and numbers ---- */

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Next word of the line: *word and its length, or length 0 at the line's end or comment. */
static size_t next_word(struct reader *r, const char **word)
{
	while (r->at < r->stop && blank(*r->at))
		r->at++;
	*word = r->at;
	if (r->at < r->stop && *r->at == '#')
		return 0;
	while (r->at < r->stop && !blank(*r->at) && *r->at != '\n' && *r->at != '#')
		r->at++;
	return (size_t)(r->at - *word);
}

static bool is(const char *word, size_t len, const char *text)
{
	return len == strlen(text) && !memcmp(word, text, len);
}

/* Shows at most 24 printable characters of a word, for messages. */
static const char *show(const char *word, size_t len, char out[28])
{
	size_t i, n = len < 24 ? len : 24;

	for (i = 0; i < n; i++)
		out[i] = word[i] >= 32 && word[i] < 127 ? word[i] : '?';
	out[n] = 0;
	return len ? out : "nothing";
}

/* Value of a decimal number of 1 to 5 digits, without leading zeros, or -1. */
static int decimal(const char *word, size_t len)
{
	int value = 0;
	size_t i;

	if (!len || len > 5 || (len > 1 && *word == '0'))
		return -1;
	for (i = 0; i < len; i++) {
		if (word[i] < '0' || word[i] > '9')
			return -1;
		value = 10 * value + (word[i] - '0');
	}
	return value;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A decimal word from low to high, or -1 after an error that calls it `what`. */
static int number(struct reader *r, const char *what, int low, int high)
{
	const char *word;
	size_t len = next_word(r, &word);
	int value = decimal(word, len);
	char shown[28];

	if (value < low || value > high)
		return fail(r, "%s is '%s', must be a decimal number %d..%d", what,
			    show(word, len, shown), low, high);
	return value;
}

static int guid_of(struct reader *r, const char *word, size_t len, uint64_t *guid)
{
	char shown[28];
	size_t i;

	*guid = 0;
	if (len == 18 && word[0] == '0' && word[1] == 'x') {
		for (i = 2; i < 18 && hex_digit(word[i]) >= 0; i++)
			*guid = *guid << 4 | (unsigned)hex_digit(word[i]);
		if (i == 18 && *guid)
			return 0;
	}
	return fail(r, "switch GUID is '%s', must be 0x and 16 hex digits, not all zero",
		    show(word, len, shown));
}

/* The switch that a GUID word names, or -1 after an error. */
static int switch_word(struct reader *r, const char *word, size_t len)
{
	uint64_t guid;
	int sw;

	if (guid_of(r, word, len, &guid))
		return -1;
	sw = flt_intern(r->t, guid, r->line);
	return sw == FLT_NO_MEMORY ? out_of_memory(r) : sw;
}

static int line_end(struct reader *r, const char *record)
{
	const char *word;
	size_t len = next_word(r, &word);
	char shown[28];

	return len ? fail(r, "'%s' after a complete %s record, must be the line's end",
			  show(word, len, shown), record)
		   : 0;
}

/* ---- records ---- */

static int read_lmc(struct reader *r)
{
	if (r->t->lmc >= 0)
		return fail(r, "second lmc record, must be one");
	r->t->lmc = number(r, "LMC", 0, 7);
	return r->t->lmc < 0 ? -1 : line_end(r, "lmc");
}

static int set_port(struct reader *r, struct flt_switch *s, unsigned lid, const char *word,
		    size_t len)
{
	int port = len == 1 && *word == '-' ? (int)FLT_NO_ROUTE : decimal(word, len);
	char shown[28];

	if (lid > FLT_LID_MAX)
		return fail(r, "ports run past LID %u, the highest", FLT_LID_MAX);
	if (port < 0 || port > 255 || (port == 255 && *word != '-'))
		return fail(r, "port to LID %u is '%s', must be 0..254 or -", lid,
			    show(word, len, shown));
	if (lid >= s->cap && flt_reserve(s, lid))
		return out_of_memory(r);
	if (s->given[lid / 8] & 1u << lid % 8)
		return fail(r, "LID %u of switch 0x%016" PRIx64 " has a port already, must be given once",
			    lid, s->guid);
	s->given[lid / 8] |= (uint8_t)(1u << lid % 8);
	s->port[lid] = (uint8_t)port;
	return 0;
}

static int read_lft(struct reader *r)
{
	const char *word;
	size_t len = next_word(r, &word);
	int sw = switch_word(r, word, len), first;
	struct flt_switch *s;
	unsigned lid;

	if (sw < 0 || (first = number(r, "first LID", 1, FLT_LID_MAX)) < 0)
		return -1;
	s = &r->t->sw[sw];
	s->has_lft = true;
	for (lid = (unsigned)first; (len = next_word(r, &word)); lid++)
		if (set_port(r, s, lid, word, len))
			return -1;
	return lid == (unsigned)first ? fail(r, "lft record without a port, needs one or more") : 0;
}

/* Reads the first LID and the digits of an sl record; `levels` may be NULL for want of memory. */
static int read_sl_digits(struct reader *r, struct flt_levels *levels)
{
	int first = number(r, "first LID", 1, FLT_LID_MAX);
	const char *word;
	size_t len = next_word(r, &word), i;
	uint8_t *sl;

	if (first < 0)
		return -1;
	if (!len)
		return fail(r, "sl record without SLs, needs one hex digit or . a LID");
	if (len > FLT_LID_MAX + 1 - (unsigned)first)
		return fail(r, "SLs run past LID %u, the highest", FLT_LID_MAX);
	if (!levels || flt_reserve_levels(levels, (unsigned)first + (unsigned)len - 1))
		return out_of_memory(r);
	for (i = 0, sl = levels->sl + first; i < len; i++, sl++) {
		int digit = word[i] == '.' ? (int)FLT_DEFAULT : hex_digit(word[i]);

		if (digit < 0)
			return fail(r, "SL to LID %zu is not a hex digit or .", (size_t)first + i);
		if (*sl != FLT_NO_SL)
			return fail(r, "LID %zu has an SL already, must be given once for each switch or"
				    " source", (size_t)first + i);
		*sl = (uint8_t)digit;
		if (digit < 16)
			r->t->sls_used |= 1u << digit;
	}
	return line_end(r, "sl");
}

static int read_sl(struct reader *r)
{
	const char *word;
	size_t len = next_word(r, &word);
	struct flt *t = r->t;
	int sw, source;

	if (is(word, len, "default")) {
		if (t->sl_default >= 0)
			return fail(r, "second 'sl default' record, must be one");
		if ((t->sl_default = number(r, "default SL", 0, 15)) < 0)
			return -1;
		t->sls_used |= 1u << t->sl_default;
		return line_end(r, "sl default");
	}
	if (is(word, len, "from")) {
		if ((source = number(r, "source LID", 1, FLT_LID_MAX)) < 0)
			return -1;
		return read_sl_digits(r, flt_from(t, (unsigned)source));
	}
	if ((sw = switch_word(r, word, len)) < 0)
		return -1;
	return read_sl_digits(r, &t->sw[sw].levels);
}

static int port_or_star(struct reader *r, const char *what)
{
	const char *word;
	size_t len = next_word(r, &word);
	int value = is(word, len, "*") ? (int)FLT_WILD : decimal(word, len);
	char shown[28];

	if (value < 0 || value > (int)FLT_WILD || (value == (int)FLT_WILD && *word != '*') || value == 255)
		return fail(r, "%s is '%s', must be 0..254 or *", what, show(word, len, shown));
	return value;
}

static int read_sl2vl(struct reader *r)
{
	const char *word;
	size_t len = next_word(r, &word);
	int scope = FLT_NO_SWITCH, in, out, i, vl;
	struct flt_row row = {.line = r->line};
	unsigned form;

	if (!is(word, len, "*") && (scope = switch_word(r, word, len)) < 0)
		return -1;
	if ((in = port_or_star(r, "in-port")) < 0 || (out = port_or_star(r, "out-port")) < 0)
		return -1;
	for (i = 0; i < 16; i++) {
		if ((vl = number(r, "VL", 0, 15)) < 0)
			return -1;
		row.vl[i / 2] |= (uint8_t)(i % 2 ? vl : vl << 4);
	}
	form = flt_row_form(scope, (unsigned)in, (unsigned)out);
	if (form && !r->t->row_count)
		return fail(r, "the first sl2vl record must be 'sl2vl * * *'");
	if (form < r->t->form)
		return fail(r, "sl2vl record more general than one before, must be in the order * * *,"
			    " * * O, * I *, * I O, G * *, G * O, G I *, G I O");
	r->t->form = form;
	row.key = flt_row_key(scope, (unsigned)in, (unsigned)out);
	if (flt_add_row(r->t, row))
		return out_of_memory(r);
	return line_end(r, "sl2vl");
}

/* ---- the file ---- */

/* Checks what no single line shows, and sorts the sl2vl rows. */
static int finish(struct reader *r)
{
	struct flt *t = r->t;
	const struct flt_row *again;
	size_t i;

	if (t->lmc < 0)
		return fail(r, "no lmc record before end, needs 'lmc <0..7>'");
	if (t->sl_default < 0)
		return fail(r, "no 'sl default' record before end, needs 'sl default <0..15>'");
	if (!t->row_count)
		return fail(r, "no sl2vl record before end, needs 'sl2vl * * *' and 16 VLs");
	if (!t->sw_count)
		return fail(r, "no lft record before end, needs one or more switches");
	for (i = 0; i < t->sw_count; i++)
		if (!t->sw[i].has_lft) {
			r->line = t->sw[i].line;
			return fail(r, "switch 0x%016" PRIx64 " has no lft record, every switch needs one",
				    t->sw[i].guid);
		}
	for (i = 0; i < t->from_count; i++)
		if (t->from[i].source % (1u << t->lmc))
			return fail(r, "'sl from %u' must be a multiple of %u with LMC %d",
				    t->from[i].source, 1u << t->lmc, t->lmc);
	if ((again = flt_sort_rows(t))) {
		r->line = again->line;
		return fail(r, "sl2vl record of this switch and ports comes twice, must be once");
	}
	return 0;
}

/* Reads one line's record. *state: 0 before the header, 1 in the body, 2 after end. */
static int record(struct reader *r, const char *word, size_t len, int *state)
{
	char shown[28];

	if (*state == 2)
		return fail(r, "'%s' after the end record, must be nothing", show(word, len, shown));
	if (*state == 0) {
		if (!is(word, len, "flyloom-tables"))
			return fail(r, "starts with '%s', must be 'flyloom-tables 1'",
				    show(word, len, shown));
		*state = 1;
		return number(r, "version", 1, 1) < 0 ? -1 : line_end(r, "flyloom-tables");
	}
	if (is(word, len, "lft"))
		return read_lft(r);
	if (is(word, len, "sl"))
		return read_sl(r);
	if (is(word, len, "sl2vl"))
		return read_sl2vl(r);
	if (is(word, len, "lmc"))
		return read_lmc(r);
	if (is(word, len, "end")) {
		*state = 2;
		return line_end(r, "end") ? -1 : finish(r);
	}
	return fail(r, "record '%s', must be lmc, lft, sl, sl2vl or end", show(word, len, shown));
}

/* A line holds no control characters but tabs: what shows as two lines may not be one. */
static int check_line(struct reader *r)
{
	const char *at;

	for (at = r->at; at < r->stop && *at != '\n'; at++)
		if (((unsigned char)*at < 32 && *at != '\t') || *at == 127)
			return fail(r, "a control character (byte %d), must be printable ASCII, blanks and"
				    " tabs, lines that end with \\n alone", *at);
	return 0;
}

static int read_all(struct reader *r)
{
	int state = 0;

	for (r->line = 1; r->at < r->stop; r->line++) {
		const char *word;
		size_t len;

		if (check_line(r))
			return -1;
		len = next_word(r, &word);
		if (len && record(r, word, len, &state))
			return -1;
		while (r->at < r->stop && *r->at != '\n')
			r->at++;
		r->at += r->at < r->stop;
	}
	if (state == 0)
		return fail(r, "no record, must start with 'flyloom-tables 1'");
	if (state == 1)
		return fail(r, "no end record: the file is truncated, must close with 'end'");
	return 0;
}

int flt_parse(const char *name, const char *text, size_t len, struct flt **out, char *err,
	      size_t err_size)
{
	struct reader r = {.name = name, .at = text, .stop = text + len, .err = err,
			   .err_size = err_size};

	*out = NULL;
	if (!(r.t = calloc(1, sizeof *r.t)))
		return out_of_memory(&r);
	r.t->lmc = r.t->sl_default = -1;
	if (read_all(&r)) {
		flt_free(r.t);
		return -1;
	}
	*out = r.t;
	return 0;
}

/* Reads a whole file to malloc'ed memory (a copy: the file may be rewritten meanwhile). */
static char *slurp(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	size_t cap = 1 << 16, used = 0, got;
	char *text = NULL, *grown;
	struct stat facts;

	if (!file)
		return NULL;
	if (!fstat(fileno(file), &facts) && S_ISREG(facts.st_mode) && facts.st_size > 0)
		cap = (size_t)facts.st_size + 1;
	while ((grown = realloc(text, cap))) {
		text = grown;
		got = fread(text + used, 1, cap - used, file);
		used += got;
		if (!got)
			break;
		if (used == cap)
			cap *= 2;
	}
	if (!grown || ferror(file)) {
		int why = grown ? errno : ENOMEM;

		free(text);
		text = NULL;
		errno = why;
	}
	*len = used;
	got = (size_t)errno;
	fclose(file);
	errno = (int)got;
	return text;
}

int flt_load(const char *path, struct flt **out, char *err, size_t err_size)
{
	size_t len;
	char *text = slurp(path, &len);
	int rc;

	*out = NULL;
	if (!text) {
		snprintf(err, err_size, "%s: cannot read the table file: %s", path, strerror(errno));
		return -1;
	}
	rc = flt_parse(path, text, len, out, err, err_size);
	free(text);
	return rc;
}
