#include "plugin/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace msprobe::plugin {
namespace {

/// A file that is read in bounded pieces: a lying header must not make us read or allocate more than is there.
class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0)
      throw Error(errno == EACCES ? "E1004" : "E1003", std::strerror(errno), path,
                  "check the path and its permissions");
    struct stat info {};
    if (::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<std::uint64_t>(info.st_size);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }

  bool read(std::uint64_t offset, void* out, std::uint64_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return false;
    return ::pread(descriptor_, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }
  std::uint64_t size() const { return size_; }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

#if defined(__aarch64__)
constexpr std::uint16_t this_machine = EM_AARCH64;
#else
constexpr std::uint16_t this_machine = EM_X86_64;
#endif

/// All that the headers speak of is in the file: the loader maps without looking, and would die of what is missing.
bool is_whole(const File& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || segments.empty()) return false;
  if (!file.read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return false;
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_offset > file.size() || segment.p_filesz > file.size() - segment.p_offset) return false;
  const std::uint64_t sections = std::uint64_t{header.e_shnum} * header.e_shentsize;
  return header.e_shoff <= file.size() && sections <= file.size() - header.e_shoff;
}

constexpr std::string_view prefix = "msprobe_plugin_v";

void read_symbols(const File& file, const Elf64_Ehdr& header, ElfLook& look) {
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || sections.empty()) return;
  if (!file.read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& names_section = sections[section.sh_link];
    if (section.sh_size > file.size() || names_section.sh_size > file.size()) return;
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    std::string names(names_section.sh_size, '\0');
    if (!file.read(section.sh_offset, symbols.data(), symbols.size() * sizeof(Elf64_Sym))) return;
    if (!file.read(names_section.sh_offset, names.data(), names.size())) return;
    look.has_table = true;
    for (const Elf64_Sym& symbol : symbols) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
      const std::string_view name(names.c_str() + symbol.st_name);
      if (name.starts_with(prefix)) look.plugin_symbols.emplace_back(name);
    }
  }
}

}  // namespace

ElfLook look_at_elf(const std::string& path) {
  const File file(path);  // O_NONBLOCK: a pipe has no bytes, and is not waited for
  ElfLook look;
  Elf64_Ehdr header{};
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    look.why_not = "not an ELF file";
    return look;
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    look.why_not = "a 32-bit library";
    return look;
  }
  if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN) {
    look.why_not = "no shared library for this machine";
    return look;
  }
  if (header.e_machine != this_machine) {
    look.why_not = "a library for another machine";
    return look;
  }
  if (!is_whole(file, header)) {
    look.why_not = "the file is cut short";
    return look;
  }
  look.is_elf = true;
  read_symbols(file, header, look);
  return look;
}

}  // namespace msprobe::plugin
