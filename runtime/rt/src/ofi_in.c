/* Transport "ofi": arrivals, which are handed to the core in the order of their numbers. */
#include <stdlib.h>
#include <string.h>

#include "ofi.h"
#include "remote.h"
#include "team.h"

/* Gives the core a packet whose turn has come. false: no memory. */
static bool hand_over(struct ofi *ofi, int peer, const unsigned char *data, size_t total) {
    struct fly_packet packet;
    memcpy(&packet, data, sizeof packet);
    if (!fly_packet_arrived(ofi->base.rt, peer, &packet, data + sizeof packet,
                            total - sizeof packet))
        return false;
    ofi->peers[peer].taken++;
    return true;
}

/* Hands over the packets that are complete and next in order. false: memory was short for one. */
static bool take_next(struct ofi *ofi, int peer) {
    struct ofi_peer *from = &ofi->peers[peer];
    while (from->items != NULL && from->items->number == from->taken &&
           from->items->got == from->items->total) {
        struct ofi_item *item = from->items;
        if (!hand_over(ofi, peer, item->data, item->total)) return false;
        from->items = item->next;
        free(item);
    }
    return true;
}

static void take(struct ofi *ofi, int peer) {
    struct ofi_peer *from = &ofi->peers[peer];
    bool was = from->stuck;
    from->stuck = !take_next(ofi, peer);
    ofi->stuck += from->stuck - was;
}

void ofi_take_stuck(struct ofi *ofi) {
    for (int r = 0; ofi->stuck != 0 && r < ofi->base.rt->size; r++)
        if (ofi->peers[r].stuck) take(ofi, r);
}

/* Finds the waiting packet of this number, or inserts a new one in order. */
static struct ofi_item *item_of(struct ofi_peer *from, uint32_t number, size_t total) {
    struct ofi_item **at = &from->items;
    while (*at != NULL && (int32_t)((*at)->number - number) < 0) at = &(*at)->next;
    if (*at != NULL && (*at)->number == number) return *at;
    struct ofi_item *item = NULL;
    /* The packet cannot be dropped, so this tries until there is memory. */
    while (item == NULL) item = malloc(sizeof *item + total);
    *item = (struct ofi_item){.next = *at, .number = number, .total = total};
    *at = item;
    return item;
}

static void keep(struct ofi *ofi, int peer, uint32_t number, size_t total, size_t offset,
                 const unsigned char *data, size_t bytes) {
    struct ofi_item *item = item_of(&ofi->peers[peer], number, total);
    if (item->total != total) return; /* our senders never disagree: not one of theirs */
    memcpy(item->data + offset, data, bytes);
    item->got += bytes;
    if (item->got == total && number == ofi->peers[peer].taken) take(ofi, peer);
}

/* A probe, which only tests whether a packet can be sent, has no number. */
static bool is_nothing(const struct ofi_head *head, const unsigned char *data) {
    struct fly_packet packet;
    if (head->total != sizeof packet || head->offset != 0) return false;
    memcpy(&packet, data, sizeof packet);
    return packet.kind == FLY_K_VOID;
}

void ofi_arrived(struct ofi *ofi, const struct ofi_op *op, size_t bytes) {
    const struct ofi_head *head = &op->head;
    int peer = head->rank;
    if (bytes < sizeof *head || peer < 0 || peer >= ofi->base.rt->size) return;
    bytes -= sizeof *head;
    struct ofi_peer *from = &ofi->peers[peer];
    if (head->total < sizeof(struct fly_packet) || head->offset > head->total ||
        bytes > head->total - head->offset || (int32_t)(head->number - from->taken) < 0)
        return;
    from->silent_ns = 0;
    if ((int32_t)(head->taken - from->acked) > 0) from->acked = head->taken;
    if (bytes == head->total && is_nothing(head, op->room)) return;
    bool next = head->number == from->taken && bytes == head->total;
    if (!next || from->stuck || !hand_over(ofi, peer, op->room, bytes))
        keep(ofi, peer, head->number, (size_t)head->total, (size_t)head->offset, op->room, bytes);
    else if (from->items != NULL)
        take(ofi, peer);
}

void ofi_written(struct ofi *ofi, uint64_t data) {
    struct ofi_notice notice = ofi_unpack(&ofi->layout, data);
    struct fly_rt *rt = ofi->base.rt;
    if (notice.rank >= (uint32_t)rt->size) return;
    int peer = (int)notice.rank;
    struct ofi_peer *from = &ofi->peers[peer];
    const struct fly_win *win = ofi->slots[notice.slot].win;
    struct fly_packet packet = {.kind = FLY_K_WRITTEN};
    packet.tag = notice.tag == ofi_no_tag(&ofi->layout) ? FLY_NO_TAG : (int32_t)notice.tag;
    packet.flags = from->delivers ? FLY_F_DELIVERED : 0;
    if (win != NULL) {
        packet.window = win->object.id;
        packet.source = fly_team_rank(win->object.team, peer);
    }
    from->silent_ns = 0;
    uint32_t number = ofi_number(&ofi->layout, notice.number, from->taken);
    const unsigned char *bytes = (const unsigned char *)&packet;
    if (number != from->taken || from->stuck || !hand_over(ofi, peer, bytes, sizeof packet))
        keep(ofi, peer, number, sizeof packet, 0, bytes, sizeof packet);
    else if (from->items != NULL)
        take(ofi, peer);
}

void ofi_forget(struct ofi *ofi, int peer) {
    while (ofi->peers[peer].items != NULL) {
        struct ofi_item *item = ofi->peers[peer].items;
        ofi->peers[peer].items = item->next;
        free(item);
    }
}
