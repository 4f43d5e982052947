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
	if (t->sw_count >= FLT_SWITCHES_MAX)
		return FLT_FULL;
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

int flt_reserve(struct flt_switch *s, unsigned lid)
{
	unsigned cap = s->cap ? 2 * s->cap : 1024;
	uint8_t *grown;

	if (lid < s->cap)
		return 0;
	while (cap <= lid)
		cap *= 2;
	if (cap > FLT_LID_MAX + 1)
		cap = FLT_LID_MAX + 1;
	if (!(grown = realloc(s->port, cap)))
		return FLT_NO_MEMORY;
	s->port = grown;
	if (!(grown = realloc(s->sl, cap)))
		return FLT_NO_MEMORY;
	s->sl = grown;
	if (!(grown = realloc(s->given, cap / 8)))
		return FLT_NO_MEMORY;
	s->given = grown;
	memset(s->port + s->cap, FLT_NO_ROUTE, cap - s->cap);
	memset(s->sl + s->cap, FLT_NO_SL, cap - s->cap);
	memset(s->given + s->cap / 8, 0, (cap - s->cap) / 8);
	s->cap = cap;
	return 0;
}

/* ---- sl2vl rows ---- */

uint64_t flt_row_key(int scope, unsigned in, unsigned out)
{
	return (uint64_t)(unsigned)(scope + 1) << 18 | in << 9 | out;
}

int flt_add_row(struct flt *t, struct flt_row row)
{
	if (t->row_count == t->row_cap) {
		size_t cap = t->row_cap ? 2 * t->row_cap : 1024;
		struct flt_row *grown =
			cap < UINT32_MAX ? realloc(t->rows, cap * sizeof *grown) : NULL;

		if (!grown)
			return FLT_NO_MEMORY;
		t->rows = grown;
		t->row_cap = cap;
	}
	row.seq = (uint32_t)t->row_count;
	t->rows[t->row_count++] = row;
	return 0;
}

static int by_key(const void *left, const void *right)
{
	const struct flt_row *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

void flt_sort_rows(struct flt *t)
{
	size_t i, kept = 0;

	if (t->row_count)
		qsort(t->rows, t->row_count, sizeof *t->rows, by_key);
	for (i = 0; i < t->row_count; i++)
		if (i + 1 == t->row_count || t->rows[i].key != t->rows[i + 1].key)
			t->rows[kept++] = t->rows[i];
	t->row_count = kept;
}

void flt_free(struct flt *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->sw_count; i++) {
		free(t->sw[i].port);
		free(t->sw[i].sl);
		free(t->sw[i].given);
	}
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

uint8_t flt_sl(const struct flt *t, int sw, unsigned lid)
{
	uint8_t sl = FLT_NO_SL;

	if (sw >= 0 && (size_t)sw < t->sw_count && lid < t->sw[sw].cap)
		sl = t->sw[sw].sl[lid];
	return sl == FLT_NO_SL && t->sl_default >= 0 ? (uint8_t)t->sl_default : sl;
}

unsigned flt_sls_used(const struct flt *t)
{
	return t->sls_used;
}

bool flt_has_sl2vl(const struct flt *t)
{
	return t->row_count > 0;
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

bool flt_sl2vl(const struct flt *t, int sw, unsigned in, unsigned out, uint8_t vl[8])
{
	const struct flt_row *best = NULL;
	unsigned way;

	if (sw == FLT_NO_SWITCH)
		best = find_row(t, flt_row_key(FLT_NO_SWITCH, FLT_WILD, FLT_WILD));
	for (way = 0; sw >= 0 && way < 8; way++) {
		uint64_t key = flt_row_key(way & 4 ? FLT_NO_SWITCH : sw, way & 2 ? FLT_WILD : in,
					   way & 1 ? FLT_WILD : out);
		const struct flt_row *row = find_row(t, key);

		if (row && (!best || row->seq > best->seq))
			best = row;
	}
	if (best)
		memcpy(vl, best->vl, 8);
	return best != NULL;
}
