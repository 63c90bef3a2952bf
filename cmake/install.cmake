# What `cmake --install` puts on a machine: the programs, one static library with all that
# include/evenkeel/ declares, and how CMake and pkg-config find it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(EK_LIBRARY_MODULES base io amqp http eventhubs client producer commitlog hub)
foreach(module source checkpoint processor)
    if(TARGET evenkeel_${module})
        list(APPEND EK_LIBRARY_MODULES ${module})
    endif()
endforeach()

add_library(evenkeel_library STATIC)
foreach(module IN LISTS EK_LIBRARY_MODULES)
    target_sources(evenkeel_library PRIVATE $<TARGET_OBJECTS:evenkeel_${module}>)
endforeach()
set_target_properties(evenkeel_library PROPERTIES OUTPUT_NAME evenkeel EXPORT_NAME evenkeel LINKER_LANGUAGE CXX)

install(TARGETS evenkeel_library ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS evenkeel evenkeel-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/evenkeel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(EK_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Evenkeel)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/EvenkeelConfig.cmake.in
    ${CMAKE_BINARY_DIR}/EvenkeelConfig.cmake INSTALL_DESTINATION ${EK_PACKAGE_DIR}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/EvenkeelConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
# So that the tree can be moved after it was installed.
file(RELATIVE_PATH EK_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_SOURCE_DIR}/cmake/evenkeel.pc.in ${CMAKE_BINARY_DIR}/evenkeel.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/EvenkeelConfig.cmake ${CMAKE_BINARY_DIR}/EvenkeelConfigVersion.cmake
    DESTINATION ${EK_PACKAGE_DIR})
install(FILES ${CMAKE_BINARY_DIR}/evenkeel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
