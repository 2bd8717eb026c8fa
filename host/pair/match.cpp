#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/nearest.h"
#include "msprobe/dtype.hpp"
#include "pair/ignored_rows.h"
#include "pair/pair.h"

namespace msprobe::pair {
namespace {

using dump::Dump;
using dump::Tensor;

/// Searching likely partners is quadratic: above this many unmatched names a row only says that it has none.
constexpr std::size_t most_candidates = 3000, most_searched = 300;

/// Numbers of the target's steps (or ranks) as the reference counts them. One on each side: they answer each other
/// whatever their numbers, because the user named these two folders.
class Renumbering {
 public:
  Renumbering(const Dump& reference, const Dump& target, std::int64_t Tensor::*number, const char* what,
              std::vector<std::string>& notes) {
    const auto only = [number](const Dump& dump) {
      std::set<std::int64_t> numbers;
      for (const Tensor& tensor : dump.tensors) numbers.insert(tensor.*number);
      return numbers.size() == 1 ? std::optional(*numbers.begin()) : std::nullopt;
    };
    const auto left = only(reference), right = only(target);
    if (!left || !right || *left == *right) return;
    from_ = *right;
    to_ = *left;
    active_ = true;
    notes.push_back(fmt::format("The reference has {0} {1}, the target {0} {2}: they are compared with each other.",
                                what, to_, from_));
  }
  std::int64_t operator()(std::int64_t value) const { return active_ && value == from_ ? to_ : value; }

 private:
  bool active_ = false;
  std::int64_t from_ = 0, to_ = 0;
};

/// The optimizer's calls are told from forward ones by stack.json or construct.json, which one side may lack.
int phase_key(dump::Phase phase) {
  return static_cast<int>(phase == dump::Phase::update ? dump::Phase::forward : phase);
}

std::string key_of(const Tensor& tensor, std::int64_t step, std::int64_t rank, std::string_view layer) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", step, rank, layer, tensor.call, phase_key(tensor.phase),
                     static_cast<int>(tensor.direction), tensor.slot);
}

void add_candidates(std::vector<Pair*>& unmatched, const std::vector<std::string>& names, std::string_view side) {
  for (std::size_t i = 0; i < unmatched.size(); ++i) {
    std::string& note = unmatched[i]->note;
    note = fmt::format("only in the {}", side);
    if (i >= most_searched || names.size() > most_candidates) continue;
    const auto near = nearest(unmatched[i]->any().name, names);
    for (std::size_t n = 0; n < near.size(); ++n) note += fmt::format("{}{}", n == 0 ? "; nearest: " : ", ", near[n]);
  }
}

/// Float dtypes of calls that only the target has, by the place in the pairs behind which they ran: an extra cast is
/// upstream too.
using Extra = std::multimap<std::size_t, std::pair<std::int64_t, msp_dtype>>;

/// The coarsest float dtype so far, by rank, in execution order. Plain files have no order: only their own dtypes
/// count.
void note_noise(std::vector<Pair>& pairs, const Extra& extra) {
  std::map<std::int64_t, msp_dtype> upstream;
  auto next_extra = extra.begin();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (; next_extra != extra.end() && next_extra->first <= i; ++next_extra) {
      msp_dtype& seen = upstream.try_emplace(next_extra->second.first, MSP_DTYPE_NONE).first->second;
      seen = coarser_float(seen, next_extra->second.second);
    }
    Pair& pair = pairs[i];
    msp_dtype own = MSP_DTYPE_NONE;
    for (const Tensor* side : {pair.reference, pair.target})
      if (side && side->kind != dump::Kind::scalar) own = coarser_float(own, side->dtype);
    pair.noise_dtype = own;
    const Tensor& tensor = pair.any();
    if (tensor.execution_index < 0) continue;
    msp_dtype& seen = upstream.try_emplace(tensor.rank, MSP_DTYPE_NONE).first->second;
    seen = pair.noise_dtype = coarser_float(seen, own);
  }
}

}  // namespace

Pairing match(const Dump& reference, const Dump& target, const Options& options) {
  Pairing result;
  const Renumbering step(reference, target, &Tensor::step, "step", result.notes);
  const Renumbering rank(reference, target, &Tensor::rank, "rank", result.notes);
  // Two single files answer each other whatever their names.
  const bool two_files =
      reference.tensors.size() == 1 && target.tensors.size() == 1 && reference.tool == "file" && target.tool == "file";
  const auto layer = [two_files](const Tensor& tensor) {
    return two_files ? std::string_view() : std::string_view(tensor.layer);
  };

  // Equal keys on one side wait in order: the n-th answers the n-th.
  std::unordered_map<std::string, std::vector<std::size_t>> waiting;
  waiting.reserve(target.tensors.size());
  for (std::size_t i = target.tensors.size(); i-- > 0;) {
    const Tensor& tensor = target.tensors[i];
    waiting[key_of(tensor, step(tensor.step), rank(tensor.rank), layer(tensor))].push_back(i);
  }

  constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  std::vector<std::size_t> partner(target.tensors.size(), nobody);  // place in the pairs
  result.pairs.reserve(reference.tensors.size());
  for (const Tensor& tensor : reference.tensors) {
    Pair pair;
    pair.reference = &tensor;
    const auto found = waiting.find(key_of(tensor, tensor.step, tensor.rank, layer(tensor)));
    if (found != waiting.end() && !found->second.empty()) {
      const std::size_t i = found->second.back();
      found->second.pop_back();
      partner[i] = result.pairs.size();
      pair.target = &target.tensors[i];
    }
    result.pairs.push_back(std::move(pair));
  }
  Extra extra;
  std::size_t after = 0;
  for (std::size_t i = 0; i < target.tensors.size(); ++i) {
    const Tensor& tensor = target.tensors[i];
    if (partner[i] != nobody) {
      after = partner[i] + 1;
      continue;
    }
    result.pairs.push_back({.target = &tensor, .note = {}, .ignored = {}});
    if (tensor.execution_index >= 0 && tensor.kind != dump::Kind::scalar)
      extra.emplace(after, std::pair(rank(tensor.rank), tensor.dtype));
  }

  std::vector<Pair*> only_reference, only_target;
  std::vector<std::string> reference_names, target_names;
  for (Pair& pair : result.pairs) {
    if (!pair.target) {
      only_reference.push_back(&pair);
      reference_names.push_back(pair.reference->name);
    } else if (!pair.reference) {
      only_target.push_back(&pair);
      target_names.push_back(pair.target->name);
    }
    if (!options.ignore) continue;
    // A path against something else is a difference: both sides must say nothing.
    pair.ignored = ignored_reason(pair.any());
    if (pair.reference && pair.target && pair.any().kind == dump::Kind::scalar && ignored_reason(*pair.target).empty())
      pair.ignored.clear();
  }
  add_candidates(only_reference, target_names, "reference");
  add_candidates(only_target, reference_names, "target");
  note_noise(result.pairs, extra);
  return result;
}

}  // namespace msprobe::pair
