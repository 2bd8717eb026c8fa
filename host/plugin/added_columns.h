/// Columns that an analyzer declares while it runs come in the order of workers: by name at the end of a run, so that
/// the report is the same for any number of workers.
#pragma once
#include <vector>

#include "engine/result.h"

namespace msprobe::plugin {

/// Sorts columns [declared, known) by name; the metrics of the rows follow. Those behind came in `finish`, which runs
/// once.
void sort_added_columns(std::vector<result::Column>& columns, std::size_t declared, std::size_t known,
                        std::vector<result::Row>& rows);

}  // namespace msprobe::plugin
