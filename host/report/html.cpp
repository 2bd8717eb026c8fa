#include <ostream>

#include "report/writers.h"

namespace msprobe::report {

void write_html(const result::Report&, std::ostream& out, Language) {
  out << "<!doctype html>\n";
}

}  // namespace msprobe::report
