/// Large JSON files, member by member: memory holds one member at a time, whatever the size of the file. Numbers stay
/// the text that the file has, so that nothing is lost; NaN, Infinity and -Infinity are taken as Python writes them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::dump {

struct JsonNode {
  enum class Type : std::uint8_t { null, boolean, number, text, array, object };
  Type type = Type::null;
  bool boolean = false;
  std::string_view key;          ///< of a member of an object
  std::string_view text;         ///< text; number as written
  std::vector<JsonNode*> items;  ///< in the order of the file

  const JsonNode* find(std::string_view name) const;
  bool is(Type wanted) const { return type == wanted; }
};

/// The number of a node that is one, or a text that spells one ("nan"); false: it is neither.
bool to_double(const JsonNode& node, double* value);

struct JsonEnd {
  bool complete = true;
  std::string why;           ///< where and why it ended, when it is not complete
  std::uint64_t offset = 0;  ///< of the end
  bool cut_off = false;      ///< by the end of the file; else something is wrong at `offset`
  bool too_deep = false;
};

/// Calls `member` for each member of the outermost object; the member named `nested` is reported empty when it
/// begins, and its own members follow one by one with its name as `parent`. Nodes are gone after the call. `progress`
/// is told bytes read since the last time. Throws Error for what the file system says; malformed text ends the file
/// instead.
JsonEnd read_json_members(const std::string& path, std::string_view nested,
                          const std::function<void(std::string_view parent, const JsonNode& member)>& member,
                          const std::function<void(std::uint64_t bytes)>& progress);

}  // namespace msprobe::dump
