/// Messages between the host and its worker processes: a length, then plain values in the order in which they are read.
/// Both ends are the same program, so there is no version; what arrives is checked all the same, because a plugin lives
/// at the other end.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/result.h"

namespace msprobe::plugin {

class MessageWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> MessageWriter& put(T value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    data_.append(bytes, sizeof value);
    return *this;
  }
  MessageWriter& put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    data_.append(text);
    return *this;
  }
  MessageWriter& put(const std::optional<double>& value) {
    put(static_cast<std::uint8_t>(value.has_value()));
    return put(value.value_or(0));
  }
  MessageWriter& put(const result::Value& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit(
        [this](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<Held, std::string>)
            put(std::string_view(held));
          else if constexpr (std::is_same_v<Held, bool>)
            put(static_cast<std::uint8_t>(held));
          else if constexpr (!std::is_same_v<Held, std::monostate>)
            put(held);
        },
        value);
    return *this;
  }
  const std::string& data() const { return data_; }

 private:
  std::string data_;
};

/// What arrived was not written by a healthy worker.
class BadMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws BadMessage.
class MessageReader {
 public:
  explicit MessageReader(std::string_view data) : rest_(data) {}

  template <class T>
  requires std::is_arithmetic_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(get<std::uint64_t>())); }
  bool at_end() const { return rest_.empty(); }
  std::optional<double> number() {
    const bool there = get<std::uint8_t>() != 0;
    const auto value = get<double>();
    return there ? std::optional(value) : std::nullopt;
  }
  result::Value value() {
    switch (get<std::uint8_t>()) {
      case 0:
        return {};
      case 1:
        return get<double>();
      case 2:
        return get<std::int64_t>();
      case 3:
        return get<std::uint8_t>() != 0;
      case 4:
        return text();
      default:
        throw BadMessage("a part of it makes no sense");
    }
  }
  /// A count of things of at least one byte each.
  std::uint64_t count() {
    const auto count = get<std::uint64_t>();
    if (count > rest_.size()) throw BadMessage("a part of it makes no sense");
    return count;
  }

 private:
  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) throw BadMessage("it ends too early");
    const auto taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::string_view rest_;
};

enum class Received { whole, ended, timed_out, cancelled, garbled };  ///< garbled: no message of ours

/// Sends length and data; false when the other end is gone. The other end answers before the next message is sent.
bool send_message(int socket, const std::string& data);

/// Waits for a whole message. `milliseconds` < 0: for ever. `cancelled` is asked ten times a second when given.
Received receive_message(int socket, std::string& data, int milliseconds, bool (*cancelled)(void*) = nullptr,
                         void* context = nullptr);

}  // namespace msprobe::plugin
