# What every target is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(REMORA_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them")
# Options of a target come after these, so that tests can say -O0 in every build.
if(REMORA_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
else()
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
endif()

find_program(REMORA_CCACHE ccache)
if(REMORA_CCACHE)
  # Paths relative to the tree, so that another clone on this machine finds the same objects. For that,
  # what __FILE__ says must not name the clone either (below).
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${REMORA_CCACHE})
endif()

add_library(remora_options INTERFACE)
target_compile_options(remora_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Werror -fno-omit-frame-pointer
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_include_directories(remora_options INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
if(REMORA_SANITIZE)
  target_compile_options(remora_options INTERFACE
    -fsanitize=${REMORA_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(remora_options INTERFACE -fsanitize=${REMORA_SANITIZE})
endif()
# Left out is what AddressSanitizer notices at the access itself. Tests, which are larger than what they
# test, leave out more: these checks take a quarter of the time that the compiler needs.
add_library(remora_test_options INTERFACE)
if(REMORA_SANITIZE MATCHES "undefined")
  target_compile_options(remora_options INTERFACE -fno-sanitize=object-size)
  target_compile_options(remora_test_options INTERFACE -fno-sanitize=null,vptr,alignment)
endif()

find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PMEM2 REQUIRED IMPORTED_TARGET libpmem2)
find_library(ISAL_LIBRARY isal REQUIRED)
