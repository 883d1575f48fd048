if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Flags of our own C++ targets; third-party headers come as SYSTEM.
add_library(beige_options INTERFACE)
target_compile_options(beige_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror>)
target_include_directories(beige_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_definitions(beige_options INTERFACE BEIGE_VERSION="${BEIGE_VERSION}")

# No -g in release: heavy headers at -O2 -g make objects of a hundred megabytes.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")

if(BEIGE_FUZZ)
  # -O1: a fuzz target that runs twice as often is worth the compile. Not part of "undefined": a float that fits into no integer.
  add_compile_options(-fsanitize=fuzzer-no-link,${BEIGE_SANITIZER},float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${BEIGE_SANITIZER},float-cast-overflow)
elseif(BEIGE_SANITIZER)
  # -O0: with a sanitizer, -O1 takes three times as long to compile, and the tests are short.
  add_compile_options(-fsanitize=${BEIGE_SANITIZER} -fno-omit-frame-pointer -O0 -g1)
  add_link_options(-fsanitize=${BEIGE_SANITIZER})
  if(BEIGE_SANITIZER STREQUAL "thread")
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-tsan>)
  else()
    # GCC 12 sees an uninitialized std::function in <regex> under ASan that is not there (GCC bug 105562).
    add_compile_options(-fno-sanitize-recover=all $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  endif()
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
  add_link_options(-Wl,-z,relro,-z,now -pie)
endif()

# Several files of a target in one translation unit: half the processor time of a cold build (headers are read once). scripts/ build so; work with
# single files while you edit. The warnings are wrong about such units: of anonymous namespaces, and of json in initializer lists.
option(BEIGE_UNITY "Compile several files of a target at once" OFF)
if(BEIGE_UNITY AND NOT BEIGE_FUZZ)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  target_compile_options(beige_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage -Wno-maybe-uninitialized>)
endif()
# Sources whose helpers have the names of a neighbour's.
function(beige_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# For programs that only test: compiled fast, whatever the build type says of the product.
add_library(beige_test_options INTERFACE)
target_compile_options(beige_test_options INTERFACE -U_FORTIFY_SOURCE -O0)
target_link_libraries(beige_test_options INTERFACE beige_options)
