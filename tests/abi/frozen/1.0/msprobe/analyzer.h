/* The plugin ABI of msprobe, version 1. C11, LP64, little-endian. This header is the specification; docs/abi.md has the
 * rules of compatibility and docs/writing-an-analyzer.md the way to a first plugin.
 *
 * Threads:   [serial]    never concurrent with another callback of the same instance
 *            [parallel]  many workers at once, on the same instance or on instances in other processes
 *            [any]       any thread, also one the plugin made
 *            [call]      only with the token of the running callback, on that callback's thread
 * Ownership: every pointer is borrowed. Neither side frees memory of the other. Pointers live until the callback returns,
 *            but for `msp_host` and its services, which live until `destroy` has returned, and constant data of the plugin.
 * State:     an instance may cache, but what one pair contributes to the result of others goes through emitted values
 *            (columns may be hidden): workers may be processes, so `self` is not shared between all pairs.
 * Sizes:     the side that makes a struct sets struct_size; the other writes or reads no further than that.
 * Errors:    a callback that cannot go on returns `host->fail(call, status, text)`. Outputs are untouched on error.
 *            No exception may leave a callback.
 * Evolution: append fields only, at the end, padding explicit. */
#ifndef MSPROBE_ANALYZER_H_
#define MSPROBE_ANALYZER_H_
#include <stddef.h>
#include <stdint.h>

#include "msprobe/metrics.h"

#if defined(__cplusplus) && __cplusplus >= 201703L
#define MSP_NOEXCEPT noexcept /* part of a function pointer's type only since C++17 */
#else
#define MSP_NOEXCEPT
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define MSP_EXPORT __attribute__((visibility("default")))
#define MSP_ABI_MINOR 0u                      /* the major version is in the symbol's name */
#define MSP_PLUGIN_SYMBOL "msprobe_plugin_v1" /* MSP_EXPORT extern const msp_plugin msprobe_plugin_v1; */
/* Guard every field newer than 1.0: KNOWS for a value, HAS for a pointer that may be NULL. */
#define MSP_KNOWS(p, type, field) ((p)->struct_size >= offsetof(type, field) + sizeof((p)->field))
#define MSP_HAS(p, type, field) (MSP_KNOWS(p, type, field) && (p)->field != NULL)

typedef int32_t msp_status;
enum {
  MSP_OK = 0,
  MSP_END = 2,
  MSP_E_INVALID = -1,
  MSP_E_UNSUPPORTED = -2,
  MSP_E_NOMEM = -3,
  MSP_E_CANCELLED = -4,
  MSP_E_INTERNAL = -5,
  MSP_E_READ = -6
};
typedef int32_t msp_dtype; /* one enum for analyzers, backends and dumps; append only; unknown: MSP_E_UNSUPPORTED */
enum {
  MSP_DTYPE_NONE = 0, /* not known, or not a tensor */
  MSP_F64 = 1,
  MSP_F32,
  MSP_F16,
  MSP_BF16,
  MSP_F8E4M3FN,
  MSP_F8E5M2,
  MSP_I8,
  MSP_U8,
  MSP_I16,
  MSP_U16,
  MSP_I32,
  MSP_U32,
  MSP_I64,
  MSP_U64,
  MSP_BOOL,
  MSP_C64,
  MSP_C128,
  MSP_TF32 /* a unit roundoff (--noise-dtype), never the dtype of stored data */
};
enum { MSP_PARALLEL = 0, MSP_SERIAL = 1 };
enum { MSP_LOG_DEBUG = 0, MSP_LOG_INFO = 1, MSP_LOG_WARN = 2, MSP_LOG_ERROR = 3 };
enum { MSP_PASS = 0, MSP_WARN = 1, MSP_FAIL = 2, MSP_SKIP = 3 }; /* verdicts; SKIP: nothing to judge, the reason is in `why` */
enum { MSP_REFERENCE = 0, MSP_TARGET = 1 };
enum { MSP_TYPE_F64 = 1, MSP_TYPE_I64, MSP_TYPE_TEXT, MSP_TYPE_BOOL };
enum { MSP_COLUMN_HIDDEN = 1 }; /* for `finish` only, not in reports */
enum { MSP_OPTION_BARE = 2 };   /* a text option that may be given without a value: --name alone means "on" */
enum { MSP_STAT_MAX = 0, MSP_STAT_MIN = 1, MSP_STAT_MEAN = 2, MSP_STAT_NORM = 3, MSP_STAT_COUNT = 4 }; /* index; bit = 1 << index */
/* What a pair is. An analyzer says in `accepts` (1 << kind) which kinds it judges; the host skips the others and says so. */
enum { MSP_KIND_TENSOR = 0, MSP_KIND_STATISTICS = 1, MSP_KIND_CHECKSUM = 2, MSP_KIND_SCALAR = 3 };

typedef struct msp_str { /* frozen; UTF-8; for run-time text */
  const char *data;
  uint64_t size;
} msp_str;
typedef struct msp_call msp_call; /* the running callback; dies when it returns */
typedef struct msp_host msp_host;

typedef struct msp_field { /* an option, or a column of the report; constant text is NUL-terminated */
  uint32_t struct_size;
  uint32_t type;       /* MSP_TYPE_* */
  const char *name;    /* as in the report: "rel_l2"; an option is --name on the command line, '_' and '-' are the same */
  const char *doc;     /* one line: meaning and unit */
  const char *initial; /* options: default as text ("" : not given), NULL: required; columns: NULL */
  int32_t direction;   /* columns: 1 larger is worse, -1 smaller is worse, 0 neither */
  uint32_t flags;      /* MSP_COLUMN_*, MSP_OPTION_* */
} msp_field;

typedef struct msp_tensor { /* facts; the bytes come through blocks, read or whole */
  uint32_t struct_size;
  msp_dtype dtype; /* MSP_DTYPE_NONE for scalars and for dtypes that this host does not know */
  uint32_t kind;   /* MSP_KIND_* of this side */
  uint32_t ndim;
  uint32_t stats_mask; /* bit 1 << MSP_STAT_*: which of stats[] are there; a value may itself be NaN or inf */
  uint32_t has_data;   /* 0: statistics, checksum or scalar only */
  uint64_t element_count;
  const int64_t *shape; /* ndim entries */
  const double *stats;  /* MSP_STAT_COUNT entries: max, min, mean, norm */
  msp_str name;         /* full name as the dump writes it */
  msp_str layer;        /* "Module.blocks.0.ln2.LayerNorm", "Functional.layer_norm" */
  msp_str module;       /* what encloses an operator; empty: unknown */
  msp_str op_type;      /* "LayerNorm", "layer_norm" */
  msp_str phase;        /* "forward", "backward", "update" */
  msp_str direction;    /* "input", "output", "parameter", "gradient" */
  msp_str slot;         /* position or key: "0", "weight" */
  msp_str source;       /* "models.py:41 in forward"; empty: unknown */
  msp_str dtype_text;   /* the dtype as the dump writes it */
  msp_str value;        /* scalars: type and value, "float 1e-05" */
  int64_t step, rank, call_index, execution_index; /* -1: unknown */
  msp_str checksum_kind, checksum;                 /* empty: none; "crc32", "md5", "xor" */
  msp_str file;                                    /* where the tensor lies; empty: nowhere */
} msp_tensor;

typedef struct msp_pair {
  uint32_t struct_size;
  uint32_t kind;              /* MSP_KIND_*: what can be judged: the poorer of the two sides */
  uint64_t index;             /* position in the report: execution order of the reference */
  const msp_tensor *side[2];  /* both are there in analyze_pair; NULL in pair_at: only the other side has it */
  double threshold;           /* what the user gave for this row's error; NaN: the analyzer's own choice ("auto") */
  msp_str threshold_source;   /* "--error-threshold", "limits.json rule 3"; empty with auto */
  msp_dtype noise_dtype;      /* coarsest float dtype on either side of this row or upstream of it; NONE: no float so far */
  uint32_t reserved;
} msp_pair;

typedef struct msp_block { /* the caller sets struct_size; valid until the next call of next_block */
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t first, count; /* elements [first, first + count) in logical row-major order; count is at most 65536 */
  const void *data[2];   /* own dtype of each side, 64-byte aligned, readable to the next 64 bytes */
} msp_block;

/* ---- service "msprobe.diff/1": the heavy pass over a pair, split over idle workers ---------------------------------- */

enum { MSP_DIFF_FTZ = 1, MSP_DIFF_CLOSE = 2, MSP_DIFF_BITWISE = 4, MSP_DIFF_RESHAPE = 8, MSP_DIFF_SATURATE = 16 };

typedef struct msp_diff_options { /* the caller sets struct_size and zeroes the rest */
  uint32_t struct_size;
  uint32_t flags;             /* MSP_DIFF_* */
  double auto_threshold;      /* T of `outliers`: count |d| > eta/2 + min(8 T, 1/2) max(|r|, rms(r of the block)) */
  double atol, rtol;          /* with MSP_DIFF_CLOSE: count |d| > atol + rtol |r| */
  msp_dtype saturate_dtype;   /* with MSP_DIFF_SATURATE: whose largest finite value; NONE: the target's */
  uint32_t reserved;
} msp_diff_options;

#define MSP_METRIC_CAPACITY 64
typedef struct msp_diff_result { /* the caller sets struct_size */
  uint32_t struct_size;
  uint32_t shapes_differ;              /* 1: nothing else is there, error is Infinity */
  double error;                        /* headline: relative error beyond one rounding of the dtypes; integers: max(rel_l1, rel_l2) */
  double block_test;                   /* largest (rms(d_block) - eta/2)+ / max(rms(r_block), rms(r)); NaN where C is empty */
  double number[MSP_METRIC_CAPACITY];  /* by MSP_METRIC_*; texts (..._at) hold the flat index; bool 0 or 1 */
  uint8_t present[MSP_METRIC_CAPACITY]; /* 0: null */
  uint64_t bit_differences;            /* with MSP_DIFF_BITWISE: elements whose bytes differ (all, where dtypes differ) */
  uint64_t first_bit_difference;       /* flat index; element count where there is none */
} msp_diff_result;

#define MSP_DIFF_SERVICE "msprobe.diff/1"
typedef struct msp_diff_service {
  uint32_t struct_size;
  uint32_t metric_count;               /* MSP_METRIC_COUNT of the host */
  /* [call] both sides must have data; MSP_E_UNSUPPORTED for a dtype without kernel, MSP_E_READ when bytes cannot be read */
  msp_status (*diff)(msp_call *, const msp_pair *, const msp_diff_options *, msp_diff_result *) MSP_NOEXCEPT;
  /* [call] emits metric i as column first_column + i, null where it is not present, texts as coordinates */
  msp_status (*emit)(msp_call *, const msp_pair *, const msp_diff_result *, uint32_t first_column) MSP_NOEXCEPT;
  /* [call] max, min, mean, norm of one side's data, by MSP_STAT_*; mask says which exist */
  msp_status (*statistics)(msp_call *, const msp_tensor *, double stats[4], uint32_t *mask) MSP_NOEXCEPT;
} msp_diff_service;

/* ---- service "msprobe.kernels/1": SIMD kernels on the caller's own memory ------------------------------------------- */

#define MSP_KERNELS_SERVICE "msprobe.kernels/1"
typedef struct msp_kernels_service { /* [any]; pointers need the dtype's natural alignment only; unknown dtype: UNSUPPORTED */
  uint32_t struct_size;
  uint32_t reserved;
  msp_status (*to_f32)(msp_dtype, const void *, uint64_t count, float *out) MSP_NOEXCEPT;  /* rounds to nearest even; not for complex */
  msp_status (*to_f64)(msp_dtype, const void *, uint64_t count, double *out) MSP_NOEXCEPT; /* exact but for i64, u64; not for complex */
  msp_status (*diff)(const msp_diff_options *, msp_dtype reference, const void *, msp_dtype target, const void *, uint64_t count,
                     msp_diff_result *) MSP_NOEXCEPT;
  msp_status (*statistics)(msp_dtype, const void *, uint64_t count, double stats[4], uint32_t *mask) MSP_NOEXCEPT;
} msp_kernels_service;

struct msp_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *version;
  void (*log)(const msp_host *, int32_t level, msp_str) MSP_NOEXCEPT;    /* [any] copies */
  const void *(*service)(const msp_host *, const char *id) MSP_NOEXCEPT; /* [any] NULL: absent */
  /* --- the running callback */
  msp_status (*fail)(msp_call *, msp_status, msp_str why) MSP_NOEXCEPT;            /* [call] returns its status */
  int32_t (*cancelled)(msp_call *) MSP_NOEXCEPT;                                   /* [call] poll per block */
  uint32_t (*worker)(msp_call *) MSP_NOEXCEPT;                                     /* [call] 0 .. workers - 1 */
  void *(*scratch)(msp_call *, uint64_t bytes, uint64_t align) MSP_NOEXCEPT;       /* [call] dirty; gone at return; NULL: no memory */
  msp_status (*option_f64)(msp_call *, const char *name, double *) MSP_NOEXCEPT;   /* [call] NaN: not given */
  msp_status (*option_i64)(msp_call *, const char *name, int64_t *) MSP_NOEXCEPT;  /* [call] also bool */
  msp_status (*option_text)(msp_call *, const char *name, msp_str *) MSP_NOEXCEPT; /* [call] */
  /* --- data: of this pair, or of any other (pair_at) */
  uint64_t (*pair_count)(msp_call *) MSP_NOEXCEPT;                          /* [call] */
  const msp_pair *(*pair_at)(msp_call *, uint64_t index) MSP_NOEXCEPT;      /* [call] NULL: out of range */
  msp_status (*rewind)(msp_call *, const msp_pair *) MSP_NOEXCEPT;          /* [call] next_block starts anew on it */
  msp_status (*next_block)(msp_call *, msp_block *) MSP_NOEXCEPT;           /* [call] MSP_END when done; shapes must be equal */
  msp_status (*read)(msp_call *, const msp_tensor *, uint64_t first, uint64_t count, void *out) MSP_NOEXCEPT;
  msp_status (*read_f64)(msp_call *, const msp_tensor *, uint64_t first, uint64_t count, double *out) MSP_NOEXCEPT;
  /* --- results: column = position in msp_analyzer.columns, or what declare_column returned. Not emitted = null */
  msp_status (*declare_column)(msp_call *, const msp_field *, uint32_t *column) MSP_NOEXCEPT; /* [call] same name: same column */
  msp_status (*emit_f64)(msp_call *, uint32_t column, double) MSP_NOEXCEPT;                   /* [call] */
  msp_status (*emit_i64)(msp_call *, uint32_t column, int64_t) MSP_NOEXCEPT;                  /* [call] also bool */
  msp_status (*emit_text)(msp_call *, uint32_t column, msp_str) MSP_NOEXCEPT;                 /* [call] copies */
  /* the row's verdict (MSP_PASS..MSP_SKIP), its headline error and the threshold it was held against (NaN: none) */
  msp_status (*verdict)(msp_call *, int32_t verdict, double error, double threshold, msp_str why) MSP_NOEXCEPT;
  msp_status (*row_f64)(msp_call *, uint64_t index, uint32_t column, double *) MSP_NOEXCEPT;     /* [call] in finish: any row */
  msp_status (*row_verdict)(msp_call *, uint64_t index, int32_t *verdict, double *error) MSP_NOEXCEPT; /* [call] in finish */
  msp_status (*amend)(msp_call *, uint64_t index, int32_t verdict, msp_str why) MSP_NOEXCEPT;    /* [call] in finish */
  /* code: key of a message catalogue, "scale.lost"; text: the English sentence; args: JSON object for other languages */
  msp_status (*finding)(msp_call *, int32_t verdict, const char *code, msp_str text, msp_str args, const uint64_t *rows,
                        uint64_t count) MSP_NOEXCEPT;
};

typedef struct msp_analyzer {
  uint32_t struct_size;
  uint32_t threading;              /* MSP_PARALLEL or MSP_SERIAL */
  uint32_t accepts;                /* 1 << MSP_KIND_*: which kinds of rows it judges */
  uint32_t reserved;
  const char *name;                /* "veRL" */
  const char *summary;             /* one line for `msprobe plugins` */
  const msp_field *const *options; /* NULL-terminated; NULL: none */
  const msp_field *const *columns; /* NULL-terminated; NULL: none */
  msp_status (*create)(const msp_host *, msp_call *, void **self);      /* [serial] a failed create is not destroyed */
  msp_status (*begin)(void *self, msp_call *, uint64_t pair_count);     /* [serial] optional */
  msp_status (*analyze_pair)(void *self, msp_call *, const msp_pair *); /* [parallel] */
  msp_status (*finish)(void *self, msp_call *);                         /* [serial] optional; once, after all pairs */
  void (*destroy)(void *self);                                          /* [serial] also after a failed begin */
} msp_analyzer;

typedef struct msp_plugin { /* constant data, read by the host before it calls anything */
  uint32_t struct_size;
  uint32_t abi_minor;
  uint32_t min_host_minor; /* an older host refuses with a clear message */
  uint32_t analyzer_count;
  const char *id;      /* "org.example.ulp" */
  const char *version;
  const msp_analyzer *const *analyzers;
} msp_plugin;

#ifdef __cplusplus
}
#endif
#endif
