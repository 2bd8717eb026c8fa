#include "report/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <streambuf>
#include <vector>

#include "base/error.h"

namespace msprobe::report {
namespace {

namespace fs = std::filesystem;

/// A stream to a file descriptor that remembers why it failed.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  int error() const { return error_; }
  int sync() override { return drain() ? 0 : -1; }

 protected:
  int_type overflow(int_type c) override {
    if (!drain()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      *pptr() = traits_type::to_char_type(c);
      pbump(1);
    }
    return traits_type::not_eof(c);
  }

 private:
  bool drain() {
    const char* at = pbase();
    while (error_ == 0 && at < pptr()) {
      const auto written = ::write(descriptor_, at, static_cast<std::size_t>(pptr() - at));
      if (written >= 0) {
        at += written;
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return error_ == 0;
  }

  int descriptor_;
  int error_ = 0;
  std::vector<char> buffer_ = std::vector<char>(1 << 18);
};

/// Counts what a writer would write.
class CountingBuffer : public std::streambuf {
 public:
  std::uint64_t count() const { return count_; }

 protected:
  int_type overflow(int_type c) override {
    ++count_;
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char*, std::streamsize size) override {
    count_ += static_cast<std::uint64_t>(size);
    return size;
  }

 private:
  std::uint64_t count_ = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  /// The last error may come only now (network file systems, quotas).
  int close() {
    const int failed = ::close(number_) == 0 ? 0 : errno;
    number_ = -1;
    return failed;
  }

 private:
  int number_;
};

struct RemoveOnFailure {
  std::string path;
  ~RemoveOnFailure() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

std::string folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

bool is_storage(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

std::string size_text(double bytes) {
  constexpr std::array<const char*, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string free_space(const std::string& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return "unknown";
  return size_text(static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize));
}

[[noreturn]] void throw_storage(const std::string& path, int error, const std::function<void(std::ostream&)>& write) {
  CountingBuffer counter;
  std::ostream counting(&counter);
  write(counting);
  const auto folder = folder_of(path);
  throw Error("E1001",
              fmt::format("not enough storage for the report ({}; {} needed, {} free)", std::strerror(error),
                          size_text(static_cast<double>(counter.count())), free_space(folder)),
              path, "clean the folder, extend the disk or choose another place with -o; an earlier report was kept");
}

[[noreturn]] void throw_unwritable(const std::string& path, const std::string& reason, const std::string& what_to_do) {
  throw Error("E1002", "the report cannot be written (" + reason + ")", path, what_to_do);
}

[[noreturn]] void throw_unwritable(const std::string& path, int error) {
  throw_unwritable(path, std::strerror(error), "choose a folder that you may write to with -o");
}

/// The file behind symbolic links: renaming onto a link would replace the link.
fs::path behind_links(const std::string& path) {
  std::error_code ignored;
  fs::path at = path;
  for (int depth = 0; depth < 40 && fs::is_symlink(at, ignored); ++depth) {
    const auto next = fs::read_symlink(at, ignored);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at;
}

/// A name that no reader of the folder takes for a report, and that two runs at once do not share.
std::string temporary_name(const fs::path& target) {
  static std::atomic<unsigned> number{0};
  return (fs::path(folder_of(target)) / fmt::format(".msprobe-{}-{}.tmp", ::getpid(), number++)).string();
}

void sync_folder(const std::string& folder) {
  const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.number() >= 0) ::fsync(handle.number());  // some file systems cannot: the file itself is safe
}

[[noreturn]] void throw_for(const std::string& path, int error, const std::function<void(std::ostream&)>& write) {
  if (is_storage(error)) throw_storage(path, error, write);
  throw_unwritable(path, error);
}

void fill(const std::string& path, Descriptor& file, const std::function<void(std::ostream&)>& write, bool sync) {
  int failed = 0;
  {
    DescriptorBuffer buffer(file.number());
    std::ostream out(&buffer);
    write(out);
    out.flush();
    failed = buffer.error();
  }
  if (failed == 0 && sync && ::fsync(file.number()) != 0 && errno != EINVAL && errno != EROFS) failed = errno;
  if (failed == 0) failed = file.close();
  if (failed != 0) throw_for(path, failed, write);
}

}  // namespace

void check_writable(const std::string& path) {
  const auto target = behind_links(path);
  std::error_code error;
  const auto status = fs::status(target, error);
  if (fs::is_directory(status)) {
    throw_unwritable(path, "it is a folder", "name a file in it, for example report.html");
  }
  const auto folder = folder_of(target);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(target.c_str(), W_OK) != 0) throw_unwritable(path, errno);
    return;
  }
  if (!fs::is_directory(folder, error)) {
    if (fs::exists(folder, error)) throw_unwritable(path, "its parent is not a folder", "name another place with -o");
    throw Error("E1001", "the report cannot be written (the folder does not exist)", path,
                "create the folder first: mkdir -p " + folder);
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw_unwritable(path, errno);
  // Renaming would replace a file that its owner has protected against writing.
  if (fs::exists(status) && ::access(target.c_str(), W_OK) != 0) throw_unwritable(path, errno);
  constexpr std::size_t longest_name = 255;
  if (target.filename().string().size() > longest_name) throw_unwritable(path, ENAMETOOLONG);
}

void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  check_writable(path);
  const auto target = behind_links(path);
  std::error_code ignored;
  const auto status = fs::status(target, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    Descriptor direct(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (direct.number() < 0) throw_unwritable(path, errno);
    return fill(path, direct, write, false);
  }
  RemoveOnFailure temporary{temporary_name(target)};
  Descriptor file(::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.number() < 0) {
    const int error = errno;
    temporary.path.clear();
    throw_for(path, error, write);
  }
  struct stat before {};
  // A report that was made readable for others stays so.
  if (::stat(target.c_str(), &before) == 0 && ::fchmod(file.number(), before.st_mode & 07777) != 0) errno = 0;
  fill(path, file, write, true);
  if (::rename(temporary.path.c_str(), target.c_str()) != 0) throw_for(path, errno, write);
  temporary.path.clear();
  sync_folder(folder_of(target));
}

}  // namespace msprobe::report
