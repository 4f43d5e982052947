/* Post, start, complete, wait among three ranks, each with the two others, round after round: whoever
 * waits finds the data of this round, and nobody is left waiting.
 *
 * Posts and completions are taken by those who wait for them. FAULT 1: a completion stays when it was
 * waited for. 2: completion is told before the data is there.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define RANKS 3

byte posts[9], completes[9]; /* to * 3 + from: came and were not taken */
byte data[9];                /* to * 3 + from: of which round */

#define POSTED(me, from) posts[(me) * 3 + (from)]
#define COMPLETED(me, from) completes[(me) * 3 + (from)]

proctype rank(byte me) {
    byte round = 1, left, right;
    left = (me + 2) % RANKS;
    right = (me + 1) % RANKS;
    do
    :: round > ROUNDS -> break
    :: else ->
        POSTED(left, me)++;
        POSTED(right, me)++;
        atomic { (POSTED(me, left) > 0) -> POSTED(me, left)--; }
        atomic { (POSTED(me, right) > 0) -> POSTED(me, right)--; }
#if FAULT == 2
        COMPLETED(left, me)++;
        data[left * 3 + me] = round;
#else
        data[left * 3 + me] = round;
        COMPLETED(left, me)++;
#endif
        data[right * 3 + me] = round;
        COMPLETED(right, me)++;
#if FAULT == 1
        (COMPLETED(me, left) > 0 && COMPLETED(me, right) > 0);
#else
        atomic { (COMPLETED(me, left) > 0) -> COMPLETED(me, left)--; }
        atomic { (COMPLETED(me, right) > 0) -> COMPLETED(me, right)--; }
#endif
        assert(data[me * 3 + left] == round && data[me * 3 + right] == round);
        round++
    od
}

init { atomic { run rank(0); run rank(1); run rank(2); } }
