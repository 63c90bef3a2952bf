# How every part of Evenkeel is compiled, and ek_module(), which declares one folder under src/.

option(EVENKEEL_TESTS "Build the tests" ON)
option(EVENKEEL_BENCHES "Build the unit benchmarks" OFF)
option(EVENKEEL_CANARIES "Build the canaries: labs against code with a known bug" ON)
option(EVENKEEL_FUZZERS "Build the fuzzers (clang only)" OFF)
option(EVENKEEL_PCH "Precompile the standard headers that the libraries use" ON)
option(EVENKEEL_JUMBO "Compile several sources of a library or of a test program as one" OFF)
set(EVENKEEL_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, such as address,undefined")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(EVENKEEL_JUMBO)
    # Most of the time for one source goes into the headers that all of them read. What a source includes
    # itself is still checked: clang-tidy's analyzer reads each alone.
    set(CMAKE_UNITY_BUILD ON)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()
# Linking is memory hungry with debug information: one at a time.
set_property(GLOBAL PROPERTY JOB_POOLS link=1)
set(CMAKE_JOB_POOL_LINK link)

find_program(EK_CCACHE ccache)
if(EK_CCACHE)
    # Precompiled headers are only cacheable when ccache may look past their time stamps.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        # Build folders of one checkout share what they compile.
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true ${EK_CCACHE})
endif()

find_program(EK_MOLD mold)
find_program(EK_LLD NAMES ld.lld ld.lld-14 lld)
if(EK_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_link_options(-fuse-ld=mold)
elseif(EK_LLD)
    add_link_options(-fuse-ld=lld)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
    -fno-omit-frame-pointer -fstack-protector-strong)
# Where sources are joined, a local name may be that of something in the source before it, and to GCC a
# source that another one includes is a header. `dev` reads each source of the libraries alone.
set(EK_JOINED_WARNINGS -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
if(EVENKEEL_JUMBO)
    add_compile_options(${EK_JOINED_WARNINGS})
endif()
add_compile_definitions(_GLIBCXX_ASSERTIONS)
# A checkout must give the same binary wherever it lies.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-Wthread-safety)
    # clang writes the checkout's path into a precompiled header: what ccache has of one checkout would
    # fail in another as soon as the first is gone. Without them all checkouts share what is compiled.
    set(EVENKEEL_PCH OFF)
else()
    add_compile_options(-fpch-preprocess)
endif()
if(EVENKEEL_SANITIZE)
    add_compile_options(-fsanitize=${EVENKEEL_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${EVENKEEL_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # With sanitizers GCC 12 sees overruns in std::string that are not there.
        add_compile_options(-Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict
            -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
endif()
if(EVENKEEL_FUZZERS)
    # Fuzzers steer by the coverage of the libraries; the tests' own code needs none.
    add_compile_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>:-fsanitize=fuzzer-no-link>)
    add_custom_target(fuzzers)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS headers json)
find_package(fmt 9 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
# Only its header: the library is loaded when it is used.
find_path(EK_LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
find_package(CURL 7.88 REQUIRED)  # its headers; the library is loaded when it is used
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)

if(EVENKEEL_PCH)
    # Nearly every source of a library reads these: compiled once, as static libraries are compiled.
    # They are no excuse for a missing #include: clang-tidy's analyzer reads each source without.
    # file(CONFIGURE) leaves it alone if it is there: written again, all that uses it is compiled again.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/library_pch.cc
        CONTENT "// Holds the precompiled header of all libraries.\n" @ONLY)
    add_library(library_pch STATIC ${CMAKE_BINARY_DIR}/library_pch.cc)
    target_link_libraries(library_pch PRIVATE Threads::Threads fmt::fmt)
    target_precompile_headers(library_pch PRIVATE <algorithm> <array> <atomic> <chrono> <coroutine> <cstdint>
        <deque> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map>
        <utility> <variant> <vector> <fmt/format.h>)
endif()
# ek_precompiled(library): its sources read the standard headers precompiled.
function(ek_precompiled library)
    if(EVENKEEL_PCH)
        target_precompile_headers(${library} REUSE_FROM library_pch)
    endif()
endfunction()

if(EVENKEEL_TESTS)
    find_package(GTest 1.12 REQUIRED)
    set(test_headers <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <coroutine> <deque> <functional> <map>
        <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector>
        <fmt/format.h>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # gtest costs more than a second a file, so it is compiled once and all tests reuse it.
        file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_pch.cc
            CONTENT "// Holds the precompiled header of all tests.\n" @ONLY)
        add_library(test_pch OBJECT ${CMAKE_BINARY_DIR}/test_pch.cc)
        target_link_libraries(test_pch PRIVATE Threads::Threads fmt::fmt GTest::gtest)
        # Objects and programs would get -fPIC and -fPIE, which do not share a precompiled header.
        set_target_properties(test_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        target_precompile_headers(test_pch PRIVATE ${test_headers})
    else()
        list(TRANSFORM test_headers PREPEND "#include ")
        list(JOIN test_headers "\n" test_headers)
        file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.h CONTENT "${test_headers}\n" @ONLY)
    endif()
endif()
# ek_test_headers(program): what each test may use without including it.
function(ek_test_headers program)
    if(TARGET test_pch)
        target_precompile_headers(${program} REUSE_FROM test_pch)
    else()
        target_compile_options(${program} PRIVATE -include ${CMAKE_BINARY_DIR}/test_headers.h)
    endif()
endfunction()
if(EVENKEEL_BENCHES)
    find_package(benchmark 1.7 REQUIRED)
endif()

if(EVENKEEL_TESTS)
    add_custom_target(unit_tests)
endif()

# ek_tests(name DEPS library... SOURCES file... DEFINES definition... LABELS label... COST seconds): a gtest
# program. What costs most starts first, so that in the end nothing waits for one long program alone.
# It runs as one ctest entry; ./test counts the single tests from its report. The label single_threaded
# is for programs that start neither threads nor processes, script for those that only `dev` runs: the
# thread sanitizer neither builds nor runs them. unit is for those of `./test --quick`, which the target
# unit_tests builds.
function(ek_tests name)
    if(name MATCHES "canary" AND NOT EVENKEEL_CANARIES)
        return()
    endif()
    cmake_parse_arguments(arg "" "COST" "DEPS;SOURCES;DEFINES;LABELS" ${ARGN})
    if(single_threaded IN_LIST arg_LABELS)
        list(APPEND arg_SOURCES $<TARGET_OBJECTS:no_threads>)
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_DEPS} evenkeel_test_support GTest::gtest)
    target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
    ek_test_headers(${name})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    if(NOT EVENKEEL_JUMBO)
        # Four at a time take less than half the time of each alone, and a change of one is still quick.
        set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
        target_compile_options(${name} PRIVATE ${EK_JOINED_WARNINGS})
    endif()
    if(EVENKEEL_SANITIZE MATCHES "thread" AND arg_LABELS MATCHES "single_threaded|script")
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
        return()
    endif()
    if(unit IN_LIST arg_LABELS)
        add_dependencies(unit_tests ${name})
    endif()
    add_test(NAME ${name} COMMAND ${name} --gtest_color=no
        --gtest_output=xml:${CMAKE_BINARY_DIR}/reports/${name}.xml)
    # The simulations take two minutes alone, and their share of a busy machine more.
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 1800)
    if(script IN_LIST arg_LABELS AND NOT arg_COST)
        set(arg_COST 60)  # they kill processes and wait
    endif()
    if(arg_COST)
        set_tests_properties(${name} PROPERTIES COST ${arg_COST})
    endif()
endfunction()

# ek_fuzzers(DEPS target... SOURCES file...) makes a fuzzer of each file, named like it.
function(ek_fuzzers)
    cmake_parse_arguments(arg "" "" "DEPS;SOURCES" ${ARGN})
    if(NOT EVENKEEL_FUZZERS)
        return()
    endif()
    foreach(file IN LISTS arg_SOURCES)
        cmake_path(GET file STEM fuzzer)
        add_executable(${fuzzer} ${file})
        target_link_libraries(${fuzzer} PRIVATE ${arg_DEPS})
        target_compile_options(${fuzzer} PRIVATE -fsanitize=fuzzer-no-link)
        target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzzers ${fuzzer})
    endforeach()
endfunction()

# ek_module(name DEPS module... LIBRARIES target... SOURCES file... TESTS file... THREAD_TESTS file...
# TEST_DEPS target... BENCHES file... FUZZERS file...)
# makes evenkeel_<name>, <name>_tests, <name>_bench and one fuzzer per file. DEPS are modules of
# ours and follow the map in docs/architecture.md; tools/tidy checks the includes against it.
# THREAD_TESTS are those that start threads, in <name>_thread_tests: the thread sanitizer runs only them.
function(ek_module name)
    cmake_parse_arguments(arg "" "" "DEPS;LIBRARIES;SOURCES;TESTS;BENCHES;FUZZERS;TEST_DEPS;THREAD_TESTS" ${ARGN})
    set(library evenkeel_${name})
    add_library(${library} STATIC ${arg_SOURCES})
    target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(${library} PUBLIC Threads::Threads fmt::fmt)
    ek_precompiled(${library})
    foreach(dep IN LISTS arg_DEPS)
        target_link_libraries(${library} PUBLIC evenkeel_${dep})
    endforeach()
    target_link_libraries(${library} PRIVATE ${arg_LIBRARIES})
    if(EVENKEEL_TESTS AND arg_TESTS)
        ek_tests(${name}_tests DEPS ${library} ${arg_TEST_DEPS} SOURCES ${arg_TESTS}
            LABELS single_threaded unit)
    endif()
    if(EVENKEEL_TESTS AND arg_THREAD_TESTS)
        ek_tests(${name}_thread_tests DEPS ${library} ${arg_TEST_DEPS} SOURCES ${arg_THREAD_TESTS})
    endif()
    if(EVENKEEL_BENCHES AND arg_BENCHES)
        add_executable(${name}_bench ${arg_BENCHES})
        target_link_libraries(${name}_bench PRIVATE ${library} ${arg_TEST_DEPS} benchmark::benchmark_main)
    endif()
    ek_fuzzers(DEPS ${library} ${arg_TEST_DEPS} SOURCES ${arg_FUZZERS})
endfunction()
