# msprobe_add_analyzer(name source...): builds name.so, a plugin that shows one symbol and takes nothing from its host.
set(MSPROBE_PLUGIN_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/plugin_exports.map)

function(msprobe_add_analyzer name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  # Inline statics of two plugins would meet without hidden visibility; undefined symbols must show at link time.
  target_link_options(${name} PRIVATE -Wl,--version-script=${MSPROBE_PLUGIN_EXPORTS})
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${MSPROBE_PLUGIN_EXPORTS})
  target_link_libraries(${name} PRIVATE msprobe::sdk)
endfunction()
