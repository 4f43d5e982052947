/* COUNT matched notifications of 8 bytes from a rank to itself: message_cost COUNT
 *
 * Run it twice, with different counts, under a program that counts the instructions of `exchange`
 * alone: the difference is what a message costs at sender and receiver together, with a posted
 * request and no waiting. Start and end cost differently in each run, since they sleep.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "flyloom.h"

bool exchange(fly_win *win, fly_req *req, unsigned long messages);

static int failed(void) {
    fprintf(stderr, "message_cost: %s\n", fly_last_error(NULL));
    return 3;
}

__attribute__((noinline)) bool exchange(fly_win *win, fly_req *req, unsigned long messages) {
    static const unsigned char data[8] = {1};
    fly_status status;
    for (unsigned long i = 0; i < messages; i++) {
        if (fly_start(req) != FLY_OK || fly_put_notify(win, data, sizeof data, 0, 0, 3) != FLY_OK ||
            fly_wait(req, &status) != FLY_OK || status.tag != 3)
            return false;
    }
    return true;
}

int main(int count, char **words) {
    unsigned long messages = count > 1 ? strtoul(words[1], NULL, 10) : 1000;
    fly_config config = {.transports = "shm"};
    fly_rt *rt;
    fly_win *win;
    fly_req *req;
    void *base;
    if (fly_init(NULL, &config, &rt) != FLY_OK) return failed();
    if (fly_win_allocate(fly_world(rt), 64, 1, 0, &base, &win) != FLY_OK ||
        fly_notify_init(win, 0, 3, 1, &req) != FLY_OK || !exchange(win, req, messages))
        return failed();
    if (fly_req_free(&req) != FLY_OK || fly_win_free(&win) != FLY_OK ||
        fly_finalize(&rt) != FLY_OK)
        return failed();
    return 0;
}
