#include <algorithm>
#include <ostream>

#include "report/numbers.h"
#include "report/overview.h"
#include "report/terminal_parts.h"
#include "report/text_layout.h"

namespace msprobe::report {
namespace {

using namespace result;

constexpr unsigned gap = 2, smallest_name = 32, largest_place = 24;

/// One column of the table. `drop_order`: the smallest goes first when the terminal is narrow; 0 stays.
struct Column {
  std::string title;
  bool right = false;
  int drop_order = 0;
  std::vector<std::string> cells;
  unsigned width = 0;

  void measure() {
    width = width_of(title);
    for (const auto& cell : cells) width = std::max(width, width_of(cell));
  }
};

std::string number_cell(const std::optional<double>& number) {
  return number ? brief(*number) : "-";
}

std::string value_cell(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return brief(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return visible(*text);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return "-";
}

/// "layer_norm in Module.blocks.0.ln2": "Functional." says nothing and takes the room of what does.
std::string short_layer(const Speech& say, const Row& row) {
  const bool is_operator = !row.op.empty() && !row.module.empty() && row.layer.ends_with("." + row.op) &&
                           row.layer.find(row.module) == std::string::npos;
  return is_operator ? say("{} in {}", "{}（位于 {}）", visible(row.op), visible(row.module)) : layer_text(say, row);
}

class TableBuilder {
 public:
  TableBuilder(const Terminal& terminal, const std::vector<const Row*>& rows) : terminal_(terminal), rows_(rows) {}

  std::vector<Column> build(bool layer_last) {
    const auto& say = terminal_.say;
    const auto extent = extent_of(terminal_.report);
    auto layer = text(say("layer", "层"),
                      [&](const Row& row) { return layer_last ? layer_text(say, row) : short_layer(say, row); });
    // In a list of failures the word would only take room.
    const bool all_fail =
        std::all_of(rows_.begin(), rows_.end(), [](const Row* row) { return row->verdict == Verdict::fail; });
    if (layer_last || !all_fail) {
      add(text(say("verdict", "判定"), [&](const Row& row) { return verdict_word(say, row.verdict); }));
    }
    layer_ = columns_.size();
    if (!layer_last) add(layer);
    add(text(say("tensor", "张量"), [&](const Row& row) { return place_text(say, row); }));
    if (extent.steps) add(number(say("step", "步"), 0, [](const Row& row) { return std::to_string(row.step); }));
    if (extent.ranks) add(number(say("rank", "卡"), 0, [](const Row& row) { return std::to_string(row.rank); }));
    add(number(say("error", "误差"), 0, [](const Row& row) { return number_cell(row.error); }));
    add(number(say("threshold", "阈值"), 0, [](const Row& row) { return number_cell(row.threshold); }));
    int order = 4;
    for (const auto index : main_columns(terminal_.report, 3)) {
      add(number(visible(terminal_.report.columns[index].name), order--, [index](const Row& row) {
        return index < row.metrics.size() ? value_cell(row.metrics[index]) : "-";
      }));
    }
    if (layer_last) {
      layer_ = columns_.size();
      add(layer);
    }
    auto source = text(say("source", "源码"), [](const Row& row) { return visible(row.source); });
    source.drop_order = 1;
    const bool known = std::any_of(rows_.begin(), rows_.end(), [](const Row* row) { return !row->source.empty(); });
    if (known) add(source);
    return std::move(columns_);
  }
  std::size_t layer() const { return layer_; }

 private:
  template <class Cell>
  Column text(std::string title, Cell cell) {
    Column column;
    column.title = std::move(title);
    for (const auto* row : rows_) column.cells.push_back(cell(*row));
    column.measure();
    return column;
  }
  template <class Cell>
  Column number(std::string title, int drop_order, Cell cell) {
    auto column = text(std::move(title), cell);
    column.right = true;
    column.drop_order = drop_order;
    return column;
  }
  void add(Column column) { columns_.push_back(std::move(column)); }

  const Terminal& terminal_;
  const std::vector<const Row*>& rows_;
  std::vector<Column> columns_;
  std::size_t layer_ = 0;
};

unsigned total(const std::vector<Column>& columns) {
  unsigned width = 0;
  for (const auto& column : columns) width += column.width + gap;
  return width - gap;
}

void fit(std::vector<Column>& columns, std::size_t layer, unsigned width) {
  columns[layer + 1].width = std::min(columns[layer + 1].width, largest_place);
  const auto natural = columns[layer].width;
  columns[layer].width = std::min(natural, smallest_name);
  while (total(columns) > width) {
    auto victim = columns.end();
    for (auto it = columns.begin(); it != columns.end(); ++it) {
      if (it->drop_order > 0 && (victim == columns.end() || it->drop_order < victim->drop_order)) victim = it;
    }
    if (victim == columns.end()) break;
    columns.erase(victim);
  }
  const auto used = total(columns);
  auto& place = columns[layer + 1];
  auto& name = columns[layer].width;
  if (used < width) name = std::min(natural, name + width - used);
  if (used > width) name -= std::min(name - std::min(name, 12U), used - width);
  if (const auto still = total(columns); still > width) {
    place.width -= std::min(place.width - std::min(place.width, 10U), still - width);
  }
}

void print(const Terminal& terminal, const std::vector<Column>& columns, const std::vector<const Row*>& rows,
           bool all_rows) {
  const bool with_verdict = columns.front().title == terminal.say("verdict", "判定");
  const auto line = [&](auto cell_of, auto paint_first) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto cell = shorten_middle(cell_of(columns[i]), columns[i].width);
      const auto padded = columns[i].right ? pad_left(cell, columns[i].width) : pad_right(cell, columns[i].width);
      if (i > 0) text += std::string(gap, ' ');
      text += i == 0 && with_verdict ? paint_first(padded) : padded;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    terminal.out << "  " << text << '\n';
  };
  line([](const Column& column) { return column.title; }, [](const std::string& text) { return text; });
  for (std::size_t n = 0; n < rows.size(); ++n) {
    line([n](const Column& column) { return column.cells[n]; },
         [&](const std::string& text) { return terminal.paint.as(rows[n]->verdict, text); });
    // A row that passes may say why, too ("both empty"), but a list of thousands is for what needs attention.
    const bool tell = all_rows && rows[n]->verdict != Verdict::pass && !rows[n]->why.empty();
    if (tell)
      terminal.out << std::string(11, ' ')
                   << terminal.paint.dim(
                          visible(rows[n]->code.empty() ? rows[n]->why : rows[n]->code + " " + rows[n]->why))
                   << '\n';
  }
}

}  // namespace

void write_table(const Terminal& terminal, const std::vector<const Row*>& rows) {
  TableBuilder builder(terminal, rows);
  auto columns = builder.build(false);
  fit(columns, builder.layer(), terminal.options.width - 2);
  print(terminal, columns, rows, false);
}

void write_all_rows(const Terminal& terminal) {
  std::vector<const Row*> rows;
  for (const auto& row : terminal.report.rows) rows.push_back(&row);
  TableBuilder builder(terminal, rows);
  print(terminal, builder.build(true), rows, true);
}

}  // namespace msprobe::report
