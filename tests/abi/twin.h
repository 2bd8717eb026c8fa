// Names that two plugins have in common: a global, an inline variable and a static in an inline function. Each plugin
// counts rows in its own; were they one, the counts would be too high.
#include "msprobe/analyzer.hpp"

int common_global = 0;
inline int common_inline = 0;
inline int& common_static() {
  static int count = 0;
  return count;
}

constexpr msp_field seen[] = {msprobe::column(MSP_TYPE_I64, "global", 0, "rows so far"),
                              msprobe::column(MSP_TYPE_I64, "inline", 0, "rows so far"),
                              msprobe::column(MSP_TYPE_I64, "static", 0, "rows so far")};
constexpr const msp_field* columns[] = {&seen[0], &seen[1], &seen[2], nullptr};

class Twin {
 public:
  explicit Twin(msprobe::Call&) {}
  void analyze(msprobe::Call& call, const msp_pair&) const {
    call.emit(0, std::int64_t(common_global += TWIN));
    call.emit(1, std::int64_t(common_inline += TWIN));
    call.emit(2, std::int64_t(common_static() += TWIN));
  }
};

MSPROBE_PLUGIN("org.example.twin", "1.0",
               msprobe::analyzer<Twin>("twin", "has a twin", nullptr, columns, 1u << MSP_KIND_TENSOR, MSP_SERIAL))
