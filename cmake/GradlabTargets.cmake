# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
# What every target shares: language level, warnings, sanitizers. Architecture flags are the engine's alone.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
if(CMAKE_CXX_CLANG_TIDY)
    # What moc and rcc write is compiled too, but not ours to mend; clang-tidy insists on at least one check.
    file(WRITE ${CMAKE_BINARY_DIR}/.clang-tidy "Checks: '-*,misc-definitions-in-headers'\n")
endif()

function(gradlab_common_options target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                           -Woverloaded-virtual -Wold-style-cast -Wno-deprecated-declarations)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC 12 warns wrongly about "text" + std::string (GCC PR 105651).
        target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
    if(GRADLAB_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    # One rule for rounding everywhere: a fused multiply-add that the compiler invents changes bits.
    target_compile_options(${target} PRIVATE -ffp-contract=off)
    if(GRADLAB_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${GRADLAB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=${GRADLAB_SANITIZE})
        # GCC 12 reports false positives of these two through sanitizer instrumentation, and takes minutes
        # a file to follow variables through it: reports need line numbers only (-g1).
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-stringop-overflow -g1)
        endif()
    endif()
endfunction()

# The engine's own flags; tests of its internals link its objects and so inherit nothing of this.
function(gradlab_engine_options target)
    target_compile_options(${target} PRIVATE -fno-math-errno -fno-trapping-math)
    if(NOT GRADLAB_ARCH STREQUAL "none")
        target_compile_options(${target} PRIVATE -march=${GRADLAB_ARCH})
    endif()
    if(NOT GRADLAB_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
        target_compile_options(${target} PRIVATE -O3)
    endif()
    target_compile_definitions(${target} PRIVATE EIGEN_DONT_PARALLELIZE)
    if(GRADLAB_SANITIZE MATCHES "thread")
        # TBB is not instrumented; loops run in their caller.
        target_compile_definitions(${target} PRIVATE GRADLAB_SERIAL_EXECUTOR)
    endif()
endfunction()
