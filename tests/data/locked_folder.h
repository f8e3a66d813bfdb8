// SPDX-License-Identifier: Apache-2.0
// A folder that cannot be written to, not even by root.
#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <system_error>
#include <utility>

namespace geosft::test {

// The calling thread without the right of root to pass over permissions (CAP_DAC_OVERRIDE), while it lives.
class BoundByPermissions {
 public:
  BoundByPermissions() {
    REQUIRE(::syscall(SYS_capget, &header_, before_.data()) == 0);
    Sets bound = before_;
    bound[CAP_TO_INDEX(CAP_DAC_OVERRIDE)].effective &= ~CAP_TO_MASK(CAP_DAC_OVERRIDE);
    REQUIRE(::syscall(SYS_capset, &header_, bound.data()) == 0);
  }
  ~BoundByPermissions() { ::syscall(SYS_capset, &header_, before_.data()); }
  BoundByPermissions(const BoundByPermissions&) = delete;
  BoundByPermissions& operator=(const BoundByPermissions&) = delete;

 private:
  using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;
  __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
  Sets before_ = {};
};

// `folder` is read-only for the calling thread while it lives.
class LockedFolder {
 public:
  explicit LockedFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  }
  ~LockedFolder() {
    std::error_code error;
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, error);
  }
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

 private:
  std::filesystem::path folder_;
  BoundByPermissions bound_;
};

}  // namespace geosft::test
