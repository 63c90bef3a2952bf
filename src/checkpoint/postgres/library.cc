#include "checkpoint/postgres/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace evenkeel::checkpoint {

namespace {

Result<PostgresLibrary> load_once() {
    void* const library = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return Error{ErrorCode::unsupported,
                     "a PostgreSQL store needs the library libpq.so.5, which cannot be loaded; on "
                     "Debian: apt-get install libpq5"};
    }
    PostgresLibrary functions;
    const char* missing = nullptr;
#define EK_LIBPQ_LOAD(member, function)                                                      \
    functions.member = reinterpret_cast<decltype(&::function)>(::dlsym(library, #function)); \
    if (functions.member == nullptr) missing = #function;
    EK_LIBPQ_FUNCTIONS(EK_LIBPQ_LOAD)
#undef EK_LIBPQ_LOAD
    if (missing != nullptr) {
        return Error{
            ErrorCode::unsupported,
            fmt::format("libpq.so.5 is too old, it has no {}; version 14 has it", missing)};
    }
    return functions;
}

}  // namespace

Result<const PostgresLibrary*> PostgresLibrary::load() {
    static const Result<PostgresLibrary>& loaded = *new Result<PostgresLibrary>(load_once());
    if (!loaded.ok()) return loaded.error();
    return &*loaded;
}

}  // namespace evenkeel::checkpoint
