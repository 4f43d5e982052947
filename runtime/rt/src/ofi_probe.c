/* Transport "ofi": finds by trial what a provider's writes do, between two endpoints of it.
 *
 * Providers' claims cannot be relied on: some cut the data of completions, some report a delivery
 * before it has happened, some only progress on their own while somebody sleeps for completions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>

#include "ofi.h"
#include "progress.h"

static const uint64_t LIMIT_NS = 2000000000, ALONE_NS = 40000000;
static const uint64_t DATA = UINT64_C(0xA5C3960F1E2D4B78);
enum { WORDS = 1024, QUEUED = 64 };

struct trial {
    struct ofi_end from, to;
    struct fid_mr *mr;
    fi_addr_t other;
    uint64_t base, key;
    uint64_t target[WORDS], source[WORDS];
    struct fi_context2 context, taking, giving;
    int written, events; /* write completions here; remote data events there */
    uint64_t data;
    int error;
};

static void look_at(struct trial *t, struct ofi_end *end) {
    struct fi_cq_data_entry one;
    ssize_t got = fi_cq_read(end->cq, &one, 1);
    if (got == 1 && ofi_is_event(&one)) {
        t->events++;
        t->data = one.data;
    } else if (got == 1) {
        t->written++;
    } else if (got == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        if (fi_cq_readerr(end->cq, &error, 0) > 0) t->error = error.err != 0 ? error.err : FI_EIO;
    } else if (got < 0 && got != -FI_EAGAIN) {
        t->error = (int)-got;
    }
}

static int start(struct trial *t, uint64_t value, uint64_t flags) {
    for (int i = 0; i < WORDS; i++) t->source[i] = value;
    struct iovec iov = {t->source, sizeof t->source};
    struct fi_rma_iov to = {t->base, sizeof t->target, t->key};
    struct fi_msg_rma what = {.msg_iov = &iov, .iov_count = 1, .addr = t->other, .rma_iov = &to,
                              .rma_iov_count = 1, .context = &t->context, .data = DATA};
    uint64_t end = fly_now_ns() + LIMIT_NS;
    ssize_t code;
    t->written = t->events = t->error = 0;
    while ((code = fi_writemsg(t->from.ep, &what, flags | FI_COMPLETION)) == -FI_EAGAIN &&
           fly_now_ns() < end && t->error == 0) {
        look_at(t, &t->from);
        look_at(t, &t->to);
    }
    return code != 0 ? (int)-code : t->error;
}

/* Polls until the awaited events have come, or an error, or the time is over. */
static int await(struct trial *t, int events, uint64_t limit_ns) {
    uint64_t end = fly_now_ns() + limit_ns;
    while ((t->written == 0 || t->events < events) && t->error == 0 && fly_now_ns() < end) {
        look_at(t, &t->from);
        look_at(t, &t->to);
        sched_yield();
    }
    return t->error != 0 ? t->error : t->written == 0 || t->events < events ? FI_ETIMEDOUT : 0;
}

static bool there(struct trial *t, uint64_t value) {
    for (int i = 0; i < WORDS; i++)
        if (__atomic_load_n(&t->target[i], __ATOMIC_ACQUIRE) != value) return false;
    return true;
}

static void add(struct ofi_facts *facts, const char *text, int error) {
    size_t used = strlen(facts->why);
    snprintf(facts->why + used, sizeof facts->why - used, "%s%s%s%s", used != 0 ? "; " : "", text,
             error != 0 ? ": " : "", error != 0 ? fi_strerror(error) : "");
}

static int open_both(struct trial *t, struct fi_info *info) {
    unsigned char name[128];
    size_t bytes = sizeof name;
    int code = ofi_open(&t->from, info, 64);
    if (code == 0) code = ofi_open(&t->to, info, 64);
    if (code == 0) code = ofi_register(&t->to, info, t->target, sizeof t->target, 1, &t->mr);
    if (code == 0) code = fi_getname(&t->to.ep->fid, name, &bytes);
    if (code == 0 && fi_av_insert(t->from.av, name, 1, &t->other, 0, NULL) != 1)
        code = -FI_EADDRNOTAVAIL;
    if (code != 0) return -code;
    t->key = fi_mr_key(t->mr);
    if ((info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0)
        t->base = (uint64_t)(uintptr_t)t->target;
    return 0;
}

/* Whether a write's data arrives whole, and not before its bytes. */
static void try_data(struct trial *t, const struct fi_info *info, struct ofi_facts *facts) {
    uint64_t mask = facts->data_bytes < 8 ? UINT32_MAX : UINT64_MAX;
    if (info->domain_attr->cq_data_size < 4) {
        char text[64];
        snprintf(text, sizeof text, "writes carry %zu bytes of data, not 4",
                 info->domain_attr->cq_data_size);
        add(facts, text, 0);
        return;
    }
    int error = start(t, 2, FI_REMOTE_CQ_DATA);
    if (error == 0) error = await(t, 1, LIMIT_NS);
    if (error != 0) {
        add(facts, "writes with data", error);
    } else if ((t->data & mask) != (DATA & mask)) {
        add(facts, "data of writes comes cut", 0);
    } else if (!there(t, 2)) {
        add(facts, "data of writes comes before their bytes", 0);
    } else {
        facts->data = true;
    }
}

/* Whether a completed delivery is in memory, and happens while the target makes no call. */
static void try_delivery(struct trial *t, const struct fi_info *info, struct ofi_facts *facts) {
    int error = start(t, 3, FI_DELIVERY_COMPLETE);
    bool claims = info->domain_attr->data_progress == FI_PROGRESS_AUTO;
    uint64_t end = fly_now_ns() + (claims ? ALONE_NS : ALONE_NS / 4);
    while (error == 0 && t->written == 0 && t->error == 0 && fly_now_ns() < end) {
        look_at(t, &t->from);
        sched_yield();
    }
    bool early = t->written != 0 && !there(t, 3);
    facts->lands = t->written != 0 && !early;
    if (error == 0) error = await(t, 0, LIMIT_NS);
    if (error != 0)
        add(facts, "delivered writes", error);
    else if (early || !there(t, 3))
        add(facts, "writes are called delivered before they are", 0);
    else
        facts->delivered = true;
    if (!facts->lands)
        add(facts, claims ? "bytes land only while the target calls the library, whatever it says"
                          : "bytes land only while the target calls the library", 0);
}

/* Sends a message back, which arrives after all that the target's provider has sent by itself. */
static void part(struct trial *t) {
    fi_addr_t back;
    unsigned char name[128];
    size_t bytes = sizeof name;
    uint64_t end = fly_now_ns() + LIMIT_NS;
    ssize_t code = fi_getname(&t->from.ep->fid, name, &bytes);
    if (code != 0 || fi_av_insert(t->to.av, name, 1, &back, 0, NULL) != 1 ||
        fi_recv(t->from.ep, t->source, 8, NULL, FI_ADDR_UNSPEC, &t->taking) != 0)
        return;
    t->written = t->error = 0;
    code = -FI_EAGAIN;
    while ((code == -FI_EAGAIN || (code == 0 && t->written < 2)) && fly_now_ns() < end) {
        if (code != 0) code = fi_send(t->to.ep, t->target, 8, NULL, back, &t->giving);
        look_at(t, &t->from);
        look_at(t, &t->to);
    }
    ofi_calm(&t->to);
}

void ofi_probe(struct fi_info *info, struct ofi_facts *facts) {
    /* All ends must read data alike, so its size does not depend on what the trial finds. */
    *facts = (struct ofi_facts){.data_bytes = info->domain_attr->cq_data_size < 8 ? 4 : 8};
    if ((info->caps & FI_RMA) == 0) {
        add(facts, "it has no writes", 0);
        return;
    }
    if (info->domain_attr->mr_key_size > 8 || (info->domain_attr->mr_mode & FI_MR_RAW) != 0) {
        add(facts, "its keys of memory are longer than 8 bytes", 0);
        return;
    }
    struct trial *t = calloc(1, sizeof *t);
    struct fi_info *small = fi_dupinfo(info); /* some allocate for all in flight */
    if (t == NULL || small == NULL) {
        free(t);
        return;
    }
    if (small->tx_attr->size > QUEUED) small->tx_attr->size = QUEUED;
    if (small->rx_attr->size > QUEUED) small->rx_attr->size = QUEUED;
    int error = open_both(t, small);
    if (error == 0) error = start(t, 1, 0);
    if (error == 0) error = await(t, 0, LIMIT_NS);
    if (error == 0) {
        facts->writes = true;
        uint64_t order = info->tx_attr->msg_order & info->rx_attr->msg_order;
        facts->behind = (order & FI_ORDER_SAW) != 0;
        facts->in_order = (~order & (FI_ORDER_WAW | FI_ORDER_RAW)) == 0 &&
                          info->ep_attr->max_order_waw_size >= info->ep_attr->max_msg_size &&
                          info->ep_attr->max_order_raw_size >= info->ep_attr->max_msg_size;
        try_data(t, info, facts);
        try_delivery(t, info, facts);
        if (!facts->behind) add(facts, "messages may overtake writes", 0);
    } else {
        add(facts, "no write to itself came about", error);
    }
    if (facts->writes && ofi_is_hasty(info)) part(t);
    if (t->mr != NULL) fi_close(&t->mr->fid);
    ofi_shut(&t->from);
    ofi_shut(&t->to);
    fi_freeinfo(small);
    free(t);
}
