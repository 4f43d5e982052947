/* Settings of collectives from the environment, each value checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "error.h"

/* Lists the names of an operation's algorithms, for an error. */
static const char *names(const struct fly_operation_table *table, char *text, size_t room) {
    size_t at = 0;
    for (int i = 0; i < table->count && at < room; i++) {
        const struct fly_algorithm *one = &table->algorithms[i];
        at += (size_t)snprintf(text + at, room - at, "%s%s%s%s", i > 0 ? ", " : "", one->name,
                               one->parameter != NULL ? ":" : "",
                               one->parameter != NULL ? one->parameter : "");
    }
    return text;
}

/* Lists the names of all operations, for an error. */
static const char *operations(char *text, size_t room) {
    size_t at = 0;
    for (int i = 0; i < FLY_C_OPERATIONS && at < room; i++)
        if (fly_operations[i].name != NULL)
            at += (size_t)snprintf(text + at, room - at, "%s%s", i > 0 ? ", " : "",
                                   fly_operations[i].name);
    return text;
}

static bool is(const char *name, const char *text, size_t length) {
    return name != NULL && strlen(name) == length && memcmp(name, text, length) == 0;
}

/* Reads one OPERATION=ALGORITHM[:PARAMETER] of `length` characters. */
static int one_choice(const char *text, size_t length, struct fly_choice *choices) {
    const char *equals = memchr(text, '=', length), *end = text + length;
    char there[400];
    int operation = 0, algorithm = 0;
    while (equals != NULL && operation < FLY_C_OPERATIONS &&
           !is(fly_operations[operation].name, text, (size_t)(equals - text)))
        operation++;
    if (equals == NULL || operation == FLY_C_OPERATIONS)
        return fly_fail(FLY_ERR_ARG, "FLYLOOM_COLL: \"%.*s\" must be OPERATION=ALGORITHM, of "
                        "%s", (int)length, text, operations(there, sizeof there));
    const struct fly_operation_table *table = &fly_operations[operation];
    const char *name = equals + 1, *colon = memchr(name, ':', (size_t)(end - name));
    size_t size = (size_t)((colon != NULL ? colon : end) - name);
    while (algorithm < table->count && !is(table->algorithms[algorithm].name, name, size))
        algorithm++;
    if (algorithm == table->count)
        return fly_fail(FLY_ERR_ARG, "FLYLOOM_COLL: %s: \"%.*s\" must be one of %s", table->name,
                        (int)size, name, names(table, there, sizeof there));
    size_t parameter = 0;
    for (const char *at = colon == NULL ? end : colon + 1; at < end; at++) {
        parameter = *at >= '0' && *at <= '9' ? parameter * 10 + (size_t)(*at - '0') : SIZE_MAX;
        if (parameter > 1 << 30) break;
    }
    if (colon != NULL && (table->algorithms[algorithm].parameter == NULL || parameter == 0 ||
                          parameter > 1 << 30))
        return fly_fail(FLY_ERR_ARG, "FLYLOOM_COLL: %s: \"%.*s\": %s", table->name,
                        (int)(end - name), name,
                        table->algorithms[algorithm].parameter == NULL
                            ? "this algorithm has no parameter"
                            : "the parameter must be a whole number of 1 to 1073741824");
    choices[operation] = (struct fly_choice){algorithm, parameter};
    return FLY_OK;
}

static int read_choices(const char *text, struct fly_choice *choices) {
    for (int i = 0; i < FLY_C_OPERATIONS; i++) choices[i] = (struct fly_choice){-1, 0};
    int code = FLY_OK;
    while (text != NULL && *text != 0 && code == FLY_OK) {
        size_t length = strcspn(text, ",");
        code = one_choice(text, length, choices);
        text += length;
        if (*text == ',') text++;
    }
    return code;
}

static int flag(const char *name, bool *value) {
    const char *text = getenv(name);
    *value = text != NULL && strcmp(text, "1") == 0;
    if (text == NULL || *value || strcmp(text, "0") == 0) return FLY_OK;
    return fly_fail(FLY_ERR_ARG, "%s: \"%s\" must be 0 or 1", name, text);
}

/* Reads whether broadcasts may go by multicast, and where. */
static int read_multicast(struct fly_coll_settings *settings) {
    const char *group = getenv("FLYLOOM_MULTICAST"), *faults = getenv("FLYLOOM_MULTICAST_FAULTS");
    char must[160];
    settings->multicast = settings->choices[FLY_C_BCAST].algorithm == FLY_BCAST_MULTICAST;
    strcpy(settings->group, "1");
    if (group != NULL && strcmp(group, "0") == 0) {
        settings->multicast = false;
    } else if (group != NULL) {
        if (!fly_datagrams_valid(group, must, sizeof must) ||
            strlen(group) >= sizeof settings->group)
            return fly_fail(FLY_ERR_ARG, "FLYLOOM_MULTICAST: \"%s\" must be %s; or 0 for none",
                            group, must);
        settings->multicast = true;
        strcpy(settings->group, group);
    }
    settings->faulty = faults != NULL;
    if (faults != NULL && !fly_faults_read(faults, &settings->faults))
        return fly_fail(FLY_ERR_ARG, "FLYLOOM_MULTICAST_FAULTS: \"%s\" must be "
                        "SEED[,LOST[,TWICE[,LATE]]], the last three in per cent", faults);
    return FLY_OK;
}

int fly_coll_settings_read(struct fly_coll_settings *settings) {
    const char *path = getenv("FLYLOOM_LOGGP"), *dump = getenv("FLYLOOM_COLL_DUMP");
    settings->loggp = fly_loggp_near(1);
    settings->measured = path != NULL;
    int code = read_choices(getenv("FLYLOOM_COLL"), settings->choices);
    if (code == FLY_OK) code = flag("FLYLOOM_CHECK", &settings->checks);
    if (code == FLY_OK) code = flag("FLYLOOM_REPEAT", &settings->repeats);
    if (code == FLY_OK) code = read_multicast(settings);
    if (code == FLY_OK && path != NULL) {
        char error[400];
        code = fly_loggp_read(path, &settings->loggp, error, sizeof error);
        if (code != FLY_OK) fly_fail(code, "FLYLOOM_LOGGP: %s", error);
    }
    if (code == FLY_OK && dump != NULL) {
        if (strlen(dump) >= sizeof settings->dump)
            return fly_fail(FLY_ERR_ARG, "FLYLOOM_COLL_DUMP: longer than %zu characters",
                            sizeof settings->dump - 1);
        strcpy(settings->dump, dump);
    }
    return code;
}
