# What `cmake --install` puts on a machine: the programs, a static and a shared library with all that
# include/evenkeel/ declares, how CMake and pkg-config find them, completion for three shells, and a
# unit for systemd.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- the libraries

set(EK_LIBRARY_MODULES base io amqp http eventhubs client producer commitlog hub source checkpoint processor)
add_library(evenkeel_library STATIC)
set(ek_libraries evenkeel_library)
if(NOT EVENKEEL_SANITIZE)  # a sanitizer's symbols are in the program only
    add_library(evenkeel_shared SHARED)
    list(APPEND ek_libraries evenkeel_shared)
    # Until 1.0 a new minor version may break programs; from then on, a new major version.
    set_target_properties(evenkeel_shared PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    # It exports what the headers declare, and nothing else. Calls within it stay within it.
    set(symbols ${CMAKE_SOURCE_DIR}/packaging/evenkeel.symbols)
    target_link_options(evenkeel_shared PRIVATE -Wl,--version-script=${symbols} -Wl,--no-undefined
        -Wl,-Bsymbolic-functions)
    set_target_properties(evenkeel_shared PROPERTIES LINK_DEPENDS ${symbols})
    target_link_libraries(evenkeel_shared PRIVATE fmt::fmt OpenSSL::SSL OpenSSL::Crypto Boost::json
        SQLite::SQLite3 PkgConfig::ISAL Threads::Threads ${CMAKE_DL_LIBS})
endif()
foreach(library IN LISTS ek_libraries)
    foreach(module IN LISTS EK_LIBRARY_MODULES)
        target_sources(${library} PRIVATE $<TARGET_OBJECTS:evenkeel_${module}>)
    endforeach()
    set_target_properties(${library} PROPERTIES OUTPUT_NAME evenkeel LINKER_LANGUAGE CXX)
endforeach()

# --- completion, as the program itself writes it

set(completions ${CMAKE_BINARY_DIR}/completions)
set(ek_completions)
foreach(shell bash zsh fish)
    add_custom_command(OUTPUT ${completions}/${shell} DEPENDS evenkeel
        COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
        COMMAND evenkeel completion ${shell} > ${completions}/${shell} VERBATIM)
    list(APPEND ek_completions ${completions}/${shell})
endforeach()

# --- where it goes

# `./run` builds only the program. What is missing is built here, so that `cmake --install` never
# installs half of it.
add_custom_target(installed ALL DEPENDS evenkeel evenkeel-bench ${ek_libraries} ${ek_completions})
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/build_installed.cmake CONTENT "
foreach(file \"$<TARGET_FILE:evenkeel>\" \"$<TARGET_FILE:evenkeel-bench>\" \"$<TARGET_FILE:evenkeel_library>\"
        \"$<$<TARGET_EXISTS:evenkeel_shared>:$<TARGET_FILE:evenkeel_shared>>\" \"${completions}/fish\")
    if(file AND NOT EXISTS \"\${file}\")
        execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target installed
            COMMAND_ERROR_IS_FATAL ANY)
        return()
    endif()
endforeach()
")
install(SCRIPT ${CMAKE_BINARY_DIR}/build_installed.cmake)

install(TARGETS ${ek_libraries}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS evenkeel evenkeel-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/evenkeel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(FILES ${completions}/bash RENAME evenkeel
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completions}/zsh RENAME _evenkeel DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completions}/fish RENAME evenkeel.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The unit names the program by its path, which is known when it is installed.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/install_unit.cmake @ONLY CONTENT [[
set(bindir "${CMAKE_INSTALL_PREFIX}/@CMAKE_INSTALL_BINDIR@")
set(unit "${CMAKE_INSTALL_PREFIX}/lib/systemd/system/evenkeel.service")
configure_file("@CMAKE_SOURCE_DIR@/packaging/evenkeel.service.in" "$ENV{DESTDIR}${unit}" @ONLY)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${unit}")
message(STATUS "Installing: $ENV{DESTDIR}${unit}")
]])
install(SCRIPT ${CMAKE_BINARY_DIR}/install_unit.cmake)
install(FILES ${CMAKE_SOURCE_DIR}/examples/evenkeel.toml DESTINATION ${CMAKE_INSTALL_DOCDIR})

# --- how it is found

set(EK_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Evenkeel)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/EvenkeelConfig.cmake.in
    ${CMAKE_BINARY_DIR}/EvenkeelConfig.cmake INSTALL_DESTINATION ${EK_PACKAGE_DIR}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/EvenkeelConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/EvenkeelConfig.cmake ${CMAKE_BINARY_DIR}/EvenkeelConfigVersion.cmake
    DESTINATION ${EK_PACKAGE_DIR})
# So that the tree can be moved after it was installed.
file(RELATIVE_PATH EK_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
foreach(package evenkeel evenkeel-static)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/${package}.pc.in ${CMAKE_BINARY_DIR}/${package}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
