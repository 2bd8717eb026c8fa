# find_package(msprobe): the target msprobe::sdk (headers) and msprobe_add_analyzer().
if(NOT TARGET msprobe::sdk)
  add_library(msprobe::sdk INTERFACE IMPORTED)
  get_filename_component(_msprobe_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  set_target_properties(msprobe::sdk PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_msprobe_prefix}/include")
  unset(_msprobe_prefix)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/msprobe_add_analyzer.cmake")
