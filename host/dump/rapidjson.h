/// rapidjson as every file here has to include it.
#pragma once
#include <stdexcept>

// Its assertions would end the process on hostile input; as exceptions they are one more way to be malformed.
#define RAPIDJSON_ASSERT(condition)                                     \
  do {                                                                  \
    if (!(condition)) throw std::logic_error("rapidjson: " #condition); \
  } while (false)
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
