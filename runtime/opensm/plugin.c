/* plugin.c: OpenSM's external routing engine "flyloom", which installs the tables of one file.
 *
 * For an unmodified OpenSM 3.3.23 with these lines in its configuration:
 *
 *   event_plugin_name flyloom_opensm         libflyloom_opensm.so is on LD_LIBRARY_PATH
 *   event_plugin_options /path/of/tables     format: tables.h
 *   routing_engine flyloom,no_fallback
 *   qos TRUE                                 without it OpenSM programs no SL2VL tables
 *
 * The file is read anew at every routing (start, SIGHUP, a changed link). A file that does not fit
 * the fabric fails the engine with a message in OpenSM's log: the switches keep their tables, and
 * OpenSM gives out no path records (a path without its SL could deadlock) until a SIGHUP finds a
 * good file. LIDs must be those of the file: pin them with guid2lid.
 */
#define _GNU_SOURCE /* OpenSM's headers use pthread_rwlock_t */
#include "tables.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <complib/cl_qmap.h>
#include <opensm/osm_config.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

#define REFUSED "ERR FL01: " /* nothing is installed */
#define WARNED "ERR FL02: "  /* installed, but some routes are dead */
#define SHOWN_MAX 5          /* findings of one kind spelt out in the log */

struct engine {
	osm_opensm_t *osm;
	struct flt *tables;                   /* the installed file, NULL before the first */
	int16_t switch_of[FLT_LID_MAX + 1];   /* LID -> its switch in `tables`, or FLT_NO_SWITCH */
};

/* Counts what is unusual about one file on this fabric. */
struct findings {
	const struct engine *engine;
	unsigned long fatal, warned;
};

__attribute__((format(printf, 3, 4)))
static void say(const struct engine *e, osm_log_level_t level, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	osm_log(&e->osm->log, level, "flyloom: %s\n", text);
}

__attribute__((format(printf, 2, 3)))
static void refuse(struct findings *f, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (f->fatal++ >= SHOWN_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	say(f->engine, OSM_LOG_ERROR, REFUSED "%s: %s",
	    f->engine->osm->subn.opt.event_plugin_options, text);
}

/* ---- walks over the fabric ---- */

typedef void visit_switch(struct findings *f, const struct flt *t, osm_switch_t *sw, int index);

/* Visits each switch of the fabric that the file has; order by GUID. */
static void each_switch(struct findings *f, const struct flt *t, visit_switch *visit)
{
	cl_qmap_t *all = &f->engine->osm->subn.sw_guid_tbl;
	cl_map_item_t *item;

	for (item = cl_qmap_head(all); item != cl_qmap_end(all); item = cl_qmap_next(item)) {
		osm_switch_t *sw = (osm_switch_t *)item;
		int index = flt_find(t, cl_ntoh64(osm_node_get_node_guid(sw->p_node)));

		if (index != FLT_NO_SWITCH)
			visit(f, t, sw, index);
	}
}

/* The port at the other end of a cable, or NULL. */
static osm_physp_t *far_end(osm_physp_t *port)
{
	return port && osm_physp_is_valid(port) ? osm_physp_get_remote(port) : NULL;
}

/* ---- checks of a new file against the fabric ---- */

static void check_switches(struct findings *f, const struct flt *t)
{
	const osm_subn_t *subn = &f->engine->osm->subn;
	cl_qmap_t *all = (cl_qmap_t *)&subn->sw_guid_tbl;
	cl_map_item_t *item;
	unsigned long absent = 0;
	size_t i;

	for (item = cl_qmap_head(all); item != cl_qmap_end(all); item = cl_qmap_next(item)) {
		uint64_t guid = cl_ntoh64(osm_node_get_node_guid(((osm_switch_t *)item)->p_node));

		if (flt_find(t, guid) == FLT_NO_SWITCH)
			refuse(f, "the fabric has switch 0x%016" PRIx64 ", the file has no lft record of it:"
			       " make tables for the fabric as it is", guid);
	}
	for (i = 0; i < flt_switches(t); i++)
		if (!osm_get_switch_by_guid(subn, cl_hton64(flt_guid(t, (int)i))) &&
		    absent++ < SHOWN_MAX)
			say(f->engine, OSM_LOG_INFO, "switch 0x%016" PRIx64
			    " of the file is not in the fabric", flt_guid(t, (int)i));
	if (absent)
		say(f->engine, OSM_LOG_INFO, "%lu switches of the file are not in the fabric", absent);
}

/* `sl from` must mean an endpoint's port that has just these LIDs. */
static void check_sources(struct findings *f, const struct flt *t)
{
	unsigned lid, width = 1u << flt_lmc(t);

	for (lid = 1; lid <= FLT_LID_MAX; lid++) {
		osm_port_t *owner = osm_get_port_by_lid_ho(&f->engine->osm->subn, (uint16_t)lid);
		unsigned first = lid / width * width;

		if (owner && flt_has_source(t, first) &&
		    (osm_node_get_type(owner->p_node) == IB_NODE_TYPE_SWITCH ||
		     cl_ntoh16(osm_port_get_base_lid(owner)) != first))
			refuse(f, "has levels of paths from LID %u, LID %u is no such endpoint's: pin the LIDs"
			       " of the file with guid2lid", first, lid);
	}
}

static void check_ports(struct findings *f, const struct flt *t, osm_switch_t *sw, int index)
{
	unsigned own = cl_ntoh16(osm_node_get_base_lid(sw->p_node, 0)), lid;
	uint64_t guid = flt_guid(t, index);

	for (lid = 1; lid <= sw->max_lid_ho; lid++) {
		uint8_t port = flt_port(t, index, lid);

		if (port == FLT_NO_ROUTE)
			continue;
		if (port >= sw->num_ports)
			refuse(f, "switch 0x%016" PRIx64 " LID %u goes to port %u, must be 0..%u", guid, lid,
			       port, sw->num_ports - 1u);
		if (port == 0 && lid != own)
			refuse(f, "switch 0x%016" PRIx64 " takes LID %u as its own, its LID is %u: pin the"
			       " LIDs of the file with guid2lid", guid, lid, own);
	}
	lid = own;
	if (lid && lid <= FLT_LID_MAX && flt_port(t, index, lid) != 0)
		refuse(f, "switch 0x%016" PRIx64 " has LID %u, its port to itself must be 0: pin the LIDs"
		       " of the file with guid2lid", guid, lid);
}

/* Data lanes of a VLCap or max_op_vls code 1..5 (InfiniBand 14.2.5.6). */
static unsigned lanes_of_code(unsigned code)
{
	static const unsigned lanes[6] = {15, 1, 2, 4, 8, 15};

	return lanes[code < 6 ? code : 5];
}

/* Data lanes that OpenSM will run on the cable at this port; both ends are valid. */
static unsigned lanes_of_cable(const struct findings *f, osm_physp_t *near, osm_physp_t *far)
{
	unsigned a = lanes_of_code(ib_port_info_get_vl_cap(&near->port_info));
	unsigned b = lanes_of_code(ib_port_info_get_vl_cap(&far->port_info));
	unsigned most = lanes_of_code(f->engine->osm->subn.opt.max_op_vls);

	a = a < b ? a : b;
	return a < most ? a : most;
}

/* The first SL in use that the table sends to a lane which is not there, or -1. */
static int stray_sl(const uint8_t vl[8], unsigned used, unsigned lanes)
{
	int sl;

	for (sl = 0; sl < 16; sl++) {
		unsigned lane = sl % 2 ? vl[sl / 2] & 15u : vl[sl / 2] >> 4;

		if (used & 1u << sl && lane >= lanes && lane != 15)
			return sl;
	}
	return -1;
}

/* OpenSM would silently mask lanes that a link lacks: two lanes become one, and may deadlock. */
static void check_lanes(struct findings *f, const struct flt *t, osm_switch_t *sw, int index)
{
	unsigned in, out, used = flt_sls_used(t);
	uint8_t vl[8];

	for (out = 1; out < sw->num_ports; out++) {
		osm_physp_t *near = osm_node_get_physp_ptr(sw->p_node, out), *far = far_end(near);
		unsigned lanes = far ? lanes_of_cable(f, near, far) : 0;
		bool to_switch = far && osm_node_get_type(far->p_node) == IB_NODE_TYPE_SWITCH;
		int sl;

		for (in = 1; far && in < sw->num_ports; in++) {
			if (!far_end(osm_node_get_physp_ptr(sw->p_node, in)))
				continue;
			flt_sl2vl(t, index, in, out, vl);
			if ((sl = stray_sl(vl, used, lanes)) >= 0)
				refuse(f, "switch 0x%016" PRIx64 " sends SL %d from port %u to port %u on a VL"
				       " that the link lacks, it has VL0..VL%u: make tables for fewer lanes",
				       flt_guid(t, index), sl, in, out, lanes - 1);
		}
		flt_sl2vl(t, FLT_NO_SWITCH, 0, 0, vl);
		if (far && !to_switch && (sl = stray_sl(vl, used, lanes)) >= 0)
			refuse(f, "endpoints send SL %d on a VL that the link to switch 0x%016" PRIx64
			       " port %u lacks, it has VL0..VL%u: make tables for fewer lanes", sl,
			       flt_guid(t, index), out, lanes - 1);
	}
}

static void warn(struct findings *f, uint64_t guid, unsigned lid, const char *what)
{
	if (f->warned++ < SHOWN_MAX)
		say(f->engine, OSM_LOG_ERROR, WARNED "switch 0x%016" PRIx64 " LID %u: %s", guid, lid, what);
}

/* Reports what no file can help (a dead cable, a new endpoint); the rest is installed. */
static void warn_routes(struct findings *f, const struct flt *t, osm_switch_t *sw, int index)
{
	const osm_subn_t *subn = &f->engine->osm->subn;
	unsigned lid;

	for (lid = 1; lid <= sw->max_lid_ho; lid++) {
		uint8_t port = flt_port(t, index, lid);
		osm_port_t *owner = osm_get_port_by_lid_ho(subn, (uint16_t)lid);
		osm_physp_t *far;

		if (!owner)
			continue;
		far = far_end(owner->p_physp);
		if (port == FLT_NO_ROUTE)
			warn(f, flt_guid(t, index), lid, "the fabric has this LID, the file has no route");
		else if (port && !far_end(osm_node_get_physp_ptr(sw->p_node, port)))
			warn(f, flt_guid(t, index), lid, "the route's port has no working cable");
		else if (far && far->p_node == sw->p_node && port &&
			 osm_node_get_type(owner->p_node) != IB_NODE_TYPE_SWITCH &&
			 far->port_num != port)
			warn(f, flt_guid(t, index), lid, "the LID's endpoint is at another port");
	}
}

/* Whether the file may be installed; says in the log why not. */
static bool fits(const struct engine *e, const struct flt *t)
{
	const osm_subn_opt_t *opt = &e->osm->subn.opt;
	struct findings f = {.engine = e};

	if (flt_lmc(t) != opt->lmc)
		refuse(&f, "made for LMC %u, OpenSM runs with LMC %u: start it with -l %u", flt_lmc(t),
		       opt->lmc, flt_lmc(t));
	if (!opt->qos)
		refuse(&f, "has SL2VL tables, OpenSM installs them only with QoS on: set qos TRUE");
	check_switches(&f, t);
	each_switch(&f, t, check_ports);
	check_sources(&f, t);
	each_switch(&f, t, check_lanes);
	if (f.fatal) {
		say(e, OSM_LOG_ERROR, REFUSED "%s: %lu defects, the tables are not installed",
		    opt->event_plugin_options, f.fatal);
		return false;
	}
	each_switch(&f, t, warn_routes);
	if (f.warned)
		say(e, OSM_LOG_ERROR, WARNED "%s: %lu routes do not fit the fabric, the tables are installed",
		    opt->event_plugin_options, f.warned);
	return true;
}

/* ---- the engine's callbacks ---- */

static void fill(struct findings *f, const struct flt *t, osm_switch_t *sw, int index)
{
	unsigned lid, stop = (unsigned)sw->max_lid_ho + 1;

	(void)f;
	if (stop > sw->lft_size)
		stop = sw->lft_size;
	memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
	for (lid = 1; lid < stop; lid++)
		sw->new_lft[lid] = flt_port(t, index, lid);
}

/* Notes at which switch each LID is: path_sl is asked by LID alone. */
static void place_lids(struct engine *e)
{
	cl_qmap_t *all = &e->osm->subn.port_guid_tbl;
	cl_map_item_t *item;
	size_t i;

	for (i = 0; i <= FLT_LID_MAX; i++)
		e->switch_of[i] = FLT_NO_SWITCH;
	for (item = cl_qmap_head(all); item != cl_qmap_end(all); item = cl_qmap_next(item)) {
		osm_port_t *port = (osm_port_t *)item;
		osm_physp_t *far = far_end(port->p_physp);
		const osm_node_t *node = port->p_node;
		uint16_t lid, last;

		if (osm_node_get_type(node) != IB_NODE_TYPE_SWITCH)
			node = far ? far->p_node : NULL;
		if (!node || osm_node_get_type(node) != IB_NODE_TYPE_SWITCH)
			continue;
		osm_port_get_lid_range_ho(port, &lid, &last);
		for (; lid && lid <= last && lid <= FLT_LID_MAX; lid++)
			e->switch_of[lid] =
				(int16_t)flt_find(e->tables, cl_ntoh64(osm_node_get_node_guid(node)));
	}
}

static int build_tables(void *context)
{
	struct engine *e = context;
	const char *path = e->osm->subn.opt.event_plugin_options;
	struct findings f = {.engine = e};
	struct flt *fresh;
	struct stat file = {0};
	char err[512];

	if (!path || !*path) {
		say(e, OSM_LOG_ERROR, REFUSED "no table file, set event_plugin_options to its path");
		return -1; /* negative: a positive value would make OpenSM route by min hop */
	}
	/* before it is read: whoever replaced the file finds its number below only if it was read */
	if (stat(path, &file))
		file.st_ino = 0; /* flt_load says why */
	if (flt_load(path, &fresh, err, sizeof err)) {
		say(e, OSM_LOG_ERROR, REFUSED "%s", err);
		return -1;
	}
	if (flt_switches(fresh) > INT16_MAX) {
		say(e, OSM_LOG_ERROR, REFUSED "%s: more than %d switches", path, INT16_MAX);
		flt_free(fresh);
		return -1;
	}
	if (!fits(e, fresh)) {
		flt_free(fresh);
		return -1;
	}
	flt_free(e->tables);
	e->tables = fresh;
	each_switch(&f, fresh, fill);
	place_lids(e);
	say(e, OSM_LOG_INFO, "%s: tables of %zu switches installed, inode %ju", path,
	    flt_switches(fresh), (uintmax_t)file.st_ino);
	return 0;
}

static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
			 ib_slvl_table_t *table)
{
	struct engine *e = context;
	const osm_node_t *node = osm_physp_get_node_ptr(port);
	int sw = FLT_NO_SWITCH;

	if (!e->tables)
		return;
	if (osm_node_get_type(node) == IB_NODE_TYPE_SWITCH) {
		sw = flt_find(e->tables, cl_ntoh64(osm_node_get_node_guid(node)));
		if (sw == FLT_NO_SWITCH)
			return;
	}
	flt_sl2vl(e->tables, sw, in, out, table->raw_vl_by_sl);
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	struct engine *e = context;
	uint16_t from = cl_ntoh16(slid), to = cl_ntoh16(dlid);
	uint8_t sl = FLT_NO_SL;

	if (e->tables && from <= FLT_LID_MAX)
		sl = flt_sl(e->tables, e->switch_of[from], from, to);
	return sl == FLT_NO_SL ? hint : sl;
}

static int setup(struct osm_routing_engine *re, struct osm_opensm *osm)
{
	(void)osm; /* re->context is the engine already */
	re->ucast_build_fwd_tables = build_tables;
	re->update_sl2vl = update_sl2vl;
	re->path_sl = path_sl;
	return 0;
}

/* ---- the plug-in ---- */

static void *create(struct osm_opensm *osm)
{
	static external_routing_engine_module_t module = {.name = "flyloom", .setup = setup};
	struct engine *e = calloc(1, sizeof *e);
	size_t i;

	if (!e)
		return NULL;
	e->osm = osm;
	for (i = 0; i <= FLT_LID_MAX; i++)
		e->switch_of[i] = FLT_NO_SWITCH;
	if (osm_register_external_routing_engine(osm, &module, e) != CL_SUCCESS) {
		say(e, OSM_LOG_ERROR, REFUSED "OpenSM does not take the routing engine");
		free(e);
		return NULL;
	}
	return e;
}

static void delete(void *data)
{
	struct engine *e = data;

	if (e)
		flt_free(e->tables);
	free(e);
}

/* What OpenSM looks for in the library. */
extern osm_event_plugin_t osm_event_plugin;
__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
};
