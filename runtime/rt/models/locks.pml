/* The locks of a window: shared, exclusive and all among three processes at one target.
 *
 * Steps and fields are those of src/locks.c and src/lock_words.h; each atomic{} is one step at a
 * word. Looks that are repeated until something holds are guards. FAULT seeds an error:
 *   1 a reader does not wait for a writer    2 a writer leaves out the master
 *   3 who stood in line does not move it on  4 a reader that gave way stays registered
 * Checked: who excludes whom, and that nobody is left waiting.
 */
#include "../src/lock_words.h"

#ifndef FAULT
#define FAULT 0
#endif
#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define LINE_MASK ((1 << FLY_LOCK_LINE_BITS) - 1)
#define PHASE_MASK ((1 << FLY_MASTER_PHASE_BITS) - 1)

bool x;
byte readers;
short served = LINE_MASK, next_ticket = LINE_MASK; /* so that the line wraps around */
byte writers, waits, alls;
short phase = PHASE_MASK;

byte inside_shared, inside_exclusive, inside_all;

inline check() {
    assert(inside_exclusive <= 1);
    assert(inside_exclusive == 0 || (inside_shared == 0 && inside_all == 0));
}

inline lock_shared() {
    atomic { readers++; seen_x = x; seen_line = (next_ticket != served); before = served; }
    if
    :: !seen_x && seen_line ->
#if FAULT != 4
        atomic { readers--; }
#endif
        (x || next_ticket == served || served != before);
#if FAULT != 4
        atomic { readers++; seen_x = x; seen_line = (next_ticket != served);
                 entitled = (served != before); }
        do /* it looked, and before it came in somebody else may have */
        :: !seen_x && seen_line && !entitled ->
            atomic { readers--; }
            (x || next_ticket == served || served != before);
            atomic { readers++; seen_x = x; seen_line = (next_ticket != served);
                     entitled = (served != before); }
        :: else -> break
        od
#endif
    :: else
    fi;
#if FAULT != 1
    if
    :: seen_x -> (!x)
    :: else
    fi
#endif
}

inline lock_exclusive() {
#if FAULT != 2
    atomic { writers++; seen_all = (alls != 0); }
    do
    :: seen_all ->
        atomic { writers--; waits++; }
        (alls == 0);
        atomic { writers++; waits--; phase = (phase + 1) & PHASE_MASK; seen_all = (alls != 0); }
    :: else -> break
    od;
#endif
    in_line = false;
    if
    :: atomic { (!x && readers == 0 && next_ticket == served) -> x = true; }
    :: atomic { /* the swap has failed; what was in the way may have gone by now */
                ticket = next_ticket; next_ticket = (next_ticket + 1) & LINE_MASK; }
        in_line = true;
        atomic { (served == ticket && !x && readers == 0) -> x = true; }
    fi
}

inline unlock_exclusive() {
    atomic {
        x = false;
#if FAULT != 3
        if
        :: in_line -> served = (served + 1) & LINE_MASK
        :: else
        fi
#endif
    }
#if FAULT != 2
    writers--
#endif
}

inline lock_all() {
    atomic { alls++; seen_x = (writers != 0); seen_line = (waits != 0); before = phase; }
    if
    :: !seen_x && seen_line ->
        atomic { alls--; }
        (writers != 0 || waits == 0 || phase != before);
        atomic { alls++; seen_x = (writers != 0); }
    :: else
    fi;
    if
    :: seen_x -> (writers == 0)
    :: else
    fi
}

proctype process() {
    bool seen_x, seen_line, seen_all, entitled, in_line;
    short before, ticket;
    byte round;
    do
    :: round == ROUNDS -> break
    :: round < ROUNDS ->
        round++;
        if
        :: lock_shared();
            inside_shared++; check(); inside_shared--;
            atomic { readers--; }
        :: lock_exclusive();
            inside_exclusive++; check(); inside_exclusive--;
            unlock_exclusive()
        :: lock_all();
            inside_all++; check(); inside_all--;
            atomic { alls--; }
        fi;
        atomic { entitled = false; in_line = false; before = 0; ticket = 0;
                 seen_x = false; seen_line = false; seen_all = false; }
    od
}

init {
    byte i;
    atomic {
        do
        :: i == PROCESSES -> break
        :: i < PROCESSES -> run process(); i++
        od
    }
}
