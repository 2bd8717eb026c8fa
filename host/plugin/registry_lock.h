/// One process at a time changes the registry, also on file systems without locks.
#pragma once
#include <string>

namespace msprobe::plugin {

/// Holds the lock of a registry while it lives: flock where the file system has it; else a file that only one can
/// make, as on some network file systems. Throws Error E5015 after ten seconds of waiting, E1002 when it cannot be
/// made.
class RegistryLock {
 public:
  explicit RegistryLock(const std::string& registry);
  RegistryLock(const RegistryLock&) = delete;
  RegistryLock& operator=(const RegistryLock&) = delete;
  ~RegistryLock();

 private:
  void take_file();

  const std::string path_;
  int descriptor_ = -1;
  bool is_file_ = false;  ///< the file at path_ + ".held" is ours
};

}  // namespace msprobe::plugin
