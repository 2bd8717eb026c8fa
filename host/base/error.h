/// Errors of the host: a code of the catalogue (base/error_catalogue.cpp), what happened, where, and what to do.
#pragma once
#include <stdexcept>
#include <string>

namespace msprobe {

/// Printed as one line: "msprobe: error E4002: what happened: file or layer: what to do".
class Error : public std::runtime_error {
 public:
  Error(std::string code, std::string what_happened, std::string where, std::string what_to_do)
      : std::runtime_error(code + ": " + what_happened + ": " + where + ": " + what_to_do),
        code_(std::move(code)),
        what_happened_(std::move(what_happened)),
        where_(std::move(where)),
        what_to_do_(std::move(what_to_do)) {}

  const std::string& code() const { return code_; }
  const std::string& what_happened() const { return what_happened_; }
  const std::string& where() const { return where_; }
  const std::string& what_to_do() const { return what_to_do_; }

 private:
  std::string code_, what_happened_, where_, what_to_do_;
};

}  // namespace msprobe
