# Runs web/build, and writes a source that holds the files of the page:
#
#     cmake -DWEB=web -DOUT=build/page -DENABLED=ON -P cmake/embed_page.cmake
#
# A page that cannot be built does not keep the program from being built: the source then holds no
# files, and the server says so. The build tries again when the source is removed.
set(files ${OUT}/files)
set(source ${OUT}/page_files.cc)
file(REMOVE_RECURSE ${files})
file(MAKE_DIRECTORY ${files})

set(names)
if(ENABLED)
    execute_process(COMMAND ${WEB}/build ${files} RESULT_VARIABLE status
        OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(status EQUAL 0)
        file(GLOB names RELATIVE ${files} ${files}/*)
        list(SORT names)
    else()
        message("${output}")
        message("the dashboard could not be built (see above): /ui/ will say so, everything else works.\n"
            "Is the npm registry reachable? To try again: rm ${source}")
    endif()
endif()

set(blobs)
set(symbols)
set(rows)
set(number 0)
foreach(name IN LISTS names)
    execute_process(COMMAND gzip -9 -n -c ${files}/${name} OUTPUT_FILE ${OUT}/${number}.gz
        COMMAND_ERROR_IS_FATAL ANY)
    file(SHA256 ${files}/${name} hash)
    string(SUBSTRING ${hash} 0 16 hash)
    foreach(part content gzipped)
        set(symbol ek_page_${number}_${part})
        set(path ${files}/${name})
        if(part STREQUAL gzipped)
            set(path ${OUT}/${number}.gz)
        endif()
        string(APPEND blobs "${symbol}: .incbin \"${path}\"\n${symbol}_end:\n")
        string(APPEND symbols "extern const char ${symbol}[], ${symbol}_end[];\n")
    endforeach()
    string(APPEND rows "    {\"${name}\", blob(ek_page_${number}_content, ek_page_${number}_content_end),\n"
        "     blob(ek_page_${number}_gzipped, ek_page_${number}_gzipped_end), R\"(\"${hash}\")\"},\n")
    math(EXPR number "${number} + 1")
endforeach()
if(NOT names)
    set(rows "")
endif()

file(WRITE ${source} "// Written by cmake/embed_page.cmake.
#include \"dashboard/page.h\"

#include <cstddef>
#include <vector>

__asm__(R\"(
.pushsection .rodata
${blobs}.popsection
)\");
extern \"C\" {
${symbols}}

namespace evenkeel::dashboard {
namespace {

[[maybe_unused]] std::string_view blob(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const PageFile> page_files() {
    static const std::vector<PageFile> files{
${rows}    };
    return files;
}

}  // namespace evenkeel::dashboard
")
