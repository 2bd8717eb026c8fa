/// Where the members of a zip archive lie: the central directory, read without a library so that stored members can be
/// used in place. Format: PKWARE APPNOTE 6.3, ZIP64 included. Local headers are asked for nothing but the length of
/// their name and extra field: writers that stream (torch.save) leave size and checksum there at 0.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dump/source.h"

namespace msprobe::dump {

struct ZipMember {
  std::string name;
  std::uint64_t header = 0;  ///< offset of the local header
  std::uint64_t packed = 0, size = 0;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflate
  bool encrypted = false;
};

/// Starts with a local header, or is an empty archive.
bool looks_like_zip(const Source&);

/// In the order of the directory. Throws E4002 where the end is missing (a file that is still being written has none),
/// E4007 where it leads outside the file.
std::vector<ZipMember> read_zip_directory(const Source&);

/// Offset of the first byte of a member; throws when its bytes are not all inside the file.
std::uint64_t zip_member_offset(const Source&, const ZipMember&);

}  // namespace msprobe::dump
