/// Child processes: how they end, in words, and limits that hold for what they may load and run.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace msprobe::plugin {

/// "crashed (signal 11, Segmentation fault)", "ended the process (exit code 3)", from a wait status.
std::string ending_text(int wait_status);

/// For a fresh child of `parent`: dies with it, prints to stderr only, leaves no core file, ignores Ctrl-C (the parent
/// decides), and takes at most `memory_bytes` more address space than it has now (0: no limit).
void restrict_child(pid_t parent, std::uint64_t memory_bytes);

/// At most so many bytes of address space more than now; 0: no limit.
void limit_memory(std::uint64_t bytes);

/// Kills and reaps; returns the wait status.
int end_child(pid_t child);
/// Reaps a child that has closed its end and so should be gone; kills it when it is not within a second.
int reap_child(pid_t child);

}  // namespace msprobe::plugin
