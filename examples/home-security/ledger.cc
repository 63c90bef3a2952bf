#include "ledger.h"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace homes {
namespace {

using evenkeel::Error;
using evenkeel::ErrorCode;
using evenkeel::Result;

}  // namespace

Result<> write_ledger(const std::string& file, const Ledger& ledger) {
    const std::string draft = file + ".draft";
    {
        std::ofstream out(draft);
        out << "homes " << ledger.town.homes << "\nseed " << ledger.town.seed
            << "\nincident_seconds " << ledger.town.incident_seconds << "\nfirst "
            << ledger.first_second << "\nend " << ledger.end_second << "\nnew_sensor "
            << ledger.new_sensor_second << "\nsent " << ledger.sent << "\ncomplete "
            << (ledger.is_complete ? 1 : 0) << '\n';
        if (!out.flush()) return Error{ErrorCode::unavailable, "cannot write " + draft};
    }
    if (std::rename(draft.c_str(), file.c_str()) != 0) {
        return Error{ErrorCode::unavailable, "cannot write " + file};
    }
    return {};
}

Result<Ledger> read_ledger(const std::string& file) {
    std::ifstream in(file);
    if (!in) return Error{ErrorCode::not_found, "there is no ledger " + file};
    Ledger ledger;
    const auto next = [&](std::string_view expected, auto& to) {
        std::string name;
        return in >> name >> to && name == expected;
    };
    if (!next("homes", ledger.town.homes) || !next("seed", ledger.town.seed) ||
        !next("incident_seconds", ledger.town.incident_seconds) ||
        !next("first", ledger.first_second) || !next("end", ledger.end_second) ||
        !next("new_sensor", ledger.new_sensor_second) || !next("sent", ledger.sent) ||
        !next("complete", ledger.is_complete)) {
        return Error{ErrorCode::corrupt, file + " is not a ledger of devices"};
    }
    return ledger;
}

}  // namespace homes
