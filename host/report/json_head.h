/// What a report says besides its rows: shared by the JSON file and the page.
#pragma once
#include "engine/result.h"
#include "report/json_stream.h"

namespace msprobe::report {

/// Members msprobe, mode, command, started, seconds, inputs, options, columns, summary of the open object.
void write_json_head(JsonStream& json, const result::Report& report);
/// Member findings.
void write_json_findings(JsonStream& json, const result::Report& report);
/// Members phase, direction, slot: where in its layer a row is.
void write_json_place(JsonStream& json, const result::Row& row);

}  // namespace msprobe::report
