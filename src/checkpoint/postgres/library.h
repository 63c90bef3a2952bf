// libpq, loaded when the first PostgreSQL store is opened: it brings twenty more libraries (TLS,
// Kerberos, LDAP), which nobody else should wait for (docs/adr/0006-libpq-on-demand.md). The
// members have libpq's own names without "PQ".
// Threads: any.
#pragma once

#include <libpq-fe.h>

#include "base/result.h"

// X(member, function): what we use of it.
#define EK_LIBPQ_FUNCTIONS(X)                   \
    X(conninfoParse, PQconninfoParse)           \
    X(conninfoFree, PQconninfoFree)             \
    X(freemem, PQfreemem)                       \
    X(connectStartParams, PQconnectStartParams) \
    X(connectPoll, PQconnectPoll)               \
    X(finish, PQfinish)                         \
    X(status, PQstatus)                         \
    X(errorMessage, PQerrorMessage)             \
    X(parameterStatus, PQparameterStatus)       \
    X(transactionStatus, PQtransactionStatus)   \
    X(socket, PQsocket)                         \
    X(backendPID, PQbackendPID)                 \
    X(setErrorVerbosity, PQsetErrorVerbosity)   \
    X(setNoticeProcessor, PQsetNoticeProcessor) \
    X(setnonblocking, PQsetnonblocking)         \
    X(enterPipelineMode, PQenterPipelineMode)   \
    X(exitPipelineMode, PQexitPipelineMode)     \
    X(pipelineSync, PQpipelineSync)             \
    X(sendQuery, PQsendQuery)                   \
    X(sendQueryParams, PQsendQueryParams)       \
    X(flush, PQflush)                           \
    X(consumeInput, PQconsumeInput)             \
    X(isBusy, PQisBusy)                         \
    X(getResult, PQgetResult)                   \
    X(clear, PQclear)                           \
    X(resultStatus, PQresultStatus)             \
    X(resultErrorField, PQresultErrorField)     \
    X(ntuples, PQntuples)                       \
    X(getvalue, PQgetvalue)                     \
    X(getlength, PQgetlength)                   \
    X(notifies, PQnotifies)

namespace evenkeel::checkpoint {

struct PostgresLibrary {
#define EK_LIBPQ_MEMBER(member, function) decltype(&::function) member = nullptr;
    EK_LIBPQ_FUNCTIONS(EK_LIBPQ_MEMBER)
#undef EK_LIBPQ_MEMBER

    // The same one each time; it stays loaded. `unsupported` if it is not installed or too old.
    static Result<const PostgresLibrary*> load();
};

}  // namespace evenkeel::checkpoint
