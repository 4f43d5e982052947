/* flyloom_mpi_types.h: how flyloom reads an MPI's types and operations; part of flyloom_mpi.h.
 *
 * Names that no comment describes as a call are for these headers alone.
 */
#ifndef FLYLOOM_MPI_TYPES_H
#define FLYLOOM_MPI_TYPES_H

#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flyloom.h"
#include "flyloom_coll.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLY_MPI static inline

#if defined(__GNUC__)
#define FLY_MPI_WORDS __attribute__((format(printf, 2, 3)))
#else
#define FLY_MPI_WORDS
#endif

static inline int fly_mpi_alive(void) {
    int there = 0, over = 0;
    return MPI_Initialized(&there) == MPI_SUCCESS && there &&
           MPI_Finalized(&over) == MPI_SUCCESS && !over;
}

static inline int FLY_MPI_WORDS fly_mpi_fail(int code, const char *format, ...) {
    char text[400];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    return fly_error_set(code, text);
}

/* The layout of a type: its elements in order. `hash` is the same for equal sequences of basic
   types, however the types were made. Langou, Bosilca, Fagg, Dongarra: Hash functions for datatype
   signatures in MPI, EuroPVM/MPI 2005; here a polynomial; repetitions double its powers. */
typedef struct {
    uint64_t hash, power;
    size_t bytes;     /* without gaps */
    ptrdiff_t extent; /* distance from one element to the next */
    ptrdiff_t first, span; /* where its bytes begin, and their length with gaps */
    int solid;        /* bytes 0 to `bytes`, in order */
} fly_mpi_layout;

/* Kinds of basic types, as MPI's table of what an operation takes has them: i and u numbers without
   a fraction, f with one, c complex, l truth, b bytes, p pairs of MINLOC, a characters. */
typedef struct {
    MPI_Datatype type;
    char kind, first; /* first: for a pair, the kind of its first; the second is an i */
} fly_mpi_basic;

/* The kind of a basic type, or 0; for a pair, the kind of its first and the bytes of its second. */
static inline char fly_mpi_kind(MPI_Datatype type, char *first, int *second_bytes) {
    const fly_mpi_basic known[] = {
        {MPI_DOUBLE, 'f', 0}, {MPI_INT, 'i', 0}, {MPI_FLOAT, 'f', 0}, {MPI_BYTE, 'b', 0},
        {MPI_LONG, 'i', 0}, {MPI_CHAR, 'a', 0}, {MPI_UNSIGNED, 'u', 0}, {MPI_INT64_T, 'i', 0},
        {MPI_UINT64_T, 'u', 0}, {MPI_INT32_T, 'i', 0}, {MPI_UINT32_T, 'u', 0},
        {MPI_INT8_T, 'i', 0}, {MPI_UINT8_T, 'u', 0}, {MPI_INT16_T, 'i', 0},
        {MPI_UINT16_T, 'u', 0}, {MPI_SHORT, 'i', 0}, {MPI_UNSIGNED_SHORT, 'u', 0},
        {MPI_UNSIGNED_LONG, 'u', 0}, {MPI_LONG_LONG, 'i', 0}, {MPI_UNSIGNED_LONG_LONG, 'u', 0},
        {MPI_SIGNED_CHAR, 'i', 0}, {MPI_UNSIGNED_CHAR, 'u', 0}, {MPI_WCHAR, 'a', 0},
        {MPI_LONG_DOUBLE, 'f', 0}, {MPI_C_BOOL, 'l', 0}, {MPI_C_FLOAT_COMPLEX, 'c', 0},
        {MPI_C_DOUBLE_COMPLEX, 'c', 0}, {MPI_C_LONG_DOUBLE_COMPLEX, 'c', 0}, {MPI_AINT, 'i', 0},
        {MPI_OFFSET, 'i', 0}, {MPI_COUNT, 'i', 0}, {MPI_INTEGER, 'i', 0}, {MPI_REAL, 'f', 0},
        {MPI_DOUBLE_PRECISION, 'f', 0}, {MPI_COMPLEX, 'c', 0}, {MPI_DOUBLE_COMPLEX, 'c', 0},
        {MPI_LOGICAL, 'l', 0}, {MPI_CHARACTER, 'a', 0}, {MPI_INTEGER1, 'i', 0},
        {MPI_INTEGER2, 'i', 0}, {MPI_INTEGER4, 'i', 0}, {MPI_INTEGER8, 'i', 0},
        {MPI_REAL4, 'f', 0}, {MPI_REAL8, 'f', 0}, {MPI_2INT, 'p', 'i'}, {MPI_FLOAT_INT, 'p', 'f'},
        {MPI_DOUBLE_INT, 'p', 'f'}, {MPI_LONG_INT, 'p', 'i'}, {MPI_SHORT_INT, 'p', 'i'},
        {MPI_LONG_DOUBLE_INT, 'p', 'f'}, {MPI_2INTEGER, 'p', 'i'}, {MPI_2REAL, 'p', 'f'},
        {MPI_2DOUBLE_PRECISION, 'p', 'f'},
    };
    size_t i;
    *first = 0;
    *second_bytes = 0;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].type != type) continue;
        *first = known[i].first;
        if (type == MPI_2REAL || type == MPI_2DOUBLE_PRECISION) {
            MPI_Type_size(type, second_bytes);
            *second_bytes /= -2; /* both are of the first's kind */
        } else if (*first != 0) {
            *second_bytes = (int)sizeof(int);
        }
        return known[i].kind;
    }
    return 0;
}

static inline void fly_mpi_join(fly_mpi_layout *to, uint64_t hash, uint64_t power) {
    to->hash = to->hash * power + hash;
    to->power *= power;
}

static inline void fly_mpi_join_basic(fly_mpi_layout *to, char kind, int bytes) {
    fly_mpi_join(to, ((uint64_t)(unsigned char)kind * 131 + (uint64_t)bytes) *
                         UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xD1342543DE82EF95));
}

/* Makes *hash that of the sequence repeated `times` times. */
static inline void fly_mpi_times(uint64_t *hash, uint64_t *power, size_t times) {
    uint64_t sum = 0, all = 1, h = *hash, p = *power;
    for (; times != 0; times /= 2) {
        if (times % 2 != 0) {
            sum = sum * p + h;
            all *= p;
        }
        h = h * p + h;
        p *= p;
    }
    *hash = sum;
    *power = all;
}

static inline uint64_t fly_mpi_signature(const fly_mpi_layout *layout, size_t count) {
    uint64_t hash = layout->hash, power = layout->power;
    fly_mpi_times(&hash, &power, count);
    return hash;
}

/* Appends `times` copies of `part`, the first at `place`. */
static inline void fly_mpi_append(fly_mpi_layout *to, const fly_mpi_layout *part, size_t times,
                                  ptrdiff_t place) {
    uint64_t hash = part->hash, power = part->power;
    if (times == 0 || part->bytes == 0) return;
    if (place != (ptrdiff_t)to->bytes || !part->solid ||
        (times > 1 && part->extent != (ptrdiff_t)part->bytes))
        to->solid = 0;
    fly_mpi_times(&hash, &power, times);
    fly_mpi_join(to, hash, power);
    to->bytes += times * part->bytes;
}

static inline void fly_mpi_drop(MPI_Datatype *type) {
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
        combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER)
        MPI_Type_free(type);
}

static inline int fly_mpi_describe(MPI_Datatype type, fly_mpi_layout *layout);

/* Composes a type from others, by the numbers and places that MPI_Type_get_contents returns. */
static inline int fly_mpi_compose(fly_mpi_layout *to, int combiner, const int *n,
                                  const MPI_Aint *at, const MPI_Datatype *inner, int size) {
    fly_mpi_layout part;
    size_t all = 1;
    int i, code = fly_mpi_describe(inner[0], &part);
    if (code != FLY_OK && combiner != MPI_COMBINER_STRUCT) return code;
    switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: fly_mpi_append(to, &part, 1, 0); return FLY_OK;
    case MPI_COMBINER_CONTIGUOUS: fly_mpi_append(to, &part, (size_t)n[0], 0); return FLY_OK;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        for (i = 0; i < n[0] && n[1] != 0; i++)
            fly_mpi_append(to, &part, (size_t)n[1],
                           i * (combiner == MPI_COMBINER_VECTOR ? n[2] * part.extent
                                                                : (ptrdiff_t)at[0]));
        return FLY_OK;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        for (i = 0; i < n[0]; i++)
            fly_mpi_append(to, &part, (size_t)n[1 + i],
                           combiner == MPI_COMBINER_INDEXED ? n[1 + n[0] + i] * part.extent
                                                            : (ptrdiff_t)at[i]);
        return FLY_OK;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (i = 0; i < n[0]; i++)
            fly_mpi_append(to, &part, (size_t)n[1],
                           combiner == MPI_COMBINER_INDEXED_BLOCK ? n[2 + i] * part.extent
                                                                  : (ptrdiff_t)at[i]);
        return FLY_OK;
    case MPI_COMBINER_STRUCT:
        for (i = 0; i < n[0]; i++) {
            code = fly_mpi_describe(inner[i], &part);
            if (code != FLY_OK) return code;
            fly_mpi_append(to, &part, (size_t)n[1 + i], (ptrdiff_t)at[i]);
        }
        return FLY_OK;
    case MPI_COMBINER_SUBARRAY:
        for (i = 0; i < n[0]; i++) {
            all *= (size_t)n[1 + n[0] + i];
            if (n[1 + n[0] + i] != n[1 + i]) to->solid = 0;
        }
        fly_mpi_append(to, &part, all, 0);
        return FLY_OK;
    default: /* DARRAY, and what later versions bring: one type, at places that MPI knows */
        if (part.bytes != 0) fly_mpi_append(to, &part, (size_t)size / part.bytes, 0);
        to->solid = 0;
        return FLY_OK;
    }
}

static inline int fly_mpi_describe(MPI_Datatype type, fly_mpi_layout *layout) {
    int integers, addresses, types, combiner, size = 0, second, *n = NULL, i, code = FLY_OK;
    MPI_Aint lower, extent, first, span, *at = NULL;
    MPI_Datatype *inner = NULL;
    char kind, part;
    memset(layout, 0, sizeof *layout);
    layout->power = 1;
    layout->solid = 1;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &first, &span);
    if (size < 0) return FLY_ERR_UNSUPPORTED;
    layout->extent = extent;
    layout->first = first;
    layout->span = span;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (types == 0 || combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
        combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER) {
        kind = fly_mpi_kind(type, &part, &second);
        if (combiner == MPI_COMBINER_F90_REAL) kind = 'f';
        if (combiner == MPI_COMBINER_F90_COMPLEX) kind = 'c';
        if (combiner == MPI_COMBINER_F90_INTEGER) kind = 'i';
        if (kind == 'p') {
            fly_mpi_join_basic(layout, part, size - abs(second));
            fly_mpi_join_basic(layout, second < 0 ? part : 'i', abs(second));
        } else {
            fly_mpi_join_basic(layout, kind, size);
        }
        layout->bytes = (size_t)size;
        layout->solid = first == 0 && span == size;
        return FLY_OK;
    }
    n = (int *)calloc((size_t)integers + 1, sizeof *n);
    at = (MPI_Aint *)calloc((size_t)addresses + 1, sizeof *at);
    inner = (MPI_Datatype *)calloc((size_t)types + 1, sizeof *inner);
    if (n == NULL || at == NULL || inner == NULL) {
        code = FLY_ERR_NOMEM;
    } else {
        MPI_Type_get_contents(type, integers, addresses, types, n, at, inner);
        code = fly_mpi_compose(layout, combiner, n, at, inner, size);
        for (i = 0; i < types; i++) fly_mpi_drop(&inner[i]);
    }
    free(n);
    free(at);
    free(inner);
    return code;
}

/* Checks a type, and finds its layout. Cost: O(size of its description). */
static inline int fly_mpi_layout_of(const char *call, MPI_Datatype type, fly_mpi_layout *layout) {
    int code;
    if (!fly_mpi_alive())
        return fly_mpi_fail(FLY_ERR_STATE, "%s: MPI is not initialised, or finalised", call);
    if (type == MPI_DATATYPE_NULL)
        return fly_mpi_fail(FLY_ERR_ARG, "%s: type is MPI_DATATYPE_NULL", call);
    code = fly_mpi_describe(type, layout);
    if (code == FLY_ERR_NOMEM) return fly_mpi_fail(code, "%s: no memory for a type", call);
    if (code != FLY_OK || layout->bytes > INT_MAX / 2)
        return fly_mpi_fail(FLY_ERR_UNSUPPORTED, "%s: type: an element of it must be of at most "
                            "%d bytes", call, INT_MAX / 2);
    return FLY_OK;
}

/* Whether `count` of a type are bytes one behind the other, in order, from its address on. */
static inline int fly_mpi_solid(const fly_mpi_layout *layout, size_t count) {
    return layout->bytes == 0 || count == 0 ||
           (layout->solid && (count == 1 || layout->extent == (ptrdiff_t)layout->bytes));
}

/* Packs `count` of a type at `there`, or unpacks them, without gaps in `packed`. MPI says no, as of
   a type that is not committed: ARG. */
static inline int fly_mpi_pack(const char *call, int unpack, void *there, MPI_Datatype type,
                               const fly_mpi_layout *layout, size_t count,
                               unsigned char *packed) {
    size_t most = layout->bytes == 0 ? 1 : (size_t)(INT_MAX / 2) / layout->bytes;
    MPI_Errhandler before;
    int failed = MPI_SUCCESS;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (count != 0 && layout->bytes != 0 && failed == MPI_SUCCESS) {
        size_t n = count < most ? count : most, bytes = n * layout->bytes;
        int at = 0;
        failed = unpack ? MPI_Unpack(packed, (int)bytes, &at, there, (int)n, type, MPI_COMM_SELF)
                        : MPI_Pack(there, (int)n, type, packed, (int)bytes, &at, MPI_COMM_SELF);
        if (failed == MPI_SUCCESS && at != (int)bytes) failed = MPI_ERR_INTERN;
        packed += bytes;
        there = (unsigned char *)there + (ptrdiff_t)n * layout->extent;
        count -= n;
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
    if (before != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&before);
    if (failed != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(failed, text, &length);
        return fly_mpi_fail(FLY_ERR_ARG, "%s: type: MPI cannot pack it (is it committed?): %.200s",
                            call, text);
    }
    return FLY_OK;
}

/* Each of MPI's own operations with the library's equivalent, and the kinds that it takes. */
typedef struct {
    MPI_Op op;
    const char *name, *kinds;
    int fly; /* -1: MPI does it */
} fly_mpi_op;

/* Finds an operation among MPI's own; else it is the user's, and name is NULL. */
static inline fly_mpi_op fly_mpi_op_of(MPI_Op op) {
    const fly_mpi_op known[] = {
        {MPI_SUM, "MPI_SUM", "iufc", FLY_SUM},    {MPI_PROD, "MPI_PROD", "iufc", FLY_PROD},
        {MPI_MIN, "MPI_MIN", "iuf", FLY_MIN},     {MPI_MAX, "MPI_MAX", "iuf", FLY_MAX},
        {MPI_LAND, "MPI_LAND", "iul", FLY_LAND},  {MPI_LOR, "MPI_LOR", "iul", FLY_LOR},
        {MPI_BAND, "MPI_BAND", "iub", FLY_BAND},  {MPI_BOR, "MPI_BOR", "iub", FLY_BOR},
        {MPI_BXOR, "MPI_BXOR", "iub", FLY_BXOR},  {MPI_LXOR, "MPI_LXOR", "iul", -1},
        {MPI_MINLOC, "MPI_MINLOC", "p", -1},      {MPI_MAXLOC, "MPI_MAXLOC", "p", -1},
        {MPI_REPLACE, "MPI_REPLACE", "", -1},     {MPI_NO_OP, "MPI_NO_OP", "", -1},
    };
    fly_mpi_op user = {MPI_OP_NULL, NULL, NULL, -1};
    size_t i;
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].op == op) return known[i];
    user.op = op;
    return user;
}

/* The element type of the library for the same kind of number, or -1. */
static inline int fly_mpi_number(char kind, size_t bytes) {
    const int whole[] = {FLY_INT8, FLY_INT16, FLY_INT32, FLY_INT64};
    const int natural[] = {FLY_UINT8, FLY_UINT16, FLY_UINT32, FLY_UINT64};
    int place = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
    if (place < 0) return -1;
    if (kind == 'i') return whole[place];
    if (kind == 'u' || kind == 'b') return natural[place];
    if (kind == 'f' && bytes == sizeof(float)) return FLY_FLOAT;
    return kind == 'f' && bytes == sizeof(double) ? FLY_DOUBLE : -1;
}

/* What a fold by MPI_Reduce_local works with; lives as long as the call or its request. */
typedef struct {
    MPI_Datatype type;
    MPI_Op op;
    fly_mpi_layout layout;
    int direct;            /* elements stand in packets as in memory */
    unsigned char *room;   /* for elements as in memory: of both sides, `most` each */
    size_t most, one_side; /* bytes of one side */
} fly_mpi_folding;

enum { FLY_MPI_FOLDED = 256 }; /* elements at once, where they must be unpacked */

static inline void fly_mpi_apply(void *context, const void *left, void *inout, size_t count) {
    fly_mpi_folding *f = (fly_mpi_folding *)context;
    unsigned char *from = (unsigned char *)(uintptr_t)left, *to = (unsigned char *)inout;
    size_t most = f->direct ? (size_t)INT_MAX : f->most, n;
    for (; count != 0; count -= n) {
        n = count < most ? count : most;
        if (f->direct) {
            MPI_Reduce_local(from, to, (int)n, f->type, f->op);
        } else {
            unsigned char *a = f->room - f->layout.first, *b = a + f->one_side;
            fly_mpi_pack("fold", 1, a, f->type, &f->layout, n, from);
            fly_mpi_pack("fold", 1, b, f->type, &f->layout, n, to);
            MPI_Reduce_local(a, b, (int)n, f->type, f->op);
            fly_mpi_pack("fold", 0, b, f->type, &f->layout, n, to);
        }
        from += n * f->layout.bytes;
        to += n * f->layout.bytes;
    }
}

/* Makes the fold of an operation on a type; `f` must live as long as the fold is used. */
static inline int fly_mpi_fold(const char *call, MPI_Datatype type, MPI_Op op,
                               const fly_mpi_layout *layout, fly_mpi_folding *f, fly_fold *fold) {
    int integers, addresses, types, combiner, second, commutes = 1;
    char kind, first;
    fly_mpi_op known;
    memset(fold, 0, sizeof *fold);
    memset(f, 0, sizeof *f);
    if (op == MPI_OP_NULL) return fly_mpi_fail(FLY_ERR_ARG, "%s: op is MPI_OP_NULL", call);
    known = fly_mpi_op_of(op);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    kind = fly_mpi_kind(type, &first, &second);
    if (combiner == MPI_COMBINER_F90_REAL) kind = 'f';
    if (combiner == MPI_COMBINER_F90_COMPLEX) kind = 'c';
    if (combiner == MPI_COMBINER_F90_INTEGER) kind = 'i';
    if (known.name != NULL && (kind == 0 || strchr(known.kinds, kind) == NULL))
        return fly_mpi_fail(FLY_ERR_ARG, "%s: op: %s does not take this type%s", call, known.name,
                            kind == 0 ? ", which is not one of MPI's own" : "");
    fold->type = fly_mpi_number(kind, layout->bytes);
    if (known.fly >= 0 && fold->type >= 0) {
        fold->op = known.fly;
        return FLY_OK;
    }
    if (layout->bytes == 0) { /* nothing to fold */
        fold->type = FLY_UINT8;
        return FLY_OK;
    }
    if (layout->bytes > 65536)
        return fly_mpi_fail(FLY_ERR_UNSUPPORTED, "%s: type: %zu bytes of an element to fold must "
                            "be at most 65536", call, layout->bytes);
    if (known.name == NULL) MPI_Op_commutative(op, &commutes);
    fold->type = FLY_BYTES;
    fold->bytes = layout->bytes;
    fold->ordered = !commutes;
    fold->apply = fly_mpi_apply;
    fold->context = f;
    f->type = type;
    f->op = op;
    f->layout = *layout;
    f->direct = layout->solid && layout->extent == (ptrdiff_t)layout->bytes;
    if (f->direct) return FLY_OK;
    if (layout->extent < 0)
        return fly_mpi_fail(FLY_ERR_UNSUPPORTED, "%s: type: to fold its elements, each must stand "
                            "behind the one before", call);
    f->most = (size_t)layout->extent * FLY_MPI_FOLDED > ((size_t)1 << 20) ? 1 : FLY_MPI_FOLDED;
    f->one_side = (size_t)layout->span + (f->most - 1) * (size_t)layout->extent;
    f->one_side = (f->one_side + 63) / 64 * 64;
    f->room = (unsigned char *)calloc(2, f->one_side);
    return f->room != NULL ? FLY_OK : fly_mpi_fail(FLY_ERR_NOMEM, "%s: no memory to fold", call);
}

#ifdef __cplusplus
}
#endif
#endif
