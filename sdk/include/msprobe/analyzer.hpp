/// C++17 convenience over msprobe/analyzer.h: write a class with `analyze`, get a plugin. Header only; exceptions
/// become statuses.
///
///     class MaxAbs {
///      public:
///       explicit MaxAbs(msprobe::Call&) {}                              // read options here
///       void analyze(msprobe::Call& call, const msp_pair& pair) {...}   // many threads at once
///       void finish(msprobe::Call& call) {...}                         // optional, as is begin(call, pair_count)
///     };
///     MSPROBE_PLUGIN("org.example.max_abs", "1.0", msprobe::analyzer<MaxAbs>("max_abs", "largest difference", options,
///     columns))
#ifndef MSPROBE_ANALYZER_HPP_
#define MSPROBE_ANALYZER_HPP_
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "msprobe/analyzer.h"

namespace msprobe {

inline msp_str to_str(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view to_view(msp_str text) {
  return text.size ? std::string_view(text.data, text.size) : std::string_view();
}

/// Leaves a callback with this status; `what()` is shown in the row.
class Failure : public std::runtime_error {
 public:
  Failure(msp_status status, const std::string& why) : std::runtime_error(why), status_(status) {}
  msp_status status() const { return status_; }

 private:
  msp_status status_;
};

/// The running callback with the host's functions as members. Valid until the callback returns, on its thread.
class Call {
 public:
  Call(const msp_host* host, msp_call* call) : host_(host), call_(call) {}

  const msp_host* host() const { return host_; }
  msp_call* token() const { return call_; }
  bool cancelled() const { return host_->cancelled(call_) != 0; }
  void log(int32_t level, std::string_view text) const { host_->log(host_, level, to_str(text)); }

  /// A service by id; throws when the host has none.
  template <class Service>
  const Service& service(const char* id) const {
    const void* found = host_->service(host_, id);
    if (!found) throw Failure(MSP_E_UNSUPPORTED, std::string("this host has no service ") + id);
    return *static_cast<const Service*>(found);
  }

  double option_f64(const char* name) const {
    double value = 0;
    check(host_->option_f64(call_, name, &value));
    return value;
  }
  std::int64_t option_i64(const char* name) const {
    std::int64_t value = 0;
    check(host_->option_i64(call_, name, &value));
    return value;
  }
  bool option_bool(const char* name) const { return option_i64(name) != 0; }
  std::string option_text(const char* name) const {
    msp_str value{};
    check(host_->option_text(call_, name, &value));
    return std::string(to_view(value));
  }

  void emit(std::uint32_t column, double value) const { check(host_->emit_f64(call_, column, value)); }
  void emit(std::uint32_t column, std::int64_t value) const { check(host_->emit_i64(call_, column, value)); }
  void emit(std::uint32_t column, bool value) const { check(host_->emit_i64(call_, column, value)); }
  void emit(std::uint32_t column, std::string_view value) const {
    check(host_->emit_text(call_, column, to_str(value)));
  }
  void emit(std::uint32_t column, const char* value) const { emit(column, std::string_view(value)); }

  /// error: the row's headline; threshold: what it was held against (NaN: nothing).
  void verdict(std::int32_t verdict, double error, double threshold, std::string_view why) const {
    check(host_->verdict(call_, verdict, error, threshold, to_str(why)));
  }
  void skip(std::string_view why) const { verdict(MSP_SKIP, nan(), nan(), why); }

  /// Calls use(block) for each block of the pair. Throws when bytes cannot be read or the run is cancelled.
  template <class Use>
  void for_each_block(const msp_pair& pair, Use&& use) const {
    check(host_->rewind(call_, &pair));
    msp_block block{};
    block.struct_size = sizeof block;
    msp_status status = MSP_OK;
    while ((status = host_->next_block(call_, &block)) == MSP_OK) use(block);
    if (status != MSP_END) check(status);
  }

  /// Dirty memory until the callback returns.
  template <class T>
  T* scratch(std::size_t count) const {
    void* memory = host_->scratch(call_, count * sizeof(T), alignof(T) > 64 ? alignof(T) : 64);
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }

  /// Throws on a bad status. The host has its own text already when the failure came from it.
  void check(msp_status status) const {
    if (status < 0) throw Failure(status, "");
  }

  static double nan() { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  const msp_host* host_;
  msp_call* call_;
};

namespace detail {

/// An instance and the host it belongs to.
template <class T>
struct Instance {
  const msp_host* host;
  T analyzer;
};

template <class Body>
msp_status guarded(const msp_host* host, msp_call* call, Body&& body) {
  try {
    body();
    return MSP_OK;
  } catch (const Failure& failure) {
    return host->fail(call, failure.status(), to_str(failure.what()));
  } catch (const std::bad_alloc&) {
    return host->fail(call, MSP_E_NOMEM, to_str("out of memory"));
  } catch (const std::exception& error) {
    return host->fail(call, MSP_E_INTERNAL, to_str(error.what()));
  } catch (...) {
    return host->fail(call, MSP_E_INTERNAL, to_str("an exception of an unknown type"));
  }
}

template <class T, class = void>
struct HasBegin : std::false_type {};
template <class T>
struct HasBegin<T, std::void_t<decltype(std::declval<T&>().begin(std::declval<Call&>(), std::uint64_t()))>>
    : std::true_type {};
template <class T, class = void>
struct HasFinish : std::false_type {};
template <class T>
struct HasFinish<T, std::void_t<decltype(std::declval<T&>().finish(std::declval<Call&>()))>> : std::true_type {};

template <class T>
struct Callbacks {
  static Instance<T>& of(void* self) { return *static_cast<Instance<T>*>(self); }

  static msp_status create(const msp_host* host, msp_call* token, void** self) {
    return guarded(host, token, [&] {
      Call call(host, token);
      *self = new Instance<T>{host, T(call)};
    });
  }
  static msp_status begin(void* self, msp_call* token, std::uint64_t count) {
    return guarded(of(self).host, token, [&] {
      Call call(of(self).host, token);
      if constexpr (HasBegin<T>::value)
        of(self).analyzer.begin(call, count);
      else
        (void)count;
    });
  }
  static msp_status analyze_pair(void* self, msp_call* token, const msp_pair* pair) {
    return guarded(of(self).host, token, [&] {
      Call call(of(self).host, token);
      of(self).analyzer.analyze(call, *pair);
    });
  }
  static msp_status finish(void* self, msp_call* token) {
    return guarded(of(self).host, token, [&] {
      Call call(of(self).host, token);
      if constexpr (HasFinish<T>::value) of(self).analyzer.finish(call);
    });
  }
  static void destroy(void* self) { delete static_cast<Instance<T>*>(self); }
};

}  // namespace detail

/// Constant data of one analyzer. `accepts`: 1 << MSP_KIND_*; options and columns: NULL-terminated lists or nullptr.
template <class T>
constexpr msp_analyzer analyzer(const char* name, const char* summary, const msp_field* const* options,
                                const msp_field* const* columns, std::uint32_t accepts = 1u << MSP_KIND_TENSOR,
                                std::uint32_t threading = MSP_PARALLEL) {
  using Callbacks = detail::Callbacks<T>;
  return {sizeof(msp_analyzer),
          threading,
          accepts,
          0,
          name,
          summary,
          options,
          columns,
          &Callbacks::create,
          detail::HasBegin<T>::value ? &Callbacks::begin : nullptr,
          &Callbacks::analyze_pair,
          detail::HasFinish<T>::value ? &Callbacks::finish : nullptr,
          &Callbacks::destroy};
}

constexpr msp_field option(std::uint32_t type, const char* name, const char* initial, const char* doc,
                           std::uint32_t flags = 0) {
  return {sizeof(msp_field), type, name, doc, initial, 0, flags};
}
constexpr msp_field column(std::uint32_t type, const char* name, std::int32_t direction, const char* doc,
                           std::uint32_t flags = 0) {
  return {sizeof(msp_field), type, name, doc, nullptr, direction, flags};
}

}  // namespace msprobe

/// Exports a library with one analyzer.
#define MSPROBE_PLUGIN(id, version, ...)                                                                              \
  namespace {                                                                                                         \
  const msp_analyzer msprobe_the_analyzer = __VA_ARGS__;                                                              \
  const msp_analyzer* const msprobe_the_analyzers[] = {&msprobe_the_analyzer};                                        \
  }                                                                                                                   \
  extern "C" {                                                                                                        \
  MSP_EXPORT extern const msp_plugin msprobe_plugin_v1;                                                               \
  const msp_plugin msprobe_plugin_v1 = {sizeof(msp_plugin), MSP_ABI_MINOR, 0, 1, id, version, msprobe_the_analyzers}; \
  }

#endif
