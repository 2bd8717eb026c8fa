#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace msprobe::file {
namespace {

Type type_of(mode_t mode) {
  return S_ISREG(mode) ? Type::file : S_ISDIR(mode) ? Type::folder : Type::other;
}

Status status_of(const struct stat& info) {
  Status status;
  status.type = type_of(info.st_mode);
  status.size = static_cast<std::uint64_t>(info.st_size);
  status.device = info.st_dev;
  status.inode = info.st_ino;
  status.modified_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  return status;
}

}  // namespace

Error error(int number, const std::string& path) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return {"E1003", "path does not exist", path, "check the spelling and whether the disk is mounted"};
    case EACCES:
    case EPERM:
      return {"E1004", "no permission to read", path, "ask its owner for read access, or run as a user who has it"};
    case EMFILE:
    case ENFILE:
      return {"E1005", "too many open files", path, "raise the limit (ulimit -n) or use fewer workers (-j)"};
    default:
      return {"E1005", std::string("cannot be read (") + std::strerror(number) + ")", path,
              "check the disk or the network file system, then try again"};
  }
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

int Descriptor::release() {
  const int number = number_;
  number_ = -1;
  return number;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Status status(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) return status_of(info);
  if (errno == ENOENT || errno == ENOTDIR) return {};
  throw error(errno, path);
}

Descriptor open(const std::string& path, Status* result) {
  // Without O_NONBLOCK a pipe that lies in a dump would hold us for ever; regular files do not care.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor) throw error(errno, path);
  struct stat info;
  if (::fstat(descriptor.get(), &info) != 0) throw error(errno, path);
  *result = status_of(info);
  if (result->type == Type::folder) throw error(EISDIR, path);
  if (result->type != Type::file)
    throw Error("E4001", "not a regular file", path, "name a file or a folder of tensors");
  return descriptor;
}

std::size_t read_at(int descriptor, std::uint64_t offset, void* out, std::size_t bytes, const std::string& path) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(descriptor, static_cast<char*>(out) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw error(errno, path);
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::vector<Entry> list(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(folder.c_str()), ::closedir);
  if (!handle) throw error(errno, folder);
  std::vector<Entry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(handle.get());
    if (!entry) {
      if (errno != 0) throw error(errno, folder);
      return entries;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    Entry found{std::string(name), Type::other, entry->d_type == DT_LNK};
    if (entry->d_type == DT_REG) {
      found.type = Type::file;
    } else if (entry->d_type == DT_DIR) {
      found.type = Type::folder;
    } else if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
      struct stat info;
      if (::fstatat(::dirfd(handle.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        found.link = S_ISLNK(info.st_mode);
      found.type =
          ::fstatat(::dirfd(handle.get()), entry->d_name, &info, 0) == 0 ? type_of(info.st_mode) : Type::missing;
    }
    entries.push_back(std::move(found));
  }
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string_view folder_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string absolute(const std::string& path) {
  if (!path.empty() && path.front() == '/') return path;
  const std::unique_ptr<char, void (*)(void*)> here(::getcwd(nullptr, 0), std::free);
  if (!here) throw error(errno, path);
  return path == "." || path.empty() ? here.get() : join(here.get(), path);
}

}  // namespace msprobe::file
