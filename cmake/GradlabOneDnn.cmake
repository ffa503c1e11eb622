# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
# The target gradlab-onednn, if oneDNN 2 is there (Debian: libdnnl-dev); 3 has another interface. Looked for by hand:
# the package's own file insists on OpenCL's headers, which nothing here needs.

find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl_version.h)
find_library(ONEDNN_LIBRARY dnnl)
find_library(ONEDNN_OPENMP_LIBRARY libgomp.so.1) # its threads, of which it gets one
mark_as_advanced(ONEDNN_INCLUDE_DIR ONEDNN_LIBRARY ONEDNN_OPENMP_LIBRARY)
if(ONEDNN_INCLUDE_DIR)
    file(STRINGS ${ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h onednn_major REGEX "define DNNL_VERSION_MAJOR 2$")
endif()
if(onednn_major AND ONEDNN_LIBRARY AND ONEDNN_OPENMP_LIBRARY)
    message(STATUS "Found oneDNN: ${ONEDNN_LIBRARY}; training in bf16 is possible")
    add_library(gradlab-onednn INTERFACE)
    target_include_directories(gradlab-onednn SYSTEM INTERFACE ${ONEDNN_INCLUDE_DIR})
    target_link_libraries(gradlab-onednn INTERFACE ${ONEDNN_LIBRARY} ${ONEDNN_OPENMP_LIBRARY})
else()
    message(STATUS "oneDNN 2 is not there; --precision bf16 will be refused")
endif()
