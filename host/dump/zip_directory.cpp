#include "dump/zip_directory.h"

#include <algorithm>
#include <cstring>

namespace msprobe::dump {
namespace {

constexpr std::size_t end_bytes = 22, locator_bytes = 20, end64_bytes = 56, entry_bytes = 46, local_bytes = 30;
constexpr std::size_t longest_comment = 65535;

Error malformed(const Source& source, const std::string& why) {
  return {"E4007", "malformed zip archive: " + why, source.path(), "the file is damaged: dump or copy it again"};
}

std::uint16_t u16(const std::byte* p) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(p[0]) | std::to_integer<unsigned>(p[1]) << 8);
}
std::uint32_t u32(const std::byte* p) {
  return u16(p) | static_cast<std::uint32_t>(u16(p + 2)) << 16;
}
std::uint64_t u64(const std::byte* p) {
  return u32(p) | static_cast<std::uint64_t>(u32(p + 4)) << 32;
}

/// A range of the file: in memory already, or read into `storage`.
const std::byte* bytes_at(const Source& source, std::uint64_t offset, std::size_t bytes,
                          std::vector<std::byte>& storage) {
  if (offset + bytes <= source.head().size()) return source.head().data() + offset;
  storage.resize(bytes);
  source.read(offset, storage.data(), bytes);
  return storage.data();
}

struct Directory {
  std::uint64_t offset = 0, bytes = 0, entries = 0;
};

Directory find_directory(const Source& source) {
  const std::uint64_t size = source.size();
  if (size < end_bytes) throw truncated(source.path(), end_bytes, size);
  // Most archives have no comment, so the end record is the last thing in them.
  std::vector<std::byte> storage;
  for (const std::size_t tail_bytes : {std::size_t{1024}, end_bytes + longest_comment}) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(size, tail_bytes));
    const std::uint64_t tail_offset = size - length;
    const std::byte* tail = bytes_at(source, tail_offset, length, storage);
    for (std::size_t at = length - end_bytes + 1; at-- > 0;) {
      if (u32(tail + at) != 0x06054b50 || at + end_bytes + u16(tail + at + 20) > length) continue;
      Directory directory{u32(tail + at + 16), u32(tail + at + 12), u16(tail + at + 10)};
      const std::uint64_t end_offset = tail_offset + at;
      if (directory.offset == 0xFFFFFFFF || directory.bytes == 0xFFFFFFFF || directory.entries == 0xFFFF) {
        std::byte locator[locator_bytes], end64[end64_bytes];
        if (end_offset < locator_bytes) throw malformed(source, "ZIP64 record is missing");
        source.read(end_offset - locator_bytes, locator, locator_bytes);
        if (u32(locator) == 0x07064b50) {
          source.read(u64(locator + 8), end64, end64_bytes);
          if (u32(end64) != 0x06064b50) throw malformed(source, "ZIP64 record is not where its locator says");
          directory = {u64(end64 + 48), u64(end64 + 40), u64(end64 + 32)};
        }
      }
      if (directory.offset > end_offset || directory.bytes > end_offset - directory.offset)
        throw malformed(source, "its directory lies outside the file");
      return directory;
    }
    if (length == size) break;
  }
  throw Error("E4002",
              "file is cut short: the directory at its end is missing (" + std::to_string(size) + " bytes found)",
              source.path(), "still being written? wait for the writer to end, else dump or copy it again");
}

}  // namespace

bool looks_like_zip(const Source& source) {
  const std::span<const std::byte> head = source.head();
  return head.size() >= 4 && (u32(head.data()) == 0x04034b50 || u32(head.data()) == 0x06054b50);
}

std::vector<ZipMember> read_zip_directory(const Source& source) {
  const Directory directory = find_directory(source);
  std::vector<std::byte> storage;
  const std::byte* at = bytes_at(source, directory.offset, static_cast<std::size_t>(directory.bytes), storage);
  const std::byte* const end = at + directory.bytes;
  std::vector<ZipMember> members;
  members.reserve(static_cast<std::size_t>(std::min(directory.entries, directory.bytes / entry_bytes)));
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (static_cast<std::size_t>(end - at) < entry_bytes || u32(at) != 0x02014b50)
      throw malformed(source, "its directory ends after " + std::to_string(i) + " of " +
                                  std::to_string(directory.entries) + " members");
    const std::size_t name_bytes = u16(at + 28), extra_bytes = u16(at + 30), comment_bytes = u16(at + 32);
    if (static_cast<std::size_t>(end - at) < entry_bytes + name_bytes + extra_bytes + comment_bytes)
      throw malformed(source, "a name in its directory is too long");
    ZipMember member;
    member.encrypted = (u16(at + 8) & 1) != 0;
    member.method = u16(at + 10);
    member.packed = u32(at + 20);
    member.size = u32(at + 24);
    member.header = u32(at + 42);
    member.name.assign(reinterpret_cast<const char*>(at + entry_bytes), name_bytes);
    // ZIP64: the extra field holds, in this order, only those of the three that are all ones above.
    const std::byte* extra = at + entry_bytes + name_bytes;
    const std::byte* const extra_end = extra + extra_bytes;
    while (extra_end - extra >= 4) {
      const std::byte* field = extra + 4;
      const std::size_t field_bytes =
          std::min<std::size_t>(u16(extra + 2), static_cast<std::size_t>(extra_end - field));
      if (u16(extra) == 1) {
        const std::byte* const field_end = field + field_bytes;
        for (std::uint64_t* value : {&member.size, &member.packed, &member.header}) {
          if (*value != 0xFFFFFFFF || field_end - field < 8) continue;
          *value = u64(field);
          field += 8;
        }
        break;
      }
      extra = field + field_bytes;
    }
    members.push_back(std::move(member));
    at += entry_bytes + name_bytes + extra_bytes + comment_bytes;
  }
  return members;
}

std::uint64_t zip_member_offset(const Source& source, const ZipMember& member) {
  std::vector<std::byte> storage;
  if (member.header > source.size() || source.size() - member.header < local_bytes)
    throw malformed(source, "member " + member.name + " lies outside the file");
  const std::byte* local = bytes_at(source, member.header, local_bytes, storage);
  if (u32(local) != 0x04034b50) throw malformed(source, "member " + member.name + " is not where the directory says");
  const std::uint64_t offset = member.header + local_bytes + u16(local + 26) + u16(local + 28);
  if (offset > source.size() || member.packed > source.size() - offset)
    throw truncated(source.path(), offset + member.packed, source.size());
  return offset;
}

}  // namespace msprobe::dump
