#pragma once
#include <cstddef>
#include <string>

namespace msprobe::report {

void append_base64(std::string& out, const void* bytes, std::size_t size);

}  // namespace msprobe::report
