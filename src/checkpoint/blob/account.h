// Where a container of Azure Blob storage is and what lets us in, from what users write behind
// "azblob:". Pure.
//
//     AccountName=a;AccountKey=...;Container=checkpoints          a storage connection string
//     UseDevelopmentStorage=true;Container=checkpoints            the emulator on this machine
//     https://a.blob.core.windows.net/checkpoints?sv=...&sig=...  an address with a SAS
//
// "Create=true" (or "&create=true") creates the container if it is not there.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace evenkeel::checkpoint {

struct BlobAccount {
    std::string origin;     // "https://a.blob.core.windows.net": no slash at its end
    std::string path = {};  // in front of the container: "/devstoreaccount1", or nothing
    std::string name = {};  // of the account, for signatures
    std::string container = {};
    Secret key = {};  // decoded; empty: there is a SAS
    Secret sas = {};  // a query, without '?'
    bool creates = false;
};

// `invalid_argument` names what is wrong, and never shows a key.
Result<BlobAccount> parse_blob_account(std::string_view text);

// For messages: "https://a.blob.core.windows.net/checkpoints".
std::string to_string(const BlobAccount& account);

}  // namespace evenkeel::checkpoint
