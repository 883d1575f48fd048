# Texts that are compiled into the programs.
#   beige_embed(target FILE agents.yaml FUNCTION AgentCrd HEADER crds/embedded.h)
# adds the definition of `std::string_view beige::AgentCrd()`, which the header declares, to the target.
function(beige_embed target)
  cmake_parse_arguments(E "" "FILE;FUNCTION;HEADER" "" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/generated/embedded/${E_FUNCTION}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_SOURCE_DIR}/${E_FILE} -DOUT=${out} -DFUNCTION=${E_FUNCTION} -DHEADER=${E_HEADER}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${E_FILE} ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
