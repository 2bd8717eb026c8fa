#include "dump/tensor.h"

namespace msprobe::dump {

std::string_view to_text(Kind kind) {
  switch (kind) {
    case Kind::tensor:
      return "tensor";
    case Kind::statistics:
      return "statistics";
    case Kind::checksum:
      return "checksum";
    case Kind::scalar:
      return "scalar";
  }
  return "";
}

std::string_view to_text(Phase phase) {
  switch (phase) {
    case Phase::none:
      return "";
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::update:
      return "update";
  }
  return "";
}

std::string_view to_text(Direction direction) {
  switch (direction) {
    case Direction::none:
      return "";
    case Direction::input:
      return "input";
    case Direction::parameter:
      return "parameter";
    case Direction::output:
      return "output";
    case Direction::gradient:
      return "gradient";
  }
  return "";
}

}  // namespace msprobe::dump
