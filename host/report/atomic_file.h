/// A file that appears complete or not at all.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace msprobe::report {

/// Calls `write` with a stream to a temporary file beside `path`, syncs it to disk and renames it to `path`. Symbolic
/// links are followed; what is no regular file (a pipe, a device) is written directly. On any failure the file that was
/// there before stays as it was: Error E1001 (storage) or E1002 (not writable).
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Throws the same errors for what can be known beforehand.
void check_writable(const std::string& path);

}  // namespace msprobe::report
