#include "lab/figures/render.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/check.h"
#include "lab/figures/draw.h"
#include "lab/figures/html_text.h"

namespace remora::figures {
namespace {

struct SurfaceEnd {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, SurfaceEnd>;

struct ContextEnd {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Context = std::unique_ptr<cairo_t, ContextEnd>;

cairo_status_t append(void* closure, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

Status failure(const char* what, cairo_status_t status) {
  return Status(status == CAIRO_STATUS_NO_MEMORY ? Code::no_space : Code::io_error,
                fmt::format("cannot draw the {}: {}", what, cairo_status_to_string(status)));
}

// Without hints, so that a text has the same width on every surface.
void plain_text(cairo_t* context) {
  cairo_font_options_t* const options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(context, options);
  cairo_font_options_destroy(options);
}

PictureSize measure(const Chart& chart) {
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
  const Context context(cairo_create(surface.get()));
  plain_text(context.get());
  Canvas canvas(context.get());
  return picture_size(chart, canvas);
}

cairo_status_t draw_on(cairo_surface_t* surface, const Chart& chart, double scale) {
  const Context context(cairo_create(surface));
  plain_text(context.get());
  cairo_scale(context.get(), scale, scale);
  Canvas canvas(context.get());
  draw(chart, canvas);
  return cairo_status(context.get());
}

// Cairo's SVG with a title and a description after the opening tag.
std::string described(std::string svg, const Chart& chart) {
  const std::size_t tag = svg.find("<svg");
  const std::size_t end = tag == svg.npos ? svg.npos : svg.find('>', tag);
  REMORA_CHECK(end != svg.npos, "cairo wrote an SVG without its tag");
  svg.insert(end + 1,
             fmt::format("\n<title>{} ({})</title>\n<desc>{}: {}</desc>", escaped(chart.title),
                         to_string(chart.origin), to_string(chart.origin), escaped(chart.note)));
  return svg;
}

}  // namespace

Result<std::string> to_svg(const Chart& chart) {
  const PictureSize size = measure(chart);
  std::string svg;
  const Surface surface(cairo_svg_surface_create_for_stream(append, &svg, size.width, size.height));
  cairo_status_t status = draw_on(surface.get(), chart, 1);
  cairo_surface_finish(surface.get());
  if (status == CAIRO_STATUS_SUCCESS) {
    status = cairo_surface_status(surface.get());
  }
  if (status != CAIRO_STATUS_SUCCESS) {
    return failure("SVG", status);
  }
  return described(std::move(svg), chart);
}

Result<std::string> to_png(const Chart& chart, double scale) {
  REMORA_CHECK(scale > 0, "a picture has a size");
  const PictureSize size = measure(chart);
  const Surface surface(cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(size.width * scale)),
      static_cast<int>(std::ceil(size.height * scale))));
  cairo_status_t status = draw_on(surface.get(), chart, scale);
  std::string png;
  if (status == CAIRO_STATUS_SUCCESS) {
    status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  }
  if (status != CAIRO_STATUS_SUCCESS) {
    return failure("PNG", status);
  }
  return png;
}

}  // namespace remora::figures
