/* Reads a network's measured parameters from a JSON file: an object whose keys end in their
   units. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flyloom.h"
#include "settings.h"

enum { FILE_MOST = 1 << 20, DEPTH_MOST = 64 };

struct text {
    const char *path, *at;
    int line;
    char *error; /* receives what is wrong, if anything is */
    size_t room;
};

static int refuse(const struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(const struct text *text, const char *format, ...) {
    char where[24] = "";
    va_list words;
    if (text->line > 0) snprintf(where, sizeof where, "line %d: ", text->line);
    int length = snprintf(text->error, text->room, "%s: %s", text->path, where);
    va_start(words, format);
    if (length >= 0 && (size_t)length < text->room)
        vsnprintf(text->error + length, text->room - (size_t)length, format, words);
    va_end(words);
    return FLY_ERR_ARG;
}

static void blanks(struct text *text) {
    for (; *text->at == ' ' || *text->at == '\t' || *text->at == '\r' || *text->at == '\n';
         text->at++)
        text->line += *text->at == '\n';
}

/* Reads a string, and stores its first characters unchanged. */
static int string(struct text *text, char *into, size_t room) {
    size_t length = 0;
    if (*text->at != '"') return refuse(text, "a string is missing");
    for (text->at++; *text->at != '"'; text->at++) {
        if (*text->at == 0 || *text->at == '\n') return refuse(text, "a string has no end");
        if (*text->at == '\\' && text->at[1] != 0) text->at++;
        if (length + 1 < room) into[length++] = *text->at;
    }
    text->at++;
    into[length] = 0;
    return FLY_OK;
}

static int skip(struct text *text, int depth);

/* Skips what is between two brackets: values, or keys with values. */
static int skip_inside(struct text *text, char end, int depth) {
    char name[4];
    text->at++;
    blanks(text);
    if (*text->at == end) {
        text->at++;
        return FLY_OK;
    }
    for (;;) {
        blanks(text);
        int code = end == '}' ? string(text, name, sizeof name) : FLY_OK;
        blanks(text);
        if (code == FLY_OK && end == '}' && *text->at++ != ':')
            code = refuse(text, "\":\" is missing");
        if (code == FLY_OK) code = skip(text, depth + 1);
        if (code != FLY_OK) return code;
        blanks(text);
        char next = *text->at;
        if (next == 0) return refuse(text, "a bracket has no end");
        text->at++;
        if (next == end) return FLY_OK;
        if (next != ',') return refuse(text, "\",\" is missing");
    }
}

static int skip(struct text *text, int depth) {
    char name[4];
    blanks(text);
    if (depth > DEPTH_MOST) return refuse(text, "more than 64 brackets are open");
    if (*text->at == '"') return string(text, name, sizeof name);
    if (*text->at == '{') return skip_inside(text, '}', depth);
    if (*text->at == '[') return skip_inside(text, ']', depth);
    size_t length = strspn(text->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    if (length == 0) return refuse(text, "a value is missing");
    text->at += length;
    return FLY_OK;
}

struct key {
    const char *name;
    double *value;
    double *also; /* also set by this key, unless it has a key of its own */
    bool above_zero, there, optional;
};

static int read_number(struct text *text, struct key *key) {
    char *end;
    blanks(text);
    errno = 0;
    double value = strtod(text->at, &end);
    bool digit = *text->at == '-' || (*text->at >= '0' && *text->at <= '9');
    if (!digit || end == text->at || !isfinite(value))
        return refuse(text, "%s must be a number", key->name);
    if (value < 0 || (key->above_zero && value <= 0))
        return refuse(text, "%s: %g must be %s", key->name, value,
                      key->above_zero ? "above 0: this was measured where the receiver works in "
                                        "the sender's call, and no model holds" : "0 or more");
    text->at = end;
    key->there = true;
    *key->value = value;
    return FLY_OK;
}

/* Looks for a needed key without its unit, or with another, to say so in the error. */
static int unit(const struct text *text, const char *name, const struct key *keys, int count) {
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(keys[i].name, "_"), all = strlen(name);
        bool sided = strncmp(keys[i].name, "o_s_", 4) == 0 || strncmp(keys[i].name, "o_r_", 4) == 0;
        if (sided) length = 3;
        if (strncmp(name, keys[i].name, length) != 0) continue;
        if (all != length && name[length] != '_') continue;
        if (strcmp(keys[i].name, "o_ns") == 0 && (strncmp(name, "o_s", 3) == 0 ||
                                                 strncmp(name, "o_r", 3) == 0))
            continue;
        return refuse(text, "\"%s\" must be \"%s\": the unit is part of the name", name,
                      keys[i].name);
    }
    return FLY_OK;
}

static int read_keys(struct text *text, struct key *keys, int count) {
    blanks(text);
    if (*text->at != '{') return refuse(text, "it must be an object: {\"L_ns\": ...}");
    text->at++;
    blanks(text);
    while (*text->at != '}') {
        char name[64];
        int which = 0, code = string(text, name, sizeof name);
        if (code != FLY_OK) return code;
        blanks(text);
        if (*text->at != ':') return refuse(text, "\":\" is missing");
        text->at++;
        while (which < count && strcmp(keys[which].name, name) != 0) which++;
        if (which < count)
            code = read_number(text, &keys[which]);
        else if ((code = unit(text, name, keys, count)) == FLY_OK)
            code = skip(text, 0);
        if (code != FLY_OK) return code;
        blanks(text);
        if (*text->at == '}') break;
        if (*text->at != ',') return refuse(text, "\",\" or \"}\" is missing");
        text->at++;
        blanks(text);
        if (*text->at == '}') return refuse(text, "a key is missing behind \",\"");
    }
    text->at++;
    blanks(text);
    return *text->at == 0 ? FLY_OK : refuse(text, "there is more behind the object");
}

static int parse(struct text *text, struct fly_loggp *net) {
    double both = 0;
    struct key keys[] = {
        {"L_ns", &net->latency_ns, NULL, true, false, false},
        {"o_ns", &both, NULL, false, false, false},
        {"o_s_ns", &net->send_ns, &both, false, false, false},
        {"o_r_ns", &net->receive_ns, &both, false, false, false},
        {"g_ns", &net->gap_ns, NULL, false, false, false},
        {"G_ns_per_byte", &net->byte_ns, NULL, false, false, false},
        {"datagram_o_ns", &net->datagram_ns, NULL, false, false, true},
    };
    int count = (int)(sizeof keys / sizeof *keys), code = read_keys(text, keys, count);
    for (int i = 0; i < count && code == FLY_OK; i++) {
        if (keys[i].there || keys[i].optional || i == 1) continue;
        if (keys[i].also != NULL && keys[1].there) {
            *keys[i].value = both;
            continue;
        }
        text->line = 0;
        code = refuse(text, "%s is missing%s", keys[i].name,
                      keys[i].also != NULL ? ", or o_ns for both sides" : "");
    }
    return code;
}

int fly_loggp_read(const char *path, struct fly_loggp *net, char *error, size_t room) {
    struct text from = {path, NULL, 0, error, room};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return refuse(&from, "%s", strerror(errno));
    char *text = malloc(FILE_MOST + 1);
    size_t length = text == NULL ? 0 : fread(text, 1, FILE_MOST + 1, file);
    bool whole = ferror(file) == 0;
    fclose(file);
    int code;
    if (text == NULL) {
        refuse(&from, "no memory");
        code = FLY_ERR_NOMEM;
    } else if (!whole || length > FILE_MOST) {
        code = refuse(&from, "it must be a file of at most %d bytes", FILE_MOST);
    } else {
        struct fly_loggp read = {.datagram_ns = fly_loggp_near(1).datagram_ns};
        text[length] = 0;
        from.at = text;
        from.line = 1;
        code = parse(&from, &read);
        if (code == FLY_OK) *net = read;
    }
    free(text);
    return code;
}
