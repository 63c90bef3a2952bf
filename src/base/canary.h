// EK_CANARY(name): false, but true in a test program that is compiled with -DEK_CANARY_name=1. Such
// a program has one known bug on purpose, and proves that the tests around it can fail
// (tests/sim/CMakeLists.txt, tests/crash/CMakeLists.txt).
//
// Used in .cc files only: an inline function would then have two definitions in one program. The
// canary program compiles those .cc files again, and its objects replace the library's.
#pragma once

// -DEK_CANARY_name=1 makes the first argument of EK_CANARY_PICK two arguments, and so the second
// `true`.
#define EK_CANARY(name) EK_CANARY_IS_ONE(EK_CANARY_##name)
#define EK_CANARY_IS_ONE(value) EK_CANARY_EXPANDED(value)
#define EK_CANARY_EXPANDED(value) EK_CANARY_PICK(EK_CANARY_SHIFT_##value true, false, false)
#define EK_CANARY_SHIFT_1 0,
#define EK_CANARY_PICK(...) EK_CANARY_SECOND(__VA_ARGS__)
#define EK_CANARY_SECOND(first, second, ...) second
