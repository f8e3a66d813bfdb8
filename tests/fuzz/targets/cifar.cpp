// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration cifar({"cifar",
                          of_folder({"data_batch_1.bin", "test_batch.bin", "batches.meta.txt"},
                                    [](const auto& folder) { read_cifar_images(folder); }),
                          [] {
                            return Inputs{joined({std::string(3073, '\x03'), std::string(3073, '\x01')}),
                                          joined({std::string(6146, '\x03'), std::string(3073, '\x01'),
                                                  "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"})};
                          }});

}  // namespace
}  // namespace geosft::fuzz
