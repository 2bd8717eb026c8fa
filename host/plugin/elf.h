/// A look at an ELF file's dynamic symbols without loading it: loading runs constructors.
#pragma once
#include <string>
#include <vector>

namespace msprobe::plugin {

struct ElfLook {
  bool is_elf = false;                      ///< a shared object of this kind of machine (64 bit, little-endian)
  std::string why_not;                      ///< what it is instead: "not an ELF file", "32-bit"
  bool has_table = false;                   ///< a dynamic symbol table was found and read
  std::vector<std::string> plugin_symbols;  ///< defined symbols that begin with "msprobe_plugin_v"
};

/// Never throws for what the file holds; throws Error E1003/E1004 when it cannot be opened.
ElfLook look_at_elf(const std::string& path);

}  // namespace msprobe::plugin
