// Result<T> and Error (public, in <evenkeel/error.h>), and two macros our code passes them up by.
#pragma once

#include <evenkeel/error.h>

#define EK_CONCAT_(a, b) a##b
#define EK_CONCAT(a, b) EK_CONCAT_(a, b)

// Returns the expression's error to our caller, if it has one.
#define EK_TRY(expression)                                          \
    do {                                                            \
        auto&& ek_result_ = (expression);                           \
        if (!ek_result_.ok()) return std::move(ek_result_).error(); \
    } while (false)

// The same, and binds the value: EK_TRY_ASSIGN(const auto first, log.append(batch));
#define EK_TRY_ASSIGN(declaration, expression) \
    EK_TRY_ASSIGN_(declaration, expression, EK_CONCAT(ek_result_, __LINE__))
#define EK_TRY_ASSIGN_(declaration, expression, result) \
    auto result = (expression);                         \
    if (!result.ok()) return std::move(result).error(); \
    declaration = std::move(*result)
