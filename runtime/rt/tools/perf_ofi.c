/* A notified put beside what libfabric needs three steps for: perf_ofi N
 *
 * The three steps: a write, the wait until it is delivered, and a message without bytes, on a
 * second endpoint of the provider that the library uses. Started twice with FLYLOOM_RANK,
 * FLYLOOM_SIZE=2 and FLYLOOM_BOOT. Prints rows as JSON.
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "perf.h"

enum { NAME_MOST = 128, RECEIVES = 16, BYTES = 8, METHODS = 3 };

/* What each end must know of the other. */
struct side {
    unsigned char name[NAME_MOST];
    uint64_t key, address;
};

struct end {
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    struct fid_mr *mr;
    void *desc;
    fi_addr_t other;
    struct side theirs;
    uint64_t memory[2]; /* where the other writes, and what is written there */
    struct fi_context2 wrote, receives[RECEIVES];
    bool written;
    int arrived;
};

static struct end e;

#define DONE(call)                                                                        \
    do {                                                                                  \
        long code_ = (long)(call);                                                        \
        if (code_ != 0) {                                                                 \
            fprintf(stderr, "perf_ofi: %s: %s\n", #call, fi_strerror((int)-code_));      \
            exit(3);                                                                      \
        }                                                                                 \
    } while (0)

/* Chooses as the library does: the first provider that works, with an address that others reach if
   there is one. */
static struct fi_info *choose(void) {
    static const char *const KNOWN[] = {"net", "tcp", "tcp;ofi_rxm"};
    const char *wanted = getenv("FLYLOOM_PROVIDER");
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        struct fi_info *hints = fi_allocinfo(), *found = NULL, *info = NULL;
        hints->caps = FI_MSG | FI_RMA;
        hints->mode = FI_CONTEXT | FI_CONTEXT2;
        hints->ep_attr->type = FI_EP_RDM;
        hints->domain_attr->mr_mode =
            FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
        hints->addr_format = FI_SOCKADDR_IN;
        hints->fabric_attr->prov_name = strdup(wanted != NULL ? wanted : KNOWN[i]);
        int code = fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &found);
        fi_freeinfo(hints);
        for (int own = 0; code == 0 && own < 2 && info == NULL; own++)
            for (struct fi_info *one = found; one != NULL && info == NULL; one = one->next)
                if (one->src_addr != NULL && (own || ((unsigned char *)one->src_addr)[4] != 127))
                    info = fi_dupinfo(one);
        fi_freeinfo(found);
        if (info != NULL || wanted != NULL) return info;
    }
    return NULL;
}

static void receive(struct fi_context2 *context) {
    DONE(fi_recv(e.ep, NULL, 0, NULL, FI_ADDR_UNSPEC, context));
}

static void open_end(struct fi_info *info, struct side *mine) {
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_NONE, .size = 256};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    size_t bytes = sizeof mine->name;
    DONE(fi_fabric(info->fabric_attr, &fabric, NULL));
    DONE(fi_domain(fabric, info, &domain, NULL));
    DONE(fi_av_open(domain, &av, &e.av, NULL));
    DONE(fi_cq_open(domain, &cq, &e.cq, NULL));
    DONE(fi_endpoint(domain, info, &e.ep, NULL));
    DONE(fi_ep_bind(e.ep, &e.av->fid, 0));
    DONE(fi_ep_bind(e.ep, &e.cq->fid, FI_TRANSMIT | FI_RECV));
    DONE(fi_enable(e.ep));
    DONE(fi_mr_reg(domain, e.memory, sizeof e.memory, FI_REMOTE_WRITE | FI_WRITE, 0, 7, 0, &e.mr,
                   NULL));
    DONE(fi_getname(&e.ep->fid, mine->name, &bytes));
    mine->key = fi_mr_key(e.mr);
    mine->address =
        info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)e.memory : 0;
    e.desc = info->domain_attr->mr_mode & FI_MR_LOCAL ? fi_mr_desc(e.mr) : NULL;
    for (int i = 0; i < RECEIVES; i++) receive(&e.receives[i]);
}

/* Exchanges names through a window of the library. */
static void meet(struct perf *p, const struct side *mine) {
    fly_win *win;
    void *base;
    CHECKED(fly_win_allocate(fly_world(p->rt), sizeof *mine, 1, 0, &base, &win));
    CHECKED(fly_put(win, mine, sizeof *mine, 1 - p->rank, 0));
    CHECKED(fly_fence(win));
    memcpy(&e.theirs, base, sizeof e.theirs);
    CHECKED(fly_win_free(&win));
    if (fi_av_insert(e.av, e.theirs.name, 1, &e.other, 0, NULL) != 1) exit(3);
}

static void look(void) {
    struct fi_cq_entry one;
    ssize_t got = fi_cq_read(e.cq, &one, 1);
    if (got == -FI_EAGAIN) return;
    if (got != 1) {
        fprintf(stderr, "perf_ofi: fi_cq_read: %s\n", fi_strerror((int)-got));
        exit(3);
    }
    if (one.op_context == &e.wrote) {
        e.written = true;
    } else {
        e.arrived++;
        receive(one.op_context);
    }
}

static void three_send(struct perf *p, uint64_t n, size_t bytes) {
    struct iovec from = {&e.memory[1], bytes};
    struct fi_rma_iov to = {e.theirs.address, bytes, e.theirs.key};
    struct fi_msg_rma what = {.msg_iov = &from, .desc = &e.desc, .iov_count = 1, .addr = e.other,
                              .rma_iov = &to, .rma_iov_count = 1, .context = &e.wrote};
    ssize_t code;
    (void)p;
    e.memory[1] = n;
    e.written = false;
    while ((code = fi_writemsg(e.ep, &what, FI_DELIVERY_COMPLETE | FI_COMPLETION)) == -FI_EAGAIN)
        look();
    DONE(code);
    while (!e.written) look();
    while ((code = fi_inject(e.ep, NULL, 0, e.other)) == -FI_EAGAIN) look();
    DONE(code);
}

static void three_wait(struct perf *p, uint64_t n, size_t bytes) {
    (void)p;
    (void)bytes;
    while (e.arrived == 0) look();
    e.arrived--;
    if (*(volatile uint64_t *)e.memory == n) return;
    fprintf(stderr, "perf_ofi: number %llu is not there\n", (unsigned long long)n);
    exit(3);
}

int main(int count, char **words) {
    struct perf p = {.json = true, .bytes_most = BYTES};
    struct side mine = {0};
    struct perf_times times[METHODS];
    const char *rank = getenv("FLYLOOM_RANK");
    struct fi_info *info = choose();
    p.repetitions = count > 1 ? strtoull(words[1], NULL, 10) : 10000;
    if (rank == NULL || info == NULL) {
        fprintf(stderr, "perf_ofi: %s\n", rank == NULL ? "FLYLOOM_RANK is not set"
                                                       : "no provider writes into memory");
        return 2;
    }
    perf_apart(atoi(rank));
    if (perf_open(NULL, "ofi", &p) != FLY_OK) {
        fprintf(stderr, "perf_ofi: %s\n", fly_last_error(NULL));
        return 2;
    }
    open_end(info, &mine);
    meet(&p, &mine);
    struct perf_method methods[METHODS] = {perf_notified,
                                  {"write, completion, message", three_send, three_wait, 0, 0}};
    p.raw = perf_sockets(&p);
    int method_count = p.raw != NULL ? METHODS : METHODS - 1;
    if (p.raw != NULL) methods[METHODS - 1] = *p.raw;
    perf_latency(&p, methods, method_count, BYTES, times);
    double raw = p.raw != NULL ? times[METHODS - 1].median_ns : 0;
    for (int w = 0; w < method_count; w++) perf_row(&p, methods[w].name, BYTES, &times[w], raw);
    return perf_close(&p) == FLY_OK ? 0 : 3;
}
