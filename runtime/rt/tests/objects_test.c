/* Windows and teams by their numbers, against a plain list: random numbers come and go, many of
 * which fall on one place of the table.
 *
 *   objects_test [STEPS [SEED]]
 */
#include "objects.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "state.h"

enum { NUMBERS = 200, STRIDE = 7 };

int main(int count, char **words) {
    static struct fly_object objects[NUMBERS];
    static bool there[NUMBERS];
    struct fly_rt *rt = calloc(1, sizeof *rt);
    uint64_t steps = argument(count, words, 1, 20000), random = argument(count, words, 2, 1);
    CHECK(rt != NULL, "memory");
    for (uint32_t i = 0; i < NUMBERS; i++) objects[i].id = i / STRIDE * 64 + i % STRIDE;
    CHECK(fly_object_add(rt, &objects[0]) == FLY_OK, "room");
    there[0] = true;
    for (uint64_t step = 0; step < steps; step++) {
        uint32_t i = (uint32_t)below(&random, NUMBERS);
        if (there[i])
            fly_object_remove(rt, &objects[i]);
        else
            CHECK(fly_object_add(rt, &objects[i]) == FLY_OK, "step %llu", (unsigned long long)step);
        there[i] = !there[i];
        for (uint32_t j = 0; j < NUMBERS; j++)
            CHECK(fly_object_find(rt, objects[j].id) == (there[j] ? &objects[j] : NULL),
                  "step %llu: number %u", (unsigned long long)step, objects[j].id);
    }
    free(rt->objects);
    free(rt);
    printf("objects_test: %llu steps\n", (unsigned long long)steps);
    return 0;
}
