/* Settings: defaults, then fly_config, then the environment, each value checked. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "settings.h"
#include "state.h"

static const uint32_t CREDITS_MAX = 4096, START_MS = 60000;

/* Reads a whole number from the variable `name`, where it is set. */
static int number(const char *name, uint64_t least, uint64_t most, uint64_t *value) {
    const char *text = getenv(name);
    if (text == NULL) return FLY_OK;
    char *end;
    errno = 0;
    unsigned long long read = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != 0 || errno != 0 || read < least || read > most)
        return fly_fail(FLY_ERR_ARG, "fly_init: %s: \"%s\" must be a whole number of %llu to %llu",
                        name, text, (unsigned long long)least, (unsigned long long)most);
    *value = read;
    return FLY_OK;
}

/* Reads one of two words, or 0 or 1, from the variable `name`, where it is set. */
static int word(const char *name, const char *zero, const char *one, int *value) {
    const char *text = getenv(name);
    if (text != NULL) {
        if (strcmp(text, zero) == 0 || strcmp(text, "0") == 0)
            *value = 0;
        else if (strcmp(text, one) == 0 || strcmp(text, "1") == 0)
            *value = 1;
        else
            return fly_fail(FLY_ERR_ARG, "fly_init: %s: \"%s\" must be %s or %s", name, text, zero,
                            one);
    }
    return FLY_OK;
}

/* Reads FLYLOOM_OFI_PATH=NAME[,BYTES]. */
static int path(struct fly_settings *settings) {
    static const char *const NAMES[] = {"best", "message", "data", "behind", "delivered",
                                        "narrow"};
    const char *text = getenv("FLYLOOM_OFI_PATH");
    settings->path_least = UINT64_MAX;
    if (text == NULL) return FLY_OK;
    size_t length = strcspn(text, ",");
    bool right = true;
    if (text[length] == ',') {
        const char *bytes = text + length + 1;
        char *end;
        errno = 0;
        settings->path_least = strtoull(bytes, &end, 10);
        right = *bytes >= '0' && *bytes <= '9' && *end == 0 && errno == 0;
    }
    for (int i = 0; right && i < (int)(sizeof NAMES / sizeof *NAMES); i++) {
        if (strlen(NAMES[i]) != length || memcmp(NAMES[i], text, length) != 0) continue;
        settings->path = i;
        return FLY_OK;
    }
    return fly_fail(FLY_ERR_ARG, "fly_init: FLYLOOM_OFI_PATH: \"%s\" must be best, message, data, "
                    "behind, delivered or narrow, or one of these with a comma and the bytes from "
                    "which on puts take it", text);
}

static int copy(const char *what, const char *from, char *to, size_t room) {
    if (strlen(from) >= room)
        return fly_fail(FLY_ERR_ARG, "fly_init: %s: \"%.40s...\" is longer than %zu characters",
                        what, from, room - 1);
    strcpy(to, from);
    return FLY_OK;
}

static int texts(const fly_config *config, struct fly_settings *settings) {
    const char *names = getenv("FLYLOOM_TRANSPORTS");
    if (names == NULL) names = config->transports;
    const char *provider = getenv("FLYLOOM_PROVIDER");
    if (provider == NULL) provider = config->provider;
    int code = FLY_OK;
    if (names != NULL) code = copy("transports", names, settings->names, sizeof settings->names);
    settings->transports = names == NULL ? NULL : settings->names;
    if (code == FLY_OK && provider != NULL)
        code = copy("provider", provider, settings->provider_name, sizeof settings->provider_name);
    settings->provider = provider == NULL ? NULL : settings->provider_name;
    return code;
}

int fly_settings_start(uint32_t *start_ms) {
    uint64_t value = START_MS;
    int code = number("FLYLOOM_START_TIMEOUT_MS", 0, UINT32_MAX, &value);
    *start_ms = (uint32_t)value;
    return code;
}

int fly_settings_read(const fly_config *config, struct fly_settings *settings) {
    static const fly_config NONE;
    if (config == NULL) config = &NONE;
    memset(settings, 0, sizeof *settings);
    uint64_t credits = config->credits == 0 ? 64 : config->credits;
    uint64_t timeout = config->timeout_ms;
    settings->unexpected_max = config->unexpected_max == 0 ? 1 << 20 : config->unexpected_max;
    settings->threads = config->threads;
    settings->progress = config->progress;
    int code = texts(config, settings);
    if (code == FLY_OK) code = path(settings);
    if (code == FLY_OK) code = number("FLYLOOM_CREDITS", 1, CREDITS_MAX, &credits);
    if (code == FLY_OK) code = number("FLYLOOM_TIMEOUT_MS", 0, UINT32_MAX, &timeout);
    if (code == FLY_OK) code = fly_settings_start(&settings->start_ms);
    if (code == FLY_OK)
        code = number("FLYLOOM_PIECE_BYTES", 64, UINT32_MAX, &settings->piece_bytes);
    if (code == FLY_OK)
        code = number("FLYLOOM_UNEXPECTED_MAX", 1, UINT64_MAX, &settings->unexpected_max);
    if (code == FLY_OK)
        code = word("FLYLOOM_THREADS", "serialized", "multiple", &settings->threads);
    if (code == FLY_OK) code = word("FLYLOOM_PROGRESS", "calls", "thread", &settings->progress);
    if (code != FLY_OK) return code;
    if (credits > CREDITS_MAX)
        return fly_fail(FLY_ERR_ARG, "fly_init: credits: %llu must be 1 to %u (0: 64)",
                        (unsigned long long)credits, CREDITS_MAX);
    if (settings->threads != FLY_SERIALIZED && settings->threads != FLY_MULTIPLE)
        return fly_fail(FLY_ERR_ARG, "fly_init: threads: %d must be FLY_SERIALIZED or FLY_MULTIPLE",
                        settings->threads);
    if (settings->progress != FLY_PROGRESS_CALLS && settings->progress != FLY_PROGRESS_THREAD)
        return fly_fail(FLY_ERR_ARG, "fly_init: progress: %d must be FLY_PROGRESS_CALLS or "
                        "FLY_PROGRESS_THREAD", settings->progress);
    settings->credits = (uint32_t)credits;
    settings->timeout_ms = (uint32_t)timeout;
    return FLY_OK;
}

static int known(const char *name, size_t length) {
    for (int i = 0; fly_transports[i] != NULL; i++)
        if (strlen(fly_transports[i]->name) == length &&
            memcmp(fly_transports[i]->name, name, length) == 0)
            return i;
    return -1;
}

static int unknown(const char *name, size_t length) {
    char there[64] = "";
    for (int i = 0; fly_transports[i] != NULL; i++) {
        if (i > 0) strcat(there, ", ");
        strcat(there, fly_transports[i]->name);
    }
    return fly_fail(FLY_ERR_ARG, "fly_init: transports: \"%.*s\" is none of this library's: %s",
                    (int)length, name, there);
}

int fly_settings_transports(const struct fly_settings *settings, int order[FLY_CARRIERS],
                            int *count) {
    *count = 0;
    if (settings->transports == NULL) {
        for (int i = 0; fly_transports[i] != NULL; i++)
            if (fly_transports[i]->code != FLY_TRANSPORT_LOOP) order[(*count)++] = i;
        return FLY_OK;
    }
    const char *at = settings->transports;
    for (;;) {
        size_t length = strcspn(at, ",");
        int index = known(at, length);
        if (index < 0) return unknown(at, length);
        for (int i = 0; i < *count; i++)
            if (order[i] == index)
                return fly_fail(FLY_ERR_ARG, "fly_init: transports: \"%.*s\" is named twice",
                                (int)length, at);
        order[(*count)++] = index;
        if (at[length] == 0) return FLY_OK;
        at += length + 1;
    }
}
