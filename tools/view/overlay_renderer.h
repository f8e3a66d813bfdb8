// SPDX-License-Identifier: Apache-2.0
// Draws the overlay over an Open3D scene. Included only by window.cpp.
#pragma once

#include <open3d/visualization/shader/GeometryRenderer.h>

#include <memory>

#include "tools/view/overlay.h"

namespace geosft::view {

inline GLuint compiled(GLenum kind, const char* source) {
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 1, &source, nullptr);
  glCompileShader(shader);
  return shader;
}

// Draws a picture of the window's size over everything else.
class OverlayRenderer : public open3d::visualization::glsl::GeometryRenderer {
 public:
  ~OverlayRenderer() override {
    if (program_ == 0) return;
    glDeleteTextures(1, &texture_);
    glDeleteProgram(program_);
  }
  bool AddGeometry(std::shared_ptr<const open3d::geometry::Geometry>) override { return true; }
  bool UpdateGeometry() override { return true; }

  void set(const Raster& raster) {
    if (program_ == 0) prepare();
    glBindTexture(GL_TEXTURE_2D, texture_);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, raster.size.width, raster.size.height, 0, GL_BGRA,
                 GL_UNSIGNED_INT_8_8_8_8_REV, raster.pixels.data());
  }

  bool Render(const open3d::visualization::RenderOption&, const open3d::visualization::ViewControl&) override {
    if (program_ == 0) return false;
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);  // colours are premultiplied
    glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
    glUseProgram(program_);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture_);
    glUniform1i(glGetUniformLocation(program_, "overlay"), 0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glUseProgram(0);
    glDisable(GL_BLEND);
    glEnable(GL_DEPTH_TEST);
    return true;
  }

 private:
  void prepare() {
    constexpr const char* corners =
        "#version 330 core\nout vec2 place;\nvoid main() {\n"
        "  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
        "  place = vec2(corner.x, 1.0 - corner.y);\n"
        "  gl_Position = vec4(2.0 * corner - 1.0, 0.0, 1.0);\n}\n";
    constexpr const char* texels =
        "#version 330 core\nin vec2 place;\nout vec4 colour;\nuniform sampler2D overlay;\n"
        "void main() { colour = texture(overlay, place); }\n";
    program_ = glCreateProgram();
    for (const GLuint shader : {compiled(GL_VERTEX_SHADER, corners), compiled(GL_FRAGMENT_SHADER, texels)}) {
      glAttachShader(program_, shader);
      glDeleteShader(shader);  // deleted together with the program
    }
    glLinkProgram(program_);
    glGenTextures(1, &texture_);
    glBindTexture(GL_TEXTURE_2D, texture_);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER}) {
      glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
    }
  }

  GLuint program_ = 0, texture_ = 0;
};

}  // namespace geosft::view
