/// Numbers as text: exact for files, short for people.
#pragma once
#include <string>

namespace msprobe::report {

/// The shortest text that reads back to the same bits; "NaN", "Infinity", "-Infinity".
void append_exact(std::string& out, double value);
std::string exact(double value);

/// For people: `digits` significant digits, trailing zeros dropped. A value just below 1 is never shown as 1.
std::string brief(double value, int digits = 3);

/// Both with as many digits as it takes to tell them apart: "1.004e-05" and "1e-05", never "1e-05 > 1e-05".
struct TwoNumbers {
  std::string first, second;
};
TwoNumbers brief_pair(double first, double second);

/// 1234567 as "1,234,567".
std::string grouped(unsigned long long count);

}  // namespace msprobe::report
