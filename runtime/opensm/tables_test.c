/* tables_test.c: drives the parser of tables.c alone, for the tests.
 *
 *   tables_test dump FILE PORTS   prints all of a table file; error text and rc 1 when it is bad
 *   tables_test fuzz FILE SEED N  parses N seeded mutations of FILE; a crash is the failure
 *   tables_test cuts FILE         parses every proper prefix of FILE; fails when one is accepted
 *
 * `dump` prints `lmc L`, `sls MASK`, `route GUID LID PORT SL` for LIDs 1..49151 that the file
 * gives a port or an SL other than the default (255: none), and `vl GUID IN OUT HEX` for in- and out-ports 0..PORTS-1 where the file
 * gives a table; GUID `endpoint` for endpoints.
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

	if (!flt_sl2vl(t, sw, in, out, vl))
		return;
	if (sw == FLT_NO_SWITCH)
		printf("vl endpoint %u %u ", in, out);
	else
		printf("vl 0x%016" PRIx64 " %u %u ", flt_guid(t, sw), in, out);
	for (i = 0; i < 8; i++)
		printf("%02x", vl[i]);
	printf("\n");
}

static int dump(const char *path, unsigned ports)
{
	char err[256];
	struct flt *t;
	unsigned lid, in, out;
	int sw;

	if (flt_load(path, &t, err, sizeof err)) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	printf("lmc %u\nsls %x\n", flt_lmc(t), flt_sls_used(t));
	print_vl(t, FLT_NO_SWITCH, 0, 0);
	for (sw = 0; sw < (int)flt_switches(t); sw++) {
		for (lid = 1; lid <= FLT_LID_MAX; lid++) {
			unsigned port = flt_port(t, sw, lid), sl = flt_sl(t, sw, lid);

			if (port != FLT_NO_ROUTE || sl != flt_sl(t, sw, 0))
				printf("route 0x%016" PRIx64 " %u %u %u\n", flt_guid(t, sw), lid, port, sl);
		}
		for (in = 0; in < ports; in++)
			for (out = 0; out < ports; out++)
				print_vl(t, sw, in, out);
		if (flt_find(t, flt_guid(t, sw)) != sw)
			return 2;
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
		flt_sl(t, 0, 70000);
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
	if (argc == 4 && !strcmp(argv[1], "dump"))
		return dump(argv[2], (unsigned)atoi(argv[3]));
	if (argc == 5 && !strcmp(argv[1], "fuzz"))
		return fuzz(argv[2], (uint64_t)atoll(argv[3]), atol(argv[4]));
	if (argc == 3 && !strcmp(argv[1], "cuts"))
		return cuts(argv[2]);
	fprintf(stderr, "usage: tables_test dump FILE PORTS | fuzz FILE SEED N | cuts FILE\n");
	return 2;
}
