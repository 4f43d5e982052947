/* Credits between two ranks that both send before they match: nothing is dropped, no slot is taken
 * twice, and they do not wait for each other.
 *
 * A rank without credit takes what has come for it; what is more than UNEXPECTED keeps its credit
 * until something is matched. FAULT 1: a rank that waits takes nothing. 2: a credit is given back
 * before the slot is free.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef CREDITS
#define CREDITS 2
#endif
#ifndef UNEXPECTED
#define UNEXPECTED 3
#endif
#ifndef MESSAGES
#define MESSAGES 4
#endif

byte ring[2];      /* published at a rank, not taken */
byte under_way[2]; /* sent by a rank, credit not back */
byte unmatched[2], held[2], matched[2], sent[2];

inline take(me) {
    atomic {
        ring[me] > 0 -> ring[me]--; unmatched[me]++;
        if
        :: unmatched[me] > UNEXPECTED -> held[me]++
        :: else -> under_way[1 - me]--
        fi
    }
}

inline match_one(me) {
    atomic {
        unmatched[me] > 0 -> unmatched[me]--; matched[me]++;
        if
        :: held[me] > 0 && (unmatched[me] <= UNEXPECTED || held[me] > unmatched[me] - UNEXPECTED) ->
            held[me]--; under_way[1 - me]--
        :: else
        fi
    }
}

proctype rank(byte me) {
    do
    :: sent[me] == MESSAGES -> break
    :: sent[me] < MESSAGES ->
        if
        :: atomic { under_way[me] < CREDITS -> under_way[me]++; sent[me]++;
#if FAULT == 2
                    under_way[me]--;
#endif
                    ring[1 - me]++; assert(ring[1 - me] <= CREDITS); }
#if FAULT != 1
        :: take(me)
#endif
        fi
    od;
    do
    :: matched[me] == MESSAGES -> break
    :: take(me)
    :: match_one(me)
    od
}

init {
    atomic { run rank(0); run rank(1); }
    (_nr_pr == 1);
    assert(matched[0] == MESSAGES && matched[1] == MESSAGES);
    assert(under_way[0] == 0 && under_way[1] == 0 && held[0] == 0 && held[1] == 0);
}
