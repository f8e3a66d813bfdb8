// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/main_guard.h"
#include "tools/view/view_command.h"

int main(int argc, char** argv) {
  geosft::end_process(geosft::run_tool("geosft-view", [&] {
    const auto display = geosft::view::make_display();
    return geosft::view::run_view(argc, argv, *display);
  }));
}
