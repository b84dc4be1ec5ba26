# remora_layer(NAME SOURCES ... TESTS ... USES ...)
#
# One layer of the house: the static library remora_NAME, and, from TESTS, the program NAME_test.
# USES names the layers below (by their short names) and any imported target.
function(remora_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;USES" ${ARGN})
  add_library(remora_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(remora_${name} PUBLIC remora_options)
  foreach(use IN LISTS ARG_USES)
    if(TARGET remora_${use})
      target_link_libraries(remora_${name} PUBLIC remora_${use})
    else()
      target_link_libraries(remora_${name} PUBLIC ${use})
    endif()
  endforeach()
  if(ARG_TESTS)
    remora_test(${name}_test SOURCES ${ARG_TESTS} USES remora_${name})
  endif()
endfunction()

# remora_test(NAME SOURCES ... USES ...): a GoogleTest program that ctest runs. One that takes more
# than ten seconds under some preset is given a COST, its seconds under the slowest: ctest starts the
# costliest first, so that no core idles while the last one ends.
function(remora_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;ARGUMENTS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  # What is tested is optimised; the tests themselves need not be, and build in half the time.
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE ${ARG_USES} GTest::gtest GTest::gmock GTest::gtest_main
    remora_test_options)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/sanitizers/lsan.supp:print_suppressions=0")
endfunction()

# remora_fuzz(NAME SOURCES ... USES ...): the fuzz target NAME of NAME.cpp and of no more than what it
# needs, since not every clang builds the whole tree. scripts/fuzz lists those that are run.
function(remora_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  set(base ${PROJECT_SOURCE_DIR}/src/base)
  set(needed ${ARG_SOURCES} ${base}/check.cpp ${base}/lost_memory.cpp ${base}/result.cpp)
  list(REMOVE_DUPLICATES needed)
  add_executable(${name} ${name}.cpp ${needed})
  target_link_libraries(${name} PRIVATE ${ARG_USES})
  remora_fuzzed(${name})
endfunction()

# remora_fuzzed(NAME): compiles a target as fuzz targets are.
function(remora_fuzzed name)
  # Not the sanitizer of calls through pointers: clang 14 builds no coroutine with it.
  set(sanitizers
    -fsanitize=fuzzer,address,undefined -fno-sanitize=function -fno-sanitize-recover=all)
  target_link_libraries(${name} PRIVATE remora_options)
  target_compile_definitions(${name} PRIVATE REMORA_FUZZER)
  target_compile_options(${name} PRIVATE
    -O1 -g1 -include ${PROJECT_SOURCE_DIR}/src/base/source_location_fuzz.h ${sanitizers})
  target_link_options(${name} PRIVATE ${sanitizers})
endfunction()
