// SPDX-License-Identifier: Apache-2.0
#include "models/training/copy_stream.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <mutex>
#include <unordered_map>

namespace geosft {
namespace {

// One stream per device, so that the caching allocator reuses the memory of earlier copies.
c10::Stream stream_for_copies(const c10::impl::VirtualGuardImpl& devices, at::Device device) {
  static std::mutex mutex;
  static std::unordered_map<at::Device, c10::Stream> streams;
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = streams.find(device);
  if (found == streams.end()) found = streams.emplace(device, devices.getStreamFromGlobalPool(device)).first;
  return found->second;
}

}  // namespace

at::Tensor on_copy_stream(at::Device device, const std::function<at::Tensor()>& copy) {
  const c10::impl::VirtualGuardImpl devices(device.type());
  if (!device.has_index()) device = devices.getDevice();
  const c10::Stream current = devices.getStream(device), aside = stream_for_copies(devices, device);
  c10::Event copied(device.type());
  at::Tensor there;
  {
    const c10::StreamGuard guard(aside);
    there = copy();
    copied.record(aside);
  }
  copied.block(current);
  // The memory belongs to the copy stream, which must not reuse it while the current stream still reads it.
  devices.recordDataPtrOnStream(there.storage().data_ptr(), current);
  return there;
}

}  // namespace geosft
