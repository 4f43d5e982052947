/* Calls of the library that must succeed, or fail with a given error, at `rank`. */
#ifndef FLY_TEST_CALLS_H
#define FLY_TEST_CALLS_H

#include <string.h>

#include "check.h"
#include "flyloom.h"

#define OK(call)                                                                 \
    do {                                                                         \
        int code_ = (call);                                                      \
        CHECK(code_ == FLY_OK, "rank %d: %d: %s", rank, code_, fly_last_error(NULL)); \
    } while (0)

/* The error, and a word of its text. */
#define FAILS(error, word, call)                                                              \
    do {                                                                                      \
        int code_ = (call);                                                                   \
        CHECK(code_ == (error), "rank %d: %s gave %d: %s", rank, #call, code_,                \
              fly_last_error(NULL));                                                          \
        CHECK(strstr(fly_last_error(NULL), word) != NULL, "\"%s\" lacks \"%s\"",              \
              fly_last_error(NULL), word);                                                    \
    } while (0)

#endif
