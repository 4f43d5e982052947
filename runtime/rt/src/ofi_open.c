/* Transport "ofi": chooses a provider, and opens and closes an endpoint of it. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "ofi.h"
#include "progress.h"

int ofi_failed(const char *call, long code) {
    bool short_of = code == -FI_EMFILE || code == -FI_ENOMEM;
    return fly_fail(short_of ? FLY_ERR_NOMEM : FLY_ERR_TRANSPORT, "ofi: %s: %s%s", call,
                    fi_strerror((int)-code), code == -FI_EMFILE ? " (ulimit -n)" : "");
}

/* Whether a provider needs no registration of buffers and has an address. An IPv4 address that only
   reaches this machine is accepted only where there is no other (`own_too`). */
static bool usable(const struct fi_info *info, bool own_too) {
    if (info->domain_attr->mr_mode & FI_MR_LOCAL) return false;
    if (info->addr_format != FI_SOCKADDR_IN) return info->addr_format != FI_SOCKADDR_IN6;
    return info->src_addr != NULL && (own_too || ((const unsigned char *)info->src_addr)[4] != 127);
}

/* Opens the first endpoint that a provider offers; `writes`: one that also reaches memory. */
static int ask(struct ofi *ofi, const char *provider, bool writes) {
    struct fi_info *hints = fi_allocinfo(), *found = NULL;
    if (hints == NULL) return fly_fail(FLY_ERR_NOMEM, "ofi: no memory");
    hints->caps = FI_MSG | (writes ? FI_RMA : 0);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    if (writes)
        hints->domain_attr->mr_mode =
            FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->fabric_attr->prov_name = strdup(provider);
    int code = fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &found);
    fi_freeinfo(hints);
    if (code != 0) return ofi_failed(provider, code);
    for (int pass = 0; pass < 2; pass++)
        for (struct fi_info *one = found; one != NULL && ofi->info == NULL; one = one->next)
            if (usable(one, pass == 1)) ofi->info = fi_dupinfo(one);
    fi_freeinfo(found);
    return ofi->info != NULL ? FLY_OK
                             : fly_fail(FLY_ERR_TRANSPORT, "ofi: provider %s has no address that "
                                        "other nodes reach", provider);
}

int ofi_choose(struct ofi *ofi, const char *wanted) {
    static const char *const KNOWN[] = {"net", "tcp", "tcp;ofi_rxm"};
    size_t count = wanted != NULL ? 1 : sizeof KNOWN / sizeof *KNOWN;
    int code = FLY_ERR_TRANSPORT;
    for (size_t i = 0; i < count && code != FLY_OK; i++) {
        const char *name = wanted != NULL ? wanted : KNOWN[i];
        code = ask(ofi, name, true);
        if (code != FLY_OK) code = ask(ofi, name, false);
    }
    return code;
}

int ofi_open(struct ofi_end *end, struct fi_info *info, size_t events) {
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE, .size = events};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    int code = fi_fabric(info->fabric_attr, &end->fabric, NULL);
    if (code == 0) code = fi_domain(end->fabric, info, &end->domain, NULL);
    if (code == 0) code = fi_av_open(end->domain, &av, &end->av, NULL);
    if (code == 0) code = fi_cq_open(end->domain, &cq, &end->cq, NULL);
    if (code == 0) code = fi_endpoint(end->domain, info, &end->ep, NULL);
    if (code == 0) code = fi_ep_bind(end->ep, &end->av->fid, 0);
    if (code == 0) code = fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV);
    if (code == 0) code = fi_enable(end->ep);
    return code;
}

/* ofi_rxm over verbs (libfabric 1.17) returns the memory of a message that arrives while it closes
   a connection to that connection, which no longer exists: it crashes. Its internal messages, which
   grant buffers, arrive when it has looked for new connections, every 10 ms. */
bool ofi_is_hasty(const struct fi_info *info) {
    const char *name = info->fabric_attr->prov_name;
    return strstr(name, "verbs") != NULL && strstr(name, "ofi_rxm") != NULL;
}

void ofi_calm(struct ofi_end *end) {
    struct fi_cq_data_entry events[16];
    uint64_t until = fly_now_ns() + 30000000;
    while (fly_now_ns() < until) {
        fi_cq_read(end->cq, events, 16);
        sched_yield();
    }
}

void ofi_shut(struct ofi_end *end) {
    struct fid *opened[] = {end->ep ? &end->ep->fid : NULL, end->cq ? &end->cq->fid : NULL,
                            end->av ? &end->av->fid : NULL, end->domain ? &end->domain->fid : NULL,
                            end->fabric ? &end->fabric->fid : NULL};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (opened[i] != NULL) fi_close(opened[i]);
    *end = (struct ofi_end){0};
}

int ofi_register(struct ofi_end *end, const struct fi_info *info, void *base, size_t bytes,
                 uint64_t key, struct fid_mr **made) {
    int code = fi_mr_reg(end->domain, base, bytes, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, key, 0,
                         made, NULL);
    if (code != 0) return code;
    if ((info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
        code = fi_mr_bind(*made, &end->ep->fid, 0);
        if (code == 0) code = fi_mr_enable(*made);
    }
    if (code != 0) fi_close(&(*made)->fid);
    return code;
}

/* Smaller puts are messages, as measured (docs/runtime.md): a write with data is faster from the
   first byte on; a write with a message behind it only where that saves copies. */
enum { LEAST_DATA = 1, LEAST_BEHIND = 16384 };

static bool can(const struct ofi_facts *facts, enum ofi_path path) {
    switch (path) {
    case OFI_DATA: return facts->data;
    case OFI_BEHIND: return facts->writes && facts->behind;
    case OFI_DELIVERED: return facts->writes && facts->delivered;
    default: return true;
    }
}

int ofi_decide(struct ofi *ofi) {
    static const size_t LEAST[] = {
        [OFI_MESSAGE] = SIZE_MAX, [OFI_DATA] = LEAST_DATA, [OFI_BEHIND] = LEAST_BEHIND,
        [OFI_DELIVERED] = LEAST_BEHIND,
    };
    /* OFI_DELIVERED is not among them: the target would be notified only by the origin's next
       call. */
    static const enum ofi_path BEST[] = {OFI_DATA, OFI_BEHIND, OFI_MESSAGE};
    const struct fly_settings *settings = &ofi->base.rt->settings;
    struct ofi_facts *facts = &ofi->facts;
    ofi->delivers = facts->lands && facts->delivered && facts->data;
    if (settings->path != FLY_PATH_BEST) {
        bool narrow = settings->path == FLY_PATH_NARROW;
        ofi->path = narrow ? OFI_DATA : (enum ofi_path)(settings->path - FLY_PATH_MESSAGE);
        if (narrow) facts->data_bytes = 4;
        if (!can(facts, ofi->path))
            return fly_fail(FLY_ERR_TRANSPORT, "ofi: provider %s cannot take the path that "
                            "FLYLOOM_OFI_PATH names: %s", ofi->info->fabric_attr->prov_name,
                            facts->why);
    } else {
        size_t i = 0;
        while (!can(facts, BEST[i])) i++;
        ofi->path = BEST[i];
    }
    ofi->least = LEAST[ofi->path];
    ofi->least_behind = LEAST_BEHIND;
    if (settings->path_least != UINT64_MAX && ofi->path != OFI_MESSAGE)
        ofi->least = ofi->least_behind = settings->path_least;
    return FLY_OK;
}

size_t ofi_inside(const struct fly_carrier *c, int peer) {
    const struct ofi *ofi = (const struct ofi *)c;
    size_t least = ofi->peers[peer].writes ? ofi->least : SIZE_MAX;
    return least > FLY_INLINE ? FLY_INLINE : least == 0 ? 0 : least - 1;
}

void ofi_tell(const struct fly_carrier *c, int peer, char *text, size_t room) {
    static const char *const SAID[] = {
        [OFI_MESSAGE] = "messages, which the target copies",
        [OFI_DATA] = "writes that tell the target by their data",
        [OFI_BEHIND] = "writes, a message right behind each",
        [OFI_DELIVERED] = "writes, a message after each has been delivered",
    };
    const struct ofi *ofi = (const struct ofi *)c;
    enum ofi_path path = ofi->peers[peer].writes ? ofi->path : OFI_MESSAGE;
    int used = snprintf(text, room, "%s: %s", ofi->info->fabric_attr->prov_name, SAID[path]);
    if (path != OFI_MESSAGE && ofi->least > 1 && used > 0 && (size_t)used < room)
        used += snprintf(text + used, room - (size_t)used, "; below %zu B messages", ofi->least);
    if (ofi->facts.why[0] != 0 && used > 0 && (size_t)used < room)
        snprintf(text + used, room - (size_t)used, "; %s", ofi->facts.why);
}
