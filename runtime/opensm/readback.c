/* readback.c: reads SL2VL tables, LFT entries and path records, with several requests in flight.
 *
 *   flyloom-readback [WINDOW] < queries > answers
 *
 * Queries, one a line, LIDs and ports decimal; each gives one answer line, in the same order:
 *
 *   vl <switch lid> <in port> <out port> [<port>,<port>...]
 *                                            SL2VL table: 16 hex digits, the VLs of SL 0..15; with
 *                                            a path, the ports by which it leaves this node and
 *                                            the switches after it, the request goes along it
 *                                            (at most 63), without one to the LID
 *   ft <switch lid> <lid> [<port>,<port>...] forwarding table: the port of one LID, 2 hex digits
 *   sl <source lid> <dest lid> [<source port guid> <dest port guid>]
 *                                            SA PathRecord: SL, MTU code and rate code, decimal;
 *                                            with the GUIDs (hex) OpenSM finds the ports at once,
 *                                            without them it looks through all, each time
 *
 * An answer of `-` means that the fabric answered with an error (no such path). rc 1 with a line
 * on stderr when a query is malformed or stays unanswered. Talks by libibumad, so it runs on
 * hardware or, with umad2sim preloaded, on ibsim. Layouts: InfiniBand Architecture 1.2.1, 13.4.3
 * (MAD), 14.2.1.1 and 14.2.1.2 (SMP, directed route), 15.2.1.1 and 15.2.5.16 (SA, PathRecord).
 */
#define _GNU_SOURCE
#include <infiniband/umad.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAD_BYTES 256
#define WINDOW_MAX 64
#define HOPS_MAX 63
#define FT_BLOCK 64
#define BY_LID 0x01
#define BY_PATH 0x81
#define NO_LID 0xFFFF
#define TRIES 5
#define PATIENCE_MS 2000
#define QP1_KEY 0x80010000
#define GID_PREFIX 0xFE80000000000000ull /* OpenSM's default subnet prefix */

enum kind { VL, FT, SL };

struct query {
	uint16_t a, b, c;     /* vl: lid, in, out; ft: lid, entry; sl: source, destination */
	uint8_t kind;
	bool done, refused;
	uint64_t guid[2];     /* sl: ports of source and destination, 0: not given */
	uint8_t answer[8];    /* vl: the table; ft: the port; sl: SL, MTU, rate */
	uint8_t hops, path[HOPS_MAX]; /* vl, ft: ports of the path; 0 hops: by LID */
};

struct slot {
	size_t query;
	unsigned tries;       /* 0: free */
	int64_t deadline_ms;
};

struct run {
	struct query *query;
	size_t count, next, done;
	struct slot slot[WINDOW_MAX];
	unsigned window;
	int port, smp_agent, path_agent, sa_agent;
	uint16_t sm_lid;
	uint8_t sm_sl;
	uint8_t *umad;
};

static int complain(const char *what)
{
	fprintf(stderr, "flyloom-readback: %s\n", what);
	return -1;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void put(uint8_t *at, unsigned bytes, uint64_t value)
{
	while (bytes--) {
		at[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* ---- requests ---- */

static void build_smp(uint8_t *mad, const struct query *q)
{
	mad[1] = q->hops ? BY_PATH : BY_LID;
	mad[2] = 1;
	mad[7] = q->hops;
	put(mad + 32, 2, q->hops ? NO_LID : 0);
	put(mad + 34, 2, q->hops ? NO_LID : 0);
	memcpy(mad + 129, q->path, q->hops);             /* the first of 64 places is not used */
	if (q->kind == VL) {
		put(mad + 16, 2, 0x0017);                /* SLtoVLMappingTable */
		put(mad + 20, 4, (uint32_t)q->b << 8 | q->c);
	} else {
		put(mad + 16, 2, 0x0019);                /* LinearForwardingTable */
		put(mad + 20, 4, q->b / FT_BLOCK);
	}
}

static void build_sa(uint8_t *mad, const struct query *q)
{
	uint8_t *record = mad + 56;

	mad[1] = 0x03;                                   /* SubnAdm */
	mad[2] = 2;
	put(mad + 16, 2, 0x0035);                        /* PathRecord */
	put(mad + 48, 8, 1u << 4 | 1u << 5 | 1u << 12);  /* DLID, SLID, NumbPath given */
	if (q->guid[0]) {
		mad[55] |= 1u << 2 | 1u << 3;            /* DGID, SGID too */
		put(record + 8, 8, GID_PREFIX);
		put(record + 16, 8, q->guid[1]);
		put(record + 24, 8, GID_PREFIX);
		put(record + 32, 8, q->guid[0]);
	}
	put(record + 40, 2, q->b);
	put(record + 42, 2, q->a);
	record[49] = 1;
}

static int send_query(struct run *r, struct slot *s)
{
	const struct query *q = &r->query[s->query];
	int agent = q->kind == SL ? r->sa_agent : q->hops ? r->path_agent : r->smp_agent;
	uint8_t *mad;

	memset(r->umad, 0, umad_size() + MAD_BYTES);
	mad = umad_get_mad(r->umad);
	mad[0] = 1;
	mad[3] = 0x01; /* Get */
	put(mad + 8, 8, s->query + 1);
	if (q->kind != SL) {
		build_smp(mad, q);
		umad_set_addr(r->umad, q->hops ? NO_LID : q->a, 0, 0, 0);
	} else {
		build_sa(mad, q);
		umad_set_addr(r->umad, r->sm_lid, 1, r->sm_sl, (int)QP1_KEY);
	}
	s->tries++;
	s->deadline_ms = now_ms() + PATIENCE_MS;
	if (umad_send(r->port, agent, r->umad, MAD_BYTES, 0, 0))
		return complain("cannot send a request");
	return 0;
}

/* ---- answers ---- */

static struct slot *slot_of(struct run *r, uint32_t transaction)
{
	unsigned i;

	for (i = 0; i < r->window; i++)
		if (r->slot[i].tries && r->slot[i].query + 1 == transaction)
			return &r->slot[i];
	return NULL; /* a late second answer */
}

static int take_answer(struct run *r)
{
	int len = MAD_BYTES, agent = umad_recv(r->port, r->umad, &len, 100);
	const uint8_t *mad = umad_get_mad(r->umad);
	struct slot *s;
	struct query *q;

	if (agent < 0 || umad_status(r->umad) || !(mad[3] & 0x80))
		return 0; /* nothing yet; the deadlines decide */
	if (!(s = slot_of(r, get32(mad + 12))))
		return 0;
	q = &r->query[s->query];
	if (mad[1] != (q->kind == SL ? 0x03 : q->hops ? BY_PATH : BY_LID))
		return 0;
	q->refused = mad[4] & 0x7f || mad[5];
	if (q->kind == VL) {
		memcpy(q->answer, mad + 64, 8);
	} else if (q->kind == FT) {
		q->answer[0] = mad[64 + q->b % FT_BLOCK];
	} else {
		q->answer[0] = mad[56 + 53] & 15;
		q->answer[1] = mad[56 + 54] & 63;
		q->answer[2] = mad[56 + 55] & 63;
	}
	q->done = true;
	r->done++;
	s->tries = 0;
	return 0;
}

static int resend_late(struct run *r)
{
	int64_t now = now_ms();
	unsigned i;

	for (i = 0; i < r->window; i++) {
		struct slot *s = &r->slot[i];

		if (!s->tries || now < s->deadline_ms)
			continue;
		if (s->tries >= TRIES)
			return complain("a request stayed unanswered: is a subnet manager running?");
		if (send_query(r, s))
			return -1;
	}
	return 0;
}

static int run_all(struct run *r)
{
	unsigned i;

	while (r->done < r->count) {
		for (i = 0; i < r->window && r->next < r->count; i++) {
			if (r->slot[i].tries)
				continue;
			r->slot[i].query = r->next++;
			if (send_query(r, &r->slot[i]))
				return -1;
		}
		if (take_answer(r) || resend_late(r))
			return -1;
	}
	return 0;
}

/* ---- input, output, set-up ---- */

static int parse_path(const char *at, struct query *q)
{
	unsigned port;
	int used;

	while (sscanf(at, "%u%n", &port, &used) == 1) {
		if (port > 254 || q->hops == HOPS_MAX)
			return -1;
		q->path[q->hops++] = (uint8_t)port;
		at += used;
		if (*at != ',')
			break;
		at++;
	}
	while (*at == ' ' || *at == '\n')
		at++;
	return *at ? -1 : 0;
}

static int parse_line(const char *line, struct query *q)
{
	unsigned a, b, c = 0;
	uint64_t from = 0, to = 0;
	char rest;
	int words = sscanf(line, "sl %u %u %" SCNx64 " %" SCNx64 " %c", &a, &b, &from, &to, &rest);
	int path = 0;

	if (sscanf(line, "vl %u %u %u%n", &a, &b, &c, &path) == 3 && b < 256 && c < 256
	    && !parse_path(line + path, q))
		q->kind = VL;
	else if (sscanf(line, "ft %u %u%n", &a, &b, &path) == 2 && b && b < 0xC000
		 && !parse_path(line + path, q))
		q->kind = FT;
	else if ((words == 2 || (words == 4 && from && to)) && b && b < 0xC000)
		q->kind = SL;
	else
		return -1;
	if (!a || a >= 0xC000)
		return -1;
	q->a = (uint16_t)a;
	q->b = (uint16_t)b;
	q->c = (uint16_t)c;
	q->guid[0] = from;
	q->guid[1] = to;
	return 0;
}

static int read_queries(struct run *r)
{
	size_t cap = 0;
	char line[512];

	while (fgets(line, sizeof line, stdin)) {
		if (r->count == cap) {
			struct query *grown;

			cap = cap ? 2 * cap : 4096;
			if (!(grown = realloc(r->query, cap * sizeof *grown)))
				return complain("out of memory");
			r->query = grown;
		}
		memset(&r->query[r->count], 0, sizeof *r->query);
		if (parse_line(line, &r->query[r->count])) {
			fprintf(stderr, "flyloom-readback: query %zu is not 'vl lid in out [path]',"
				" 'ft lid entry [path]' or 'sl source dest [guid guid]': %s", r->count + 1, line);
			return -1;
		}
		r->count++;
	}
	return 0;
}

static void print_answers(const struct run *r)
{
	size_t i, j;

	for (i = 0; i < r->count; i++) {
		const struct query *q = &r->query[i];

		if (q->refused)
			printf("-");
		for (j = 0; !q->refused && q->kind != SL && j < (q->kind == VL ? 8 : 1); j++)
			printf("%02x", q->answer[j]);
		if (!q->refused && q->kind == SL)
			printf("%u %u %u", q->answer[0], q->answer[1], q->answer[2]);
		printf("\n");
	}
}

static int open_fabric(struct run *r)
{
	umad_port_t port = {0};

	if (umad_init() || umad_get_port(NULL, 0, &port))
		return complain("no InfiniBand port here");
	r->sm_lid = (uint16_t)port.sm_lid;
	r->sm_sl = (uint8_t)port.sm_sl;
	umad_release_port(&port);
	if ((r->port = umad_open_port(NULL, 0)) < 0)
		return complain("cannot open the InfiniBand port");
	r->smp_agent = umad_register(r->port, BY_LID, 1, 0, NULL);
	r->path_agent = umad_register(r->port, BY_PATH, 1, 0, NULL);
	r->sa_agent = umad_register(r->port, 0x03, 2, 0, NULL);
	if (r->smp_agent < 0 || r->path_agent < 0 || r->sa_agent < 0)
		return complain("cannot register for management packets");
	r->umad = calloc(1, umad_size() + MAD_BYTES);
	return r->umad ? 0 : complain("out of memory");
}

int main(int argc, char **argv)
{
	struct run r = {.window = argc > 1 ? (unsigned)atoi(argv[1]) : 8, .port = -1};
	int rc;

	if (!r.window || r.window > WINDOW_MAX)
		return complain("the window must be 1..64 requests") ? 2 : 2;
	rc = read_queries(&r) || open_fabric(&r) || run_all(&r);
	if (!rc)
		print_answers(&r);
	if (r.port >= 0)
		umad_close_port(r.port);
	free(r.umad);
	free(r.query);
	return rc ? 1 : 0;
}
