# SPDX-License-Identifier: Apache-2.0
# Target `reference`: the API reference of the installed headers, if Doxygen is installed.
find_program(GEOSFT_DOXYGEN doxygen)
if(NOT GEOSFT_DOXYGEN)
  return()
endif()
file(GLOB_RECURSE input RELATIVE "${PROJECT_SOURCE_DIR}" geometry/*.h graph/*.h models/*.h data/*.h)
list(FILTER input EXCLUDE REGEX "/(cpu|cuda|autograd|theory)/|${private_headers}")
list(TRANSFORM run_headers PREPEND tools/ OUTPUT_VARIABLE tools_input)
list(APPEND input ${tools_input})
list(JOIN input " " input)
configure_file(tools/reference/Doxyfile.in Doxyfile @ONLY)
set(GEOSFT_REFERENCE "${GEOSFT_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile")
add_custom_target(reference COMMAND ${GEOSFT_REFERENCE} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
                  COMMENT "API reference: ${PROJECT_BINARY_DIR}/reference/html/index.html")
# Target `site`: the documents and the reference as one site; tools/site.sh --setup installs what builds it.
add_custom_target(site COMMAND python3 tools/site/build.py "${PROJECT_SOURCE_DIR}/build/site" "${PROJECT_BINARY_DIR}/reference/html"
                  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" COMMENT "Site: ${PROJECT_SOURCE_DIR}/build/site/site/index.html")
add_dependencies(site reference)
