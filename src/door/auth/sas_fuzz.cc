// Any text as a token: never accepted without its key, and never a crash.
#include "base/check.h"
#include "door/auth/access.h"
#include "eventhubs/address.h"
#include "eventhubs/sas.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    static const door::AccessRules rules(
        {{"root", "", door::Secret("a key that no input knows"), {}, {true, true, true}}});
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const auto& token : {text, std::string(eventhubs::sas_word) + text}) {
        EK_CHECK(!rules.check_sas(token, "hub", WallTime{0}).ok(), "a token was forged");
    }
    (void)eventhubs::parse_address(text);
    (void)eventhubs::path_on("hub", text);
    return 0;
}
