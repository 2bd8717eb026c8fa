#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/log.h"
#include "convert.h"
#include "diff.h"
#include "msprobe/dtype.hpp"
#include "plugin/call.h"
#include "plugin/coordinates.h"
#include "plugin/struct_sizes.h"
#include "statistics.h"

#ifndef MSPROBE_VERSION
#error "the build gives the version"
#endif

using msprobe::dump::Data;
using msprobe::dump::Tensor;
using msprobe::engine::Planned;

namespace msprobe::plugin {

/// Friend of PluginAnalysis: the functions below are its members in all but name.
struct HostTable {
  static const result::Value* option(const msp_call* call, const char* name) {
    const auto found = call->analysis.options_.find(name ? name : "");
    return found == call->analysis.options_.end() ? nullptr : &found->second;
  }
  static const std::vector<Planned>& plan(const msp_call* call) { return *call->analysis.plan_; }
  static std::vector<result::Row>* rows(const msp_call* call) { return call->analysis.rows_; }
  static std::vector<result::Finding>* findings(const msp_call* call) { return call->analysis.findings_; }
  static std::uint32_t declare(const msp_call* call, const msp_field& field) {
    return call->analysis.column_number({field.name, static_cast<result::ColumnType>(field.type),
                                         field.doc ? field.doc : "", field.direction,
                                         (field.flags & MSP_COLUMN_HIDDEN) != 0});
  }
  static std::size_t column_count(const msp_call* call) {
    const std::lock_guard lock(call->analysis.mutex_);
    return call->analysis.columns_.size();
  }
  /// Nothing for a column that was never declared. Declared ones do not move: only those that came later need the lock.
  static std::optional<result::ColumnType> type_of(const msp_call* call, std::uint32_t column) {
    const auto& declared = call->analysis.declared_types_;
    if (column < declared.size()) return declared[column];
    const std::lock_guard lock(call->analysis.mutex_);
    const auto& columns = call->analysis.columns_;
    return column < columns.size() ? std::optional(columns[column].type) : std::nullopt;
  }
};

namespace {

constexpr std::uint64_t block_elements = 65536, most_columns = 4096;

std::string_view view(msp_str text) {
  return text.size && text.data ? std::string_view(text.data, text.size) : std::string_view();
}

/// A token outside of its callback or on a foreign thread is the plugin's bug, and said so.
bool valid(const msp_call* call) {
  const std::thread::id running = call ? call->thread.load() : std::thread::id();
  if (running == std::this_thread::get_id() && call) return true;
  if (!call)
    log::warning("a plugin called the host without the token of a callback: tell its author");
  else if (running == std::thread::id())
    call->analysis.complain("used the token of a callback after the callback had returned");
  else
    call->analysis.complain("used the token of a callback on another thread");
  return false;
}

msp_status refuse(msp_call* call, msp_status status, std::string why) {
  if (call->why.empty()) call->why = std::move(why);
  call->failed = status;
  return status;
}

/// Runs a service of the host; what goes wrong is kept for the row.
template <class Body>
msp_status serve(msp_call* call, Body&& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    call->error = error;
    return call->failed = error.code() == "E4009" ? MSP_E_UNSUPPORTED : MSP_E_READ;
  } catch (const engine::Cancelled&) {
    call->cancelled = true;
    return call->failed = MSP_E_CANCELLED;
  } catch (const std::bad_alloc&) {
    return refuse(call, MSP_E_NOMEM, "out of memory (the limit of a worker process is --plugin-memory)");
  } catch (const std::exception& error) {
    return refuse(call, MSP_E_INTERNAL, error.what());
  }
}

// ---- the running callback
// -------------------------------------------------------------------------------------------------

void host_log(const msp_host*, int32_t level, msp_str text) noexcept {
  log::write(static_cast<log::Level>(std::clamp<int32_t>(level, MSP_LOG_DEBUG, MSP_LOG_ERROR)), view(text));
}

msp_status host_fail(msp_call* call, msp_status status, msp_str why) noexcept {
  if (!valid(call)) return MSP_E_INVALID;
  call->failed = status < 0 ? status : MSP_E_INTERNAL;
  if (!view(why).empty()) call->why = view(why);
  return call->failed;
}

int32_t host_cancelled(msp_call* call) noexcept {
  return valid(call) && call->worker && call->worker->cancelled();
}
uint32_t host_worker(msp_call* call) noexcept {
  return valid(call) && call->worker ? call->worker->number() : 0;
}

void* host_scratch(msp_call* call, uint64_t bytes, uint64_t align) noexcept {
  if (!valid(call) || (align & (align - 1)) != 0 || align > 4096) return nullptr;
  align = std::max<uint64_t>(align, 64);
  if (bytes > std::numeric_limits<std::uint64_t>::max() - align) return nullptr;
  try {
    call->scratch.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes + align));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(call->scratch.back().get());
  return reinterpret_cast<void*>((address + align - 1) & ~(align - 1));
}

msp_status host_option_f64(msp_call* call, const char* name, double* out) noexcept {
  if (!valid(call) || !out) return MSP_E_INVALID;
  const auto* value = HostTable::option(call, name);
  if (!value)
    return refuse(call, MSP_E_INVALID,
                  fmt::format("it asks for an option '{}' that it never declared", name ? name : ""));
  if (const auto* number = std::get_if<double>(value))
    *out = *number;
  else if (const auto* integer = std::get_if<std::int64_t>(value))
    *out = static_cast<double>(*integer);
  else
    *out = std::numeric_limits<double>::quiet_NaN();
  return MSP_OK;
}

msp_status host_option_i64(msp_call* call, const char* name, int64_t* out) noexcept {
  if (!valid(call) || !out) return MSP_E_INVALID;
  const auto* value = HostTable::option(call, name);
  if (!value)
    return refuse(call, MSP_E_INVALID,
                  fmt::format("it asks for an option '{}' that it never declared", name ? name : ""));
  if (const auto* integer = std::get_if<std::int64_t>(value))
    *out = *integer;
  else if (const auto* truth = std::get_if<bool>(value))
    *out = *truth;
  else
    *out = 0;
  return MSP_OK;
}

msp_status host_option_text(msp_call* call, const char* name, msp_str* out) noexcept {
  if (!valid(call) || !out) return MSP_E_INVALID;
  const auto* value = HostTable::option(call, name);
  if (!value)
    return refuse(call, MSP_E_INVALID,
                  fmt::format("it asks for an option '{}' that it never declared", name ? name : ""));
  const auto* text = std::get_if<std::string>(value);
  *out = text ? msp_str{text->data(), text->size()} : msp_str{"", 0};
  return MSP_OK;
}

// ---- data
// -----------------------------------------------------------------------------------------------------------------

uint64_t host_pair_count(msp_call* call) noexcept {
  return valid(call) ? HostTable::plan(call).size() : 0;
}

const msp_pair* host_pair_at(msp_call* call, uint64_t index) noexcept {
  if (!valid(call) || index >= HostTable::plan(call).size()) return nullptr;
  try {
    return call->facts_of(HostTable::plan(call)[index]);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

const Planned* readable(msp_call* call, const msp_pair* pair) {
  const Planned* planned = call->planned_of(pair);
  return planned && planned->side[0] && planned->side[1] && call->worker ? planned : nullptr;
}

msp_status host_rewind(msp_call* call, const msp_pair* pair) noexcept {
  if (!valid(call)) return MSP_E_INVALID;
  const Planned* planned = readable(call, pair);
  if (!planned) return refuse(call, MSP_E_INVALID, "rewind: this pair has no two sides to read");
  return serve(call, [&] {
    call->blocks = {};
    call->blocks.pair_index = planned->index;
    for (int side = 0; side < 2; ++side)
      call->blocks.data[static_cast<std::size_t>(side)] = &call->open(*planned->side[side], side);
    if (call->blocks.data[0]->shape() != call->blocks.data[1]->shape())
      return refuse(call, MSP_E_INVALID, "the shapes of the two sides differ");
    call->blocks.active = true;
    return static_cast<msp_status>(MSP_OK);
  });
}

msp_status host_next_block(msp_call* call, msp_block* out) noexcept {
  if (!valid(call) || !out) return MSP_E_INVALID;
  if (out->struct_size < block_size_1_0)
    return refuse(call, MSP_E_INVALID, "next_block: struct_size of the block is not set");
  if (!call->blocks.active) {
    if (call->facts.empty()) return MSP_E_INVALID;
    const msp_status status = host_rewind(call, &call->facts.front()->pair);
    if (status != MSP_OK) return status;
  }
  return serve(call, [&] {
    auto& blocks = call->blocks;
    const std::uint64_t total = blocks.data[0]->count();
    if (blocks.next >= total) return static_cast<msp_status>(MSP_END);
    if (call->worker->cancelled()) throw engine::Cancelled{};
    msp_block block{};
    block.first = blocks.next;
    block.count = std::min(block_elements, total - blocks.next);
    for (std::size_t side = 0; side < 2; ++side) {
      const Data& data = *blocks.data[side];
      std::byte* copy = call->block_buffers[side].reserve(block.count * dtype_info(data.dtype())->bytes);
      data.read(block.first, block.count, copy);
      block.data[side] = copy;
    }
    blocks.next += block.count;
    write_struct(block, *out);
    return static_cast<msp_status>(MSP_OK);
  });
}

const Data* data_of(msp_call* call, const msp_tensor* tensor, uint64_t first, uint64_t count) {
  const Tensor* found = call->tensor_of(tensor);
  if (!found || !call->worker) {
    refuse(call, MSP_E_INVALID, "it reads a tensor that the host did not give to this callback");
    return nullptr;
  }
  const Data& data = call->open(*found, 0);
  if (first > data.count() || count > data.count() - first) {
    refuse(call, MSP_E_INVALID, fmt::format("it reads elements {} to {} of {}", first, first + count, data.count()));
    return nullptr;
  }
  return &data;
}

msp_status host_read(msp_call* call, const msp_tensor* tensor, uint64_t first, uint64_t count, void* out) noexcept {
  if (!valid(call)) return MSP_E_INVALID;
  return serve(call, [&] {
    const Data* data = data_of(call, tensor, first, count);
    if (!data) return static_cast<msp_status>(MSP_E_INVALID);
    data->read(first, count, out);
    return static_cast<msp_status>(MSP_OK);
  });
}

msp_status host_read_f64(msp_call* call, const msp_tensor* tensor, uint64_t first, uint64_t count,
                         double* out) noexcept {
  if (!valid(call)) return MSP_E_INVALID;
  return serve(call, [&] {
    const Data* data = data_of(call, tensor, first, count);
    if (!data) return static_cast<msp_status>(MSP_E_INVALID);
    const DtypeInfo& info = *dtype_info(data->dtype());
    std::vector<std::byte> block(std::min(count, block_elements) * info.bytes);
    for (std::uint64_t done = 0; done < count; done += block_elements) {
      const std::uint64_t now = std::min(block_elements, count - done);
      data->read(first + done, now, block.data());
      if (!kernels::to_f64(info.dtype, block.data(), now, out + done))
        return refuse(call, MSP_E_UNSUPPORTED, fmt::format("{} has no single f64 value", info.name));
    }
    return static_cast<msp_status>(MSP_OK);
  });
}

// ---- results
// --------------------------------------------------------------------------------------------------------------

msp_status host_declare_column(msp_call* call, const msp_field* field, uint32_t* column) noexcept {
  if (!valid(call) || !field || !column) return MSP_E_INVALID;
  return serve(call, [&] {
    if (field->struct_size < field_size_1_0 || !field->name || !*field->name || field->type < MSP_TYPE_F64 ||
        field->type > MSP_TYPE_BOOL)
      return refuse(call, MSP_E_INVALID, "it declares a column without a size, a name or a known type");
    if (HostTable::column_count(call) >= most_columns)
      return refuse(call, MSP_E_INVALID, fmt::format("it declares more than {} columns", most_columns));
    *column = HostTable::declare(call, *field);
    return static_cast<msp_status>(MSP_OK);
  });
}

msp_status emit(msp_call* call, uint32_t column, result::Value value) noexcept {
  if (!valid(call) || !call->row) return MSP_E_INVALID;
  return serve(call, [&] {
    const auto type = HostTable::type_of(call, column);
    if (!type) {
      call->analysis.complain(fmt::format("emits column {}, which it never declared", column));
      return refuse(call, MSP_E_INVALID, fmt::format("it emits column {}, which it never declared", column));
    }
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer && type == result::ColumnType::boolean)
      value = *integer != 0;
    else if (integer && type == result::ColumnType::f64)
      value = static_cast<double>(*integer);
    auto& metrics = call->row->metrics;
    if (metrics.size() <= column) metrics.resize(column + 1);
    metrics[column] = std::move(value);
    return static_cast<msp_status>(MSP_OK);
  });
}

msp_status host_emit_f64(msp_call* call, uint32_t column, double value) noexcept {
  return emit(call, column, value);
}
msp_status host_emit_i64(msp_call* call, uint32_t column, int64_t value) noexcept {
  return emit(call, column, value);
}
msp_status host_emit_text(msp_call* call, uint32_t column, msp_str value) noexcept {
  return emit(call, column, std::string(view(value)));
}

std::optional<double> number_or_nothing(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

msp_status host_verdict(msp_call* call, int32_t verdict, double error, double threshold, msp_str why) noexcept {
  if (!valid(call) || !call->row) return MSP_E_INVALID;
  if (verdict < MSP_PASS || verdict > MSP_SKIP)
    return refuse(call, MSP_E_INVALID, fmt::format("it gives verdict {}", verdict));
  call->row->verdict = static_cast<result::Verdict>(verdict);
  call->row->error = number_or_nothing(error);
  call->row->threshold = number_or_nothing(threshold);
  call->row->why = view(why);
  return MSP_OK;
}

result::Row* finished_row(msp_call* call, uint64_t index) {
  auto* rows = HostTable::rows(call);
  return rows && index < rows->size() ? &(*rows)[index] : nullptr;
}

msp_status host_row_f64(msp_call* call, uint64_t index, uint32_t column, double* out) noexcept {
  if (!valid(call) || !out) return MSP_E_INVALID;
  const result::Row* row = finished_row(call, index);
  if (!row)
    return refuse(call, MSP_E_INVALID, "row_f64: rows are there in finish only, and no further than their count");
  *out = std::numeric_limits<double>::quiet_NaN();
  if (column >= row->metrics.size()) return MSP_OK;
  if (const auto* number = std::get_if<double>(&row->metrics[column]))
    *out = *number;
  else if (const auto* integer = std::get_if<std::int64_t>(&row->metrics[column]))
    *out = static_cast<double>(*integer);
  return MSP_OK;
}

msp_status host_row_verdict(msp_call* call, uint64_t index, int32_t* verdict, double* error) noexcept {
  if (!valid(call) || !verdict || !error) return MSP_E_INVALID;
  const result::Row* row = finished_row(call, index);
  if (!row)
    return refuse(call, MSP_E_INVALID, "row_verdict: rows are there in finish only, and no further than their count");
  *verdict = row->verdict == result::Verdict::error ? MSP_SKIP : static_cast<int32_t>(row->verdict);
  *error = row->error.value_or(std::numeric_limits<double>::quiet_NaN());
  return MSP_OK;
}

msp_status host_amend(msp_call* call, uint64_t index, int32_t verdict, msp_str why) noexcept {
  if (!valid(call)) return MSP_E_INVALID;
  result::Row* row = finished_row(call, index);
  if (!row || verdict < MSP_PASS || verdict > MSP_SKIP)
    return refuse(call, MSP_E_INVALID, "amend: no such row or verdict");
  row->verdict = static_cast<result::Verdict>(verdict);
  row->why = view(why);
  return MSP_OK;
}

msp_status host_finding(msp_call* call, int32_t verdict, const char* code, msp_str text, msp_str, const uint64_t* rows,
                        uint64_t count) noexcept {
  if (!valid(call)) return MSP_E_INVALID;
  auto* findings = HostTable::findings(call);
  if (!findings) return refuse(call, MSP_E_INVALID, "finding: findings are taken in finish only");
  if (verdict < MSP_PASS || verdict > MSP_FAIL || (count && !rows))
    return refuse(call, MSP_E_INVALID, "finding: no such verdict, or rows are NULL");
  return serve(call, [&] {
    result::Finding finding{static_cast<result::Verdict>(verdict), code ? code : "", std::string(view(text)), "", {}};
    const std::uint64_t known = HostTable::plan(call).size();
    for (std::uint64_t i = 0; i < count; ++i)
      if (rows[i] < known) finding.rows.push_back(rows[i]);
    findings->push_back(std::move(finding));
    return static_cast<msp_status>(MSP_OK);
  });
}

// ---- services
// -------------------------------------------------------------------------------------------------------------

bool sized(const msp_diff_options* options, const msp_diff_result* out) {
  return options && out && options->struct_size >= diff_options_size_1_0 && out->struct_size >= diff_result_size_1_0;
}

msp_status diff_pair(msp_call* call, const msp_pair* pair, const msp_diff_options* options,
                     msp_diff_result* out) noexcept {
  if (!valid(call)) return MSP_E_INVALID;
  if (!sized(options, out)) return refuse(call, MSP_E_INVALID, "diff: struct_size of options or result is not set");
  const Planned* planned = readable(call, pair);
  if (!planned) return refuse(call, MSP_E_INVALID, "diff: this pair has no two sides to read");
  return serve(call, [&] {
    const Data& reference = call->open(*planned->side[0], 0);
    const Data& target = call->open(*planned->side[1], 1);
    write_struct(call->worker->diff(reference, target, read_struct(*options)), *out);
    return static_cast<msp_status>(MSP_OK);
  });
}

constexpr std::uint32_t metric_types[] = {
#define MSP_METRIC_TYPE_(key, type, direction, doc) MSP_TYPE_##type,
    MSP_METRICS(MSP_METRIC_TYPE_)
#undef MSP_METRIC_TYPE_
};

msp_status diff_emit(msp_call* call, const msp_pair* pair, const msp_diff_result* result,
                     uint32_t first_column) noexcept {
  if (!valid(call) || !result) return MSP_E_INVALID;
  const Planned* planned = call->planned_of(pair);
  if (!planned || !planned->side[0]) return refuse(call, MSP_E_INVALID, "emit: not a pair of this callback");
  return serve(call, [&] {
    // Files know their shape better than a catalogue does.
    const std::vector<std::int64_t>& shape = call->open(*planned->side[0], 0).shape();
    for (std::uint32_t i = 0; i < MSP_METRIC_COUNT; ++i) {
      if (!result->present[i]) continue;
      const double number = result->number[i];
      result::Value value;
      switch (metric_types[i]) {
        case MSP_TYPE_F64:
          value = number;
          break;
        case MSP_TYPE_TEXT:
          value = coordinates(static_cast<std::uint64_t>(number), shape);
          break;
        default:
          value = static_cast<std::int64_t>(number);
          break;
      }
      const msp_status status = emit(call, first_column + i, std::move(value));
      if (status != MSP_OK) return status;
    }
    return static_cast<msp_status>(MSP_OK);
  });
}

msp_status statistics_of(msp_call* call, const msp_tensor* tensor, double stats[4], uint32_t* mask) noexcept {
  if (!valid(call) || !stats || !mask) return MSP_E_INVALID;
  return serve(call, [&] {
    const Data* data = data_of(call, tensor, 0, 0);
    if (!data) return static_cast<msp_status>(MSP_E_INVALID);
    *mask = call->worker->statistics(*data, stats);
    return static_cast<msp_status>(MSP_OK);
  });
}

msp_status kernel_to_f32(msp_dtype dtype, const void* data, uint64_t count, float* out) noexcept {
  return kernels::to_f32(dtype, data, count, out) ? MSP_OK : MSP_E_UNSUPPORTED;
}
msp_status kernel_to_f64(msp_dtype dtype, const void* data, uint64_t count, double* out) noexcept {
  return kernels::to_f64(dtype, data, count, out) ? MSP_OK : MSP_E_UNSUPPORTED;
}

msp_status kernel_diff(const msp_diff_options* options, msp_dtype reference, const void* left, msp_dtype target,
                       const void* right, uint64_t count, msp_diff_result* out) noexcept {
  if (!sized(options, out)) return MSP_E_INVALID;
  if (!kernels::diff_supported(reference, target)) return MSP_E_UNSUPPORTED;
  try {
    const kernels::DiffPlan plan{reference, target, read_struct(*options)};
    kernels::DiffPartial total;
    const std::uint64_t bytes[2] = {dtype_info(reference)->bytes, dtype_info(target)->bytes};
    for (std::uint64_t first = 0; first < count; first += kernels::segment_elements) {
      kernels::DiffPartial partial;
      partial.add(plan, static_cast<const std::byte*>(left) + first * bytes[0],
                  static_cast<const std::byte*>(right) + first * bytes[1], first,
                  std::min(kernels::segment_elements, count - first));
      total.combine(partial);
    }
    msp_diff_result result{};
    result.struct_size = sizeof result;
    total.finish(plan, result);
    write_struct(result, *out);
    return MSP_OK;
  } catch (const std::bad_alloc&) {
    return MSP_E_NOMEM;
  }
}

msp_status kernel_statistics(msp_dtype dtype, const void* data, uint64_t count, double stats[4],
                             uint32_t* mask) noexcept {
  if (!stats || !mask) return MSP_E_INVALID;
  if (!kernels::diff_supported(dtype, dtype)) return MSP_E_UNSUPPORTED;
  kernels::StatisticsPartial partial;
  partial.add(dtype, data, count);
  *mask = partial.finish(stats);
  return MSP_OK;
}

constexpr msp_diff_service diff_service{sizeof(msp_diff_service), MSP_METRIC_COUNT, diff_pair, diff_emit,
                                        statistics_of};
constexpr msp_kernels_service kernels_service{
    sizeof(msp_kernels_service), 0, kernel_to_f32, kernel_to_f64, kernel_diff, kernel_statistics};

const void* host_service(const msp_host*, const char* id) noexcept {
  if (!id) return nullptr;
  if (std::strcmp(id, MSP_DIFF_SERVICE) == 0) return &diff_service;
  if (std::strcmp(id, MSP_KERNELS_SERVICE) == 0) return &kernels_service;
  return nullptr;
}

}  // namespace

msp_host make_host_table() {
  return {.struct_size = sizeof(msp_host),
          .abi_minor = MSP_ABI_MINOR,
          .version = MSPROBE_VERSION,
          .log = host_log,
          .service = host_service,
          .fail = host_fail,
          .cancelled = host_cancelled,
          .worker = host_worker,
          .scratch = host_scratch,
          .option_f64 = host_option_f64,
          .option_i64 = host_option_i64,
          .option_text = host_option_text,
          .pair_count = host_pair_count,
          .pair_at = host_pair_at,
          .rewind = host_rewind,
          .next_block = host_next_block,
          .read = host_read,
          .read_f64 = host_read_f64,
          .declare_column = host_declare_column,
          .emit_f64 = host_emit_f64,
          .emit_i64 = host_emit_i64,
          .emit_text = host_emit_text,
          .verdict = host_verdict,
          .row_f64 = host_row_f64,
          .row_verdict = host_row_verdict,
          .amend = host_amend,
          .finding = host_finding};
}

}  // namespace msprobe::plugin
