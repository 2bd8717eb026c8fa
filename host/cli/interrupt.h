/// Ctrl-C: the first asks the run to end, the second ends the process.
#pragma once

namespace msprobe::cli {

void catch_interrupt();
bool interrupt_wanted();

}  // namespace msprobe::cli
