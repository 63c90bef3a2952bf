# The example that ./run shows, with the tree's own library in place of an installed one. It is built only
# when it is asked for: `cmake --build --preset release --target home_security`. A sanitizer's
# build has no shared library, and does not build the example either.
set(ek_example_library evenkeel_library)
if(TARGET evenkeel_shared)
    set(ek_example_library evenkeel_shared)
endif()
add_library(evenkeel_in_tree INTERFACE)
target_include_directories(evenkeel_in_tree INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(evenkeel_in_tree INTERFACE ${ek_example_library} fmt::fmt OpenSSL::SSL OpenSSL::Crypto Boost::json
    SQLite::SQLite3 PkgConfig::ISAL Threads::Threads ${CMAKE_DL_LIBS})
add_library(Evenkeel::shared ALIAS evenkeel_in_tree)
# What its find_package(Evenkeel) finds: there is nothing more to do.
file(WRITE ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/evenkeel-config.cmake "")
block()
    set(CMAKE_UNITY_BUILD OFF)  # a user's sources, which do not expect to be joined
    add_subdirectory(examples/home-security EXCLUDE_FROM_ALL)
endblock()
# Its test builds it without a warning; here GCC 12 sees overlaps (-Wrestrict) in strings where there are none.
foreach(target homes devices aggregator alarms page verify)
    target_compile_options(${target} PRIVATE -Wno-error $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
endforeach()
add_custom_target(home_security DEPENDS devices aggregator alarms page verify)
