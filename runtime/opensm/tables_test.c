/* tables_test.c: drives the parser of tables.c alone, for the tests.
 *
 *   tables_test read LIDS PORTS FILE...  prints what each table file says, or why it is refused
 *   tables_test fuzz FILE SEED N         parses N seeded mutations of FILE; a crash is the failure
 *   tables_test cuts FILE                parses each proper prefix of FILE; fails when it takes one
 *
 * `read` prints for each file `refused FILE:LINE: why`, or `accepted`, then `lmc L`, `sls MASK`,
 * and for each switch in the file's order `lft GUID PORT ...` (LIDs 1..LIDS, `-` for none),
 * `sl GUID SOURCE DIGITS` (source LIDs 0..LIDS, then the SL to LIDs 1..LIDS) where it is not that
 * of source 0, and `vl GUID IN OUT HEX` for ports 0..PORTS-1; GUID `endpoint` for endpoints.
 * rc 1 when one is refused.
 */
#include "tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_vl(const struct flt *t, int sw, unsigned in, unsigned out)
{
	uint8_t vl[8];
	int i;

	flt_sl2vl(t, sw, in, out, vl);
	if (sw == FLT_NO_SWITCH)
		printf("vl endpoint %u %u ", in, out);
	else
		printf("vl 0x%016" PRIx64 " %u %u ", flt_guid(t, sw), in, out);
	for (i = 0; i < 8; i++)
		printf("%02x", vl[i]);
	printf("\n");
}

static void print_levels(const struct flt *t, int sw, unsigned lids)
{
	unsigned source, lid;

	for (source = 0; source <= lids; source++) {
		bool other = !source;

		for (lid = 1; lid <= lids && !other; lid++)
			other = flt_sl(t, sw, source, lid) != flt_sl(t, sw, 0, lid);
		if (!other)
			continue;
		printf("sl 0x%016" PRIx64 " %u ", flt_guid(t, sw), source);
		for (lid = 1; lid <= lids; lid++)
			printf("%x", flt_sl(t, sw, source, lid));
		printf("\n");
	}
}

static int read_one(const char *path, unsigned lids, unsigned ports)
{
	char err[256];
	struct flt *t;
	unsigned lid, in, out;
	int sw;

	if (flt_load(path, &t, err, sizeof err)) {
		printf("refused %s\n", err);
		return 1;
	}
	printf("accepted\nlmc %u\nsls %x\n", flt_lmc(t), flt_sls_used(t));
	print_vl(t, FLT_NO_SWITCH, 0, 0);
	for (sw = 0; sw < (int)flt_switches(t); sw++) {
		printf("lft 0x%016" PRIx64, flt_guid(t, sw));
		for (lid = 1; lid <= lids; lid++)
			if (flt_port(t, sw, lid) == FLT_NO_ROUTE)
				printf(" -");
			else
				printf(" %u", flt_port(t, sw, lid));
		printf("\n");
		print_levels(t, sw, lids);
		for (in = 0; in < ports; in++)
			for (out = 0; out < ports; out++)
				print_vl(t, sw, in, out);
		if (flt_find(t, flt_guid(t, sw)) != sw)
			abort();
	}
	flt_free(t);
	return 0;
}

static char *read_file(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	char *text = malloc(1 << 20);

	if (!file || !text)
		exit(2);
	*len = fread(text, 1, 1 << 20, file);
	fclose(file);
	return text;
}

/* Parses an exactly sized copy, so that the sanitizer sees a read past its end. */
static int parse_copy(const char *text, size_t len)
{
	char err[64], *copy = malloc(len ? len : 1);
	struct flt *t;
	uint8_t vl[8];
	int rc;

	if (!copy)
		exit(2);
	memcpy(copy, text, len);
	rc = flt_parse("fuzz", copy, len, &t, err, sizeof err);
	if (rc && (t || strncmp(err, "fuzz:", 5)))
		abort();
	if (!rc) {
		flt_port(t, 0, 70000);
		flt_sl(t, 0, 70000, 70000);
		flt_sl2vl(t, 0, 255, 255, vl);
	}
	flt_free(t);
	free(copy);
	return rc;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int fuzz(const char *path, uint64_t seed, long count)
{
	static const char alphabet[] = "0123456789abcdefx-.*# \t\n\r";
	size_t len;
	char *text = read_file(path, &len), *copy = malloc(len + 1);
	uint64_t state = seed * 2 + 1;
	long good = 0, i;

	if (!copy || !len)
		return 2;
	for (i = 0; i < count; i++) {
		size_t edits = 1 + next_random(&state) % 4, used = len;

		memcpy(copy, text, len);
		while (edits--) {
			size_t at = next_random(&state) % used, far = next_random(&state) % used;

			switch (next_random(&state) % 4) {
			case 0:
				copy[at] = alphabet[next_random(&state) % (sizeof alphabet - 1)];
				break;
			case 1:
				copy[at] = (char)next_random(&state);
				break;
			case 2: /* copy one stretch over another */
				memmove(copy + at, copy + far, used - (at > far ? at : far));
				break;
			default: /* cut a little out */
				far = 1 + far % 8;
				if (used > at + far) {
					memmove(copy + at, copy + at + far, used - at - far);
					used -= far;
				}
			}
		}
		good += !parse_copy(copy, used);
	}
	printf("%ld of %ld accepted\n", good, count);
	free(copy);
	free(text);
	return 0;
}

static int cuts(const char *path)
{
	size_t len, used, last;
	char *text = read_file(path, &len);

	for (last = len; last && (text[last - 1] == '\n' || text[last - 1] == ' '); last--)
		;
	for (used = 0; used < last; used++)
		if (!parse_copy(text, used)) {
			printf("accepted when cut to %zu bytes\n", used);
			return 1;
		}
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	int i, rc = 0;

	if (argc >= 5 && !strcmp(argv[1], "read")) {
		for (i = 4; i < argc; i++)
			rc |= read_one(argv[i], (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
		return rc;
	}
	if (argc == 5 && !strcmp(argv[1], "fuzz"))
		return fuzz(argv[2], (uint64_t)atoll(argv[3]), atol(argv[4]));
	if (argc == 3 && !strcmp(argv[1], "cuts"))
		return cuts(argv[2]);
	fprintf(stderr, "usage: tables_test read LIDS PORTS FILE... | fuzz FILE SEED N | cuts FILE\n");
	return 2;
}
