/* What clang's analyser must know of other files: fly_fail returns the code that it is given, and
   so what failed is not FLY_OK.
 */
#include "error.h"

#define fly_fail(code, ...) (fly_fail(code, __VA_ARGS__), (code))
