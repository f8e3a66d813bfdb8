// SPDX-License-Identifier: Apache-2.0
// Runs a model that geosft.export.package has compiled, without Python: 11_run_a_package PACKAGE INPUTS. INPUTS is a
// list of tensors, those of geosft.export.input_names in order, as torch.save writes it. Prints a row of outputs in
// each line.
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

#include "geometry/version.h"

namespace {

std::vector<at::Tensor> load_tensors(const char* file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  TORCH_CHECK(!content.empty(), file, ": cannot be read, or is empty");
  const c10::IValue list = torch::jit::pickle_load(content);
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& one : list.toListRef()) tensors.push_back(one.toTensor());
  return tensors;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: 11_run_a_package PACKAGE INPUTS\n");
    return 2;
  }
  try {
    std::fprintf(stderr, "operators of geosft %s\n", geosft::version());  // calls the library, so that it is linked
    torch::inductor::AOTIModelPackageLoader model(words[1]);
    const at::Tensor out = model.run(load_tensors(words[2])).at(0).cpu().to(at::kDouble);
    const auto rows = out.accessor<double, 2>();
    for (int64_t row = 0; row < out.size(0); ++row) {
      for (int64_t column = 0; column < out.size(1); ++column) std::printf("%.9g ", rows[row][column]);
      std::printf("\n");
    }
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "11_run_a_package: %s\n", error.what_without_backtrace());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "11_run_a_package: %s\n", error.what());
    return 1;
  }
  return 0;
}
