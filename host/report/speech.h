/// The two languages of the reports. Both texts stand beside each other where they are used, so that neither is
/// forgotten.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "report/writers.h"

namespace msprobe::report {

class Speech {
 public:
  explicit Speech(Language language) : chinese_(language == Language::chinese) {}
  template <class... Args>
  std::string operator()(std::string_view english, std::string_view chinese, const Args&... args) const {
    return fmt::format(fmt::runtime(chinese_ ? chinese : english), args...);
  }
  bool chinese() const { return chinese_; }

 private:
  bool chinese_;
};

std::string verdict_word(const Speech& say, result::Verdict verdict);
std::string direction_word(const Speech& say, dump::Direction direction);
/// The layer; for an operator, which has the same name everywhere, also the module around it.
std::string layer_text(const Speech& say, const result::Row& row);
/// "backward, call 2, output 0": what tells the tensors of one layer apart. The usual (forward, first call) is not
/// said.
std::string place_text(const Speech& say, const result::Row& row);

}  // namespace msprobe::report
