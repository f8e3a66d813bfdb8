# SPDX-License-Identifier: Apache-2.0
# Installs libraries, programs, public headers, and the files with which CMake and pkg-config find them. The install can be
# moved: paths are relative, except that of LibTorch, which is stored and can be overridden.
include(CMakePackageConfigHelpers)

set(libraries geosft_ops geosft_models geosft_data)
set(programs)
if(GEOSFT_TOOLS)
  get_property(wait_policies GLOBAL PROPERTY GEOSFT_WAIT_POLICIES)
  list(APPEND libraries geosft_experiment geosft_classify geosft_segment geosft_graph_tool ${wait_policies})
  list(APPEND programs geosft-classify geosft-segment geosft-graph geosft-sequence geosft-view geosft-analyze)
endif()
if(GEOSFT_TOOLS)
  set_target_properties(geosft_wait_policy PROPERTIES EXPORT_NAME wait_policy_library)
endif()
foreach(name IN ITEMS ops models data experiment classify segment graph_tool)
  if(TARGET geosft_${name})
    set_target_properties(geosft_${name} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
                                                    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_compile_features(geosft_${name} PUBLIC cxx_std_20)
  endif()
endforeach()
install(TARGETS ${libraries} EXPORT geosft LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${programs})
if(GEOSFT_HAS_MPI)
  install(TARGETS geosft_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}) # loaded, never linked: not exported
endif()
if(TARGET geosft_cuda_graph)
  install(TARGETS geosft_cuda_graph LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}) # the same
endif()
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/geosft)
install(EXPORT geosft FILE geosftTargets.cmake NAMESPACE geosft:: DESTINATION ${folder})

# Private headers, which are not installed: kernels, registration, search trees, containers.
set(private_headers "(/primal_(heads|mask|composition)|_checks|_walker|attention_(operator|host|inputs)|define_gathered|_solver|_kernels|_plan|_reach|_header)\\.h$"
    "/(operators|kd_tree|bucketed_cloud|cloud_pose|large_pages|links|walk_graph|node_order|hdf5_chunks|hdf5_filters|hdf5_handles|hdf5_library|isolated_reader|reader_process|hdf5_file|compression|rdkit_molecule|binary|text_lines)\\.h$"
    "/(rendezvous|ordered_thread|nccl_library|nccl_watchdog)\\.h$")
list(JOIN private_headers "|" private_headers)
foreach(source IN ITEMS geometry graph models data)
  install(DIRECTORY ${source} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/geosft FILES_MATCHING PATTERN "*.h"
          PATTERN "cpu" EXCLUDE PATTERN "cuda" EXCLUDE PATTERN "autograd" EXCLUDE PATTERN "theory" EXCLUDE REGEX "${private_headers}" EXCLUDE)
endforeach()
# Headers of the tools that load a RUN.
set(run_headers classify/prediction.h experiment/arguments.h experiment/automatic_sizes.h experiment/blocks.h
                experiment/classification.h experiment/classify_settings.h experiment/cloud_settings.h
                experiment/cloud_transforms.h experiment/config.h experiment/config_entry.h experiment/enum_names.h
                experiment/event_file.h experiment/experiment_settings.h experiment/graph_kernel.h experiment/graph_learning.h
                experiment/graph_metrics.h experiment/graph_prediction.h experiment/graph_settings.h
                experiment/input_cloud.h experiment/input_files.h experiment/metrics_csv.h experiment/progress.h experiment/run_checkpoint.h
                experiment/run_folder.h experiment/run_kernel.h experiment/run_observer.h experiment/segment_settings.h
                experiment/segmentation.h experiment/shape_kernel.h experiment/split_table.h experiment/trained_run.h
                segment/segment_prediction.h)
if(GEOSFT_TOOLS)
  foreach(header IN LISTS run_headers)
    get_filename_component(below tools/${header} DIRECTORY)
    install(FILES tools/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/geosft/${below})
  endforeach()
  install(DIRECTORY tools/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/geosft)
endif()

# C++ libraries have no ABI across minor versions of LibTorch: what is installed takes the one that it was compiled for.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" geosft_built_for "${GEOSFT_TORCH_VERSION}")
configure_package_config_file(tools/cmake/install/geosftConfig.cmake.in geosftConfig.cmake INSTALL_DESTINATION ${folder})
write_basic_package_version_file(geosftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/geosftConfig.cmake" "${PROJECT_BINARY_DIR}/geosftConfigVersion.cmake"
              tools/cmake/Torch.cmake DESTINATION ${folder})
configure_file(tools/cmake/install/geosft.pc.in geosft.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/geosft.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# geosft_classify.pc and the like for the tools' libraries, which bring geosft.pc.
if(GEOSFT_TOOLS)
  foreach(tool IN ITEMS classify segment graph_tool)
    configure_file(tools/cmake/install/geosft_tool.pc.in geosft_${tool}.pc @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/geosft_${tool}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
  configure_file(tools/cmake/install/geosft_wait_policy.pc.in geosft_wait_policy.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/geosft_wait_policy.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
