/// Columns that an analyzer declares while it runs come in the order of workers: by name at the end of a run, so that
/// the report is the same for any number of workers.
#pragma once
#include <vector>

#include "engine/result.h"

namespace msprobe::plugin {

/// Sorts the columns from `declared` on by name; the metrics of the rows follow.
void sort_added_columns(std::vector<result::Column>& columns, std::size_t declared, std::vector<result::Row>& rows);

}  // namespace msprobe::plugin
