// SPDX-License-Identifier: Apache-2.0
// A trained model in a program of your own: 1_classify_a_cloud RUN FILE… prints the class of each file.
#include <exception>
#include <iostream>
#include <stdexcept>

#include "tools/classify/prediction.h"

int main(int argc, char** argv) try {
  if (argc < 3) throw std::invalid_argument("usage: 1_classify_a_cloud RUN|NAME FILE…");
  geosft::RunModel run = geosft::load_run_model(argv[1]);
  for (int i = 2; i < argc; ++i) {
    const auto [label, probability] = geosft::predict(run, argv[i], 1).ranking.at(0);
    std::cout << argv[i] << ": " << run.class_names.at(label) << " (" << probability << ")\n";
  }
} catch (const c10::Error& error) {  // of LibTorch; what() has a backtrace, too
  std::cerr << error.what_without_backtrace() << "\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
