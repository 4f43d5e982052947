/* tables_store.c: the tables of tables.h in memory: switches, ports, SLs, SL2VL rows, look-ups. */
#include "tables_store.h"

#include <stdlib.h>
#include <string.h>

/* ---- switches ---- */

static size_t hash(const struct flt *t, uint64_t guid)
{
	return (size_t)((guid * 0x9E3779B97F4A7C15ull) >> 32) & (t->slots - 1);
}

int flt_find(const struct flt *t, uint64_t guid)
{
	size_t i;

	if (!t->slots)
		return FLT_NO_SWITCH;
	for (i = hash(t, guid); t->slot[i] >= 0; i = (i + 1) & (t->slots - 1))
		if (t->sw[t->slot[i]].guid == guid)
			return t->slot[i];
	return FLT_NO_SWITCH;
}

static int rehash(struct flt *t)
{
	size_t slots = t->slots ? 2 * t->slots : 256, i, j;
	int32_t *slot = malloc(slots * sizeof *slot);

	if (!slot)
		return -1;
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	for (i = 0; i < slots; i++)
		slot[i] = -1;
	for (j = 0; j < t->sw_count; j++) {
		for (i = hash(t, t->sw[j].guid); slot[i] >= 0; i = (i + 1) & (slots - 1))
			;
		slot[i] = (int32_t)j;
	}
	return 0;
}

int flt_intern(struct flt *t, uint64_t guid, unsigned long line)
{
	int found = flt_find(t, guid);
	size_t i;

	if (found >= 0)
		return found;
	if (t->sw_count == t->sw_cap) {
		size_t cap = t->sw_cap ? 2 * t->sw_cap : 64;
		struct flt_switch *grown = realloc(t->sw, cap * sizeof *grown);

		if (!grown)
			return FLT_NO_MEMORY;
		t->sw = grown;
		t->sw_cap = cap;
	}
	if (2 * (t->sw_count + 1) > t->slots && rehash(t))
		return FLT_NO_MEMORY;
	for (i = hash(t, guid); t->slot[i] >= 0; i = (i + 1) & (t->slots - 1))
		;
	t->slot[i] = (int32_t)t->sw_count;
	t->sw[t->sw_count] = (struct flt_switch){.guid = guid, .line = line};
	return (int)t->sw_count++;
}

/* Room for `lid` when there is room for 0..cap-1: a power of two, at most all LIDs. */
static unsigned wider(unsigned cap, unsigned lid)
{
	unsigned all = FLT_LID_MAX + 1;

	for (cap = cap ? cap : 1024; cap <= lid; cap *= 2)
		;
	return cap < all ? cap : all;
}

int flt_reserve(struct flt_switch *s, unsigned lid)
{
	unsigned cap = wider(s->cap, lid);
	uint8_t *grown;

	if (lid < s->cap)
		return 0;
	if (!(grown = realloc(s->port, cap)))
		return FLT_NO_MEMORY;
	s->port = grown;
	if (!(grown = realloc(s->given, cap / 8)))
		return FLT_NO_MEMORY;
	s->given = grown;
	memset(s->port + s->cap, FLT_NO_ROUTE, cap - s->cap);
	memset(s->given + s->cap / 8, 0, (cap - s->cap) / 8);
	s->cap = cap;
	return 0;
}

int flt_reserve_levels(struct flt_levels *levels, unsigned lid)
{
	unsigned cap = wider(levels->cap, lid);
	uint8_t *grown;

	if (lid < levels->cap)
		return 0;
	if (!(grown = realloc(levels->sl, cap)))
		return FLT_NO_MEMORY;
	memset(grown + levels->cap, FLT_NO_SL, cap - levels->cap);
	levels->sl = grown;
	levels->cap = cap;
	return 0;
}

struct flt_levels *flt_from(struct flt *t, unsigned source)
{
	if (!t->from_at && !(t->from_at = calloc(FLT_LID_MAX + 1, sizeof *t->from_at)))
		return NULL;
	if (!t->from_at[source]) {
		if (t->from_count == t->from_cap) {
			size_t cap = t->from_cap ? 2 * t->from_cap : 16;
			struct flt_levels *grown = realloc(t->from, cap * sizeof *grown);

			if (!grown)
				return NULL;
			t->from = grown;
			t->from_cap = cap;
		}
		t->from[t->from_count++] = (struct flt_levels){.source = source};
		t->from_at[source] = (uint16_t)t->from_count;
	}
	return &t->from[t->from_at[source] - 1];
}

/* ---- sl2vl rows ---- */

uint64_t flt_row_key(int scope, unsigned in, unsigned out)
{
	return (uint64_t)(unsigned)(scope + 1) << 18 | in << 9 | out;
}

unsigned flt_row_form(int scope, unsigned in, unsigned out)
{
	return (scope != FLT_NO_SWITCH) << 2 | (in != FLT_WILD) << 1 | (out != FLT_WILD);
}

int flt_add_row(struct flt *t, struct flt_row row)
{
	if (t->row_count == t->row_cap) {
		size_t cap = t->row_cap ? 2 * t->row_cap : 1024;
		struct flt_row *grown = realloc(t->rows, cap * sizeof *grown);

		if (!grown)
			return FLT_NO_MEMORY;
		t->rows = grown;
		t->row_cap = cap;
	}
	t->rows[t->row_count++] = row;
	return 0;
}

static int by_key(const void *left, const void *right)
{
	const struct flt_row *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

const struct flt_row *flt_sort_rows(struct flt *t)
{
	size_t i;

	if (t->row_count)
		qsort(t->rows, t->row_count, sizeof *t->rows, by_key);
	for (i = 1; i < t->row_count; i++)
		if (t->rows[i].key == t->rows[i - 1].key)
			return &t->rows[i];
	return NULL;
}

void flt_free(struct flt *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->sw_count; i++) {
		free(t->sw[i].port);
		free(t->sw[i].levels.sl);
		free(t->sw[i].given);
	}
	for (i = 0; i < t->from_count; i++)
		free(t->from[i].sl);
	free(t->from);
	free(t->from_at);
	free(t->sw);
	free(t->slot);
	free(t->rows);
	free(t);
}

/* ---- look-ups ---- */

unsigned flt_lmc(const struct flt *t)
{
	return (unsigned)t->lmc;
}

size_t flt_switches(const struct flt *t)
{
	return t->sw_count;
}

uint64_t flt_guid(const struct flt *t, int sw)
{
	return t->sw[sw].guid;
}

uint8_t flt_port(const struct flt *t, int sw, unsigned lid)
{
	return lid < t->sw[sw].cap ? t->sw[sw].port[lid] : FLT_NO_ROUTE;
}

/* The SL that a row gives, FLT_NO_SL or FLT_DEFAULT. */
static uint8_t level(const struct flt_levels *levels, unsigned lid)
{
	return lid < levels->cap ? levels->sl[lid] : FLT_NO_SL;
}

uint8_t flt_sl(const struct flt *t, int sw, unsigned source, unsigned lid)
{
	unsigned first = source >> t->lmc << t->lmc;
	uint8_t sl = FLT_NO_SL;

	if (flt_has_source(t, first))
		sl = level(&t->from[t->from_at[first] - 1], lid);
	if (sl > 15 && sw >= 0 && (size_t)sw < t->sw_count)
		sl = level(&t->sw[sw].levels, lid);
	return sl > 15 ? (uint8_t)t->sl_default : sl;
}

bool flt_has_source(const struct flt *t, unsigned source)
{
	return t->from_at && source <= FLT_LID_MAX && t->from_at[source];
}

unsigned flt_sls_used(const struct flt *t)
{
	return t->sls_used;
}

static const struct flt_row *find_row(const struct flt *t, uint64_t key)
{
	size_t low = 0, high = t->row_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->rows[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->row_count && t->rows[low].key == key ? &t->rows[low] : NULL;
}

void flt_sl2vl(const struct flt *t, int sw, unsigned in, unsigned out, uint8_t vl[8])
{
	const struct flt_row *row = NULL;
	unsigned form;

	if (sw < 0) /* an endpoint's port */
		in = out = FLT_WILD;
	for (form = 8; !row && form--;) /* the file has `* * *`, form 0 */
		row = find_row(t, flt_row_key(form & 4 ? sw : FLT_NO_SWITCH, form & 2 ? in : FLT_WILD,
					      form & 1 ? out : FLT_WILD));
	memcpy(vl, row->vl, 8);
}
