/* Transport "ofi": lends memory, and runs the writes and reads that need no help of the target. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "ofi.h"
#include "progress.h"

/* The words of a loan: the key, the address that offsets count from, and LENT | window's slot. */
enum { LOAN_KEY, LOAN_BASE, LOAN_SLOT };
static const uint64_t LENT = 1 << 16;
/* The slot of windows beyond the last one: they can be written without completion data only. */
enum { NO_SLOT = OFI_SLOTS };
/* Up to this many bytes of a write are copied, so that the user's memory is free at once. */
enum { COPIED = 4096 };

struct loan {
    struct fid_mr *mr;
    unsigned slot;
};

void ofi_lend(struct fly_carrier *c, struct fly_win *win, uint64_t loan[FLY_LOAN_WORDS]) {
    struct ofi *ofi = (struct ofi *)c;
    if (!ofi->facts.writes || win->bytes == 0) return;
    struct loan *lent = calloc(1, sizeof *lent);
    if (lent == NULL || ofi_register(&ofi->end, ofi->info, win->base, win->bytes, ++ofi->keys,
                                     &lent->mr) != 0) {
        free(lent); /* messages need no registration */
        return;
    }
    unsigned named = 1U << ofi->layout.slot;
    while (lent->slot < named && ofi->slots[lent->slot].used) lent->slot++;
    if (lent->slot == named) lent->slot = NO_SLOT;
    if (lent->slot < NO_SLOT) ofi->slots[lent->slot] = (struct ofi_slot){win, true};
    bool absolute = (ofi->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    loan[LOAN_KEY] = fi_mr_key(lent->mr);
    loan[LOAN_BASE] = absolute ? (uint64_t)(uintptr_t)win->base : 0;
    loan[LOAN_SLOT] = LENT | lent->slot;
    win->lent = lent;
}

/* Usually everything in flight to a window has ended by now. But if a process has died, others may
   not know it yet and still write, or its last bytes may arrive while the window is closed. */
static void settle(struct ofi *ofi) {
    uint64_t end = fly_now_ns() + 20000000;
    while (fly_now_ns() < end) ofi_poll(&ofi->base);
}

void ofi_reclaim(struct fly_carrier *c, struct fly_win *win) {
    struct ofi *ofi = (struct ofi *)c;
    struct loan *lent = win->lent;
    bool deaths = c->rt->deaths != 0;
    if (lent->slot < NO_SLOT) /* the slot of a late write is not reused */
        ofi->slots[lent->slot] = (struct ofi_slot){NULL, deaths};
    if (deaths) settle(ofi);
    fi_close(&lent->mr->fid);
    free(lent);
    win->lent = NULL;
}

static bool by_data(const struct ofi *ofi, const uint64_t *loan, int tag) {
    return ofi->path == OFI_DATA && (loan[LOAN_SLOT] & ~LENT) != NO_SLOT &&
           ofi_fits(&ofi->layout, tag == FLY_NO_TAG ? 0 : (uint32_t)tag,
                    (uint32_t)ofi->base.rt->rank);
}

enum fly_transfer ofi_transfer(struct fly_carrier *c, int peer, const struct fly_packet *packet,
                               const uint64_t *loan, size_t bytes) {
    struct ofi *ofi = (struct ofi *)c;
    struct ofi_peer *to = &ofi->peers[peer];
    if (bytes < ofi->least || bytes == 0 || bytes > ofi->info->ep_attr->max_msg_size ||
        loan[LOAN_SLOT] == 0 || !to->writes || !ofi_order_free(to, packet))
        return FLY_TRANSFER_MESSAGE;
    if (packet->kind == FLY_K_GET) return FLY_TRANSFER_KEPT;
    /* If the completion data is too small, a message behind the write notifies, where possible. */
    if (ofi->path == OFI_DATA && !by_data(ofi, loan, packet->tag) &&
        (!ofi->facts.behind || bytes < ofi->least_behind))
        return FLY_TRANSFER_MESSAGE;
    return bytes <= COPIED && !ofi->delivers ? FLY_TRANSFER_COPIED : FLY_TRANSFER_KEPT;
}

static struct ofi_op *op_for(struct ofi *ofi, enum ofi_kind kind, int peer,
                             const struct fly_packet *packet, const uint64_t *loan, void *here,
                             size_t bytes, uint32_t token) {
    struct ofi_op *op = ofi_op_new(ofi, kind, peer);
    if (op == NULL) return NULL;
    op->here = here;
    op->bytes = bytes;
    op->there = loan[LOAN_BASE] + packet->move.offset;
    op->key = loan[LOAN_KEY];
    op->token = token;
    op->note = *packet;
    op->with_data = op->behind = op->notes = false;
    return op;
}

static uint64_t notice_of(const struct ofi *ofi, const struct fly_packet *packet,
                          const uint64_t *loan, uint32_t number) {
    struct ofi_notice notice = {.rank = (uint32_t)ofi->base.rt->rank, .number = number};
    notice.tag = packet->tag == FLY_NO_TAG ? ofi_no_tag(&ofi->layout) : (uint32_t)packet->tag;
    notice.slot = (uint32_t)(loan[LOAN_SLOT] & ~LENT);
    return ofi_pack(&ofi->layout, &notice);
}

/* Writes bytes that the provider copies at once, without a completion. false: it must wait. */
static bool inject(struct ofi *ofi, int peer, const struct fly_packet *packet,
                   const uint64_t *loan, const void *src, size_t bytes, uint32_t number) {
    if (ofi->peers[peer].busy != 0 || bytes > ofi->info->tx_attr->inject_size ||
        ofi->delivers || ofi_lost(ofi, peer))
        return false;
    return fi_inject_writedata(ofi->end.ep, src, bytes, notice_of(ofi, packet, loan, number),
                               ofi->peers[peer].address, loan[LOAN_BASE] + packet->move.offset,
                               loan[LOAN_KEY]) == 0;
}

/* Writes, and notifies the target by a message sent right behind the write, or after it is done. */
static int write_and_tell(struct ofi *ofi, struct ofi_op *op) {
    struct fly_packet note = op->note;
    int peer = op->peer;
    uint32_t number = op->number;
    op->behind = ofi->facts.behind && ofi->path != OFI_DELIVERED;
    op->notes = !op->behind;
    bool behind = op->behind;
    ofi_queue(ofi, op, op);
    return behind ? ofi_send_as(ofi, peer, number, &note, NULL, 0) : FLY_OK;
}

int ofi_write(struct fly_carrier *c, int peer, const struct fly_packet *packet,
              const uint64_t *loan, const void *src, size_t bytes, uint32_t token) {
    struct ofi *ofi = (struct ofi *)c;
    struct ofi_peer *to = &ofi->peers[peer];
    bool with_data = by_data(ofi, loan, packet->tag);
    bool sent = with_data && inject(ofi, peer, packet, loan, src, bytes, to->sent);
    struct ofi_op *op = NULL;
    if (!sent) {
        op = op_for(ofi, OFI_WRITE, peer, packet, loan, (void *)(uintptr_t)src, bytes, token);
        if (op == NULL) return fly_fail(FLY_ERR_NOMEM, "ofi: no memory for a write");
        if (bytes <= COPIED) op->here = memcpy(op->room, src, bytes);
        op->number = to->sent;
        op->with_data = with_data;
        op->data = notice_of(ofi, packet, loan, op->number);
        op->note.kind = FLY_K_WRITTEN;
    }
    if (!ofi->facts.in_order) ofi_order_keep(to, packet, to->sent);
    to->sent++;
    if (!ofi->delivers || !with_data) c->rt->peers[peer].puts++;
    if (sent) return FLY_OK;
    if (!with_data) return write_and_tell(ofi, op);
    ofi_queue(ofi, op, op);
    return FLY_OK;
}

int ofi_read(struct fly_carrier *c, int peer, const struct fly_packet *packet,
             const uint64_t *loan, void *dst, size_t bytes, uint32_t token) {
    struct ofi *ofi = (struct ofi *)c;
    struct ofi_op *op = op_for(ofi, OFI_READ, peer, packet, loan, dst, bytes, token);
    if (op == NULL) return fly_fail(FLY_ERR_NOMEM, "ofi: no memory for a read");
    if (packet->tag != FLY_NO_TAG) { /* the notification keeps the place that the read has now */
        op->number = ofi->peers[peer].sent++;
        op->note.kind = FLY_K_NOTIFY;
        op->notes = true;
    }
    ofi_queue(ofi, op, op);
    return FLY_OK;
}

ssize_t ofi_start(struct ofi *ofi, struct ofi_op *op) {
    struct ofi_peer *peer = &ofi->peers[op->peer];
    if (op->kind == OFI_READ)
        return fi_read(ofi->end.ep, op->here, op->bytes, NULL, peer->address, op->there, op->key,
                       &op->context);
    struct iovec from = {op->here, op->bytes};
    struct fi_rma_iov to = {op->there, op->bytes, op->key};
    struct fi_msg_rma what = {.msg_iov = &from, .iov_count = 1, .addr = peer->address,
                              .rma_iov = &to, .rma_iov_count = 1, .context = &op->context,
                              .data = op->data};
    uint64_t flags = FI_COMPLETION;
    if (op->with_data) flags |= FI_REMOTE_CQ_DATA;
    if (op->with_data ? ofi->delivers : op->notes) flags |= FI_DELIVERY_COMPLETE;
    return fi_writemsg(ofi->end.ep, &what, flags);
}

/* The target refused a write or read: it has freed the window, as happens after a death. A packet
   is sent in its place, so that no number is missing. */
static void in_its_place(struct ofi *ofi, struct ofi_op *op) {
    if (op->behind || (op->kind == OFI_READ && !op->notes)) return;
    if (op->kind == OFI_WRITE) op->note.kind = FLY_K_PUT;
    while (ofi_send_as(ofi, op->peer, op->number, &op->note, op->here,
                       op->kind == OFI_WRITE ? op->bytes : 0) != FLY_OK)
        continue; /* the number cannot be left out: try until there is memory */
}

void ofi_done(struct ofi *ofi, struct ofi_op *op, int error) {
    if (error == FLY_OK && op->notes)
        while (ofi_send_as(ofi, op->peer, op->number, &op->note, NULL, 0) != FLY_OK) continue;
    else if (error == FLY_ERR_TRANSPORT)
        in_its_place(ofi, op);
    if (error == FLY_ERR_TRANSPORT && op->kind == OFI_WRITE) error = FLY_OK;
    ofi_let_go(ofi, op, error);
}
