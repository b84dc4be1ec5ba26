#include "lab/figures/canvas.h"

#include <sstream>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace remora::figures {
namespace {

constexpr double turn = 2 * std::numbers::pi;
constexpr double hatch_gap = 5;

// A path through `corners` points around `centre`, the first above it.
void polygon(cairo_t* context, const Place& centre, double radius, int corners, double begin) {
  for (int i = 0; i < corners; ++i) {
    const double angle = begin + turn * i / corners;
    cairo_line_to(context, centre.x + radius * std::cos(angle),
                  centre.y + radius * std::sin(angle));
  }
  cairo_close_path(context);
}

void spokes(cairo_t* context, const Place& centre, double radius, int count, double begin) {
  for (int i = 0; i < count; ++i) {
    const double angle = begin + turn * i / count;
    cairo_move_to(context, centre.x, centre.y);
    cairo_line_to(context, centre.x + radius * std::cos(angle),
                  centre.y + radius * std::sin(angle));
  }
}

}  // namespace

void Canvas::use(const Colour& colour) {
  cairo_set_source_rgb(context_, colour.red, colour.green, colour.blue);
}

void Canvas::use(const TextStyle& style) {
  cairo_select_font_face(context_, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context_, style.size);
}

void Canvas::fill(const Box& box, const Colour& colour) {
  use(colour);
  cairo_rectangle(context_, box.left, box.top, box.width, box.height);
  cairo_fill(context_);
}

void Canvas::outline(const Box& box, const Colour& colour, double width) {
  use(colour);
  cairo_set_line_width(context_, width);
  cairo_rectangle(context_, box.left, box.top, box.width, box.height);
  cairo_stroke(context_);
}

void Canvas::hatch(const Box& box, Hatch hatch, const Colour& colour) {
  if (hatch == Hatch::none) {
    return;
  }
  cairo_save(context_);
  cairo_rectangle(context_, box.left, box.top, box.width, box.height);
  cairo_clip(context_);
  use(colour);
  cairo_set_line_width(context_, 1);
  for (double at = -box.height; at < box.width; at += hatch_gap) {
    if (hatch != Hatch::falling) {
      cairo_move_to(context_, box.left + at, box.bottom());
      cairo_line_to(context_, box.left + at + box.height, box.top);
    }
    if (hatch != Hatch::rising) {
      cairo_move_to(context_, box.left + at, box.top);
      cairo_line_to(context_, box.left + at + box.height, box.bottom());
    }
  }
  cairo_stroke(context_);
  cairo_restore(context_);
}

void Canvas::line(const Place& from, const Place& to, const Colour& colour, double width) {
  polyline({from, to}, colour, width, {});
}

void Canvas::polyline(const std::vector<Place>& places, const Colour& colour, double width,
                      const std::vector<double>& dashes) {
  use(colour);
  cairo_set_line_width(context_, width);
  cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
  cairo_set_dash(context_, dashes.data(), static_cast<int>(dashes.size()), 0);
  cairo_new_path(context_);  // text leaves a current point behind
  for (const Place& place : places) {
    cairo_line_to(context_, place.x, place.y);
  }
  cairo_stroke(context_);
  cairo_set_dash(context_, nullptr, 0, 0);
}

void Canvas::marker(Marker marker, const Place& centre, double radius, const Colour& colour) {
  const double up = -turn / 4;
  cairo_new_path(context_);
  cairo_set_line_width(context_, 1.8);
  use(colour);
  switch (marker) {
    case Marker::circle:
      cairo_arc(context_, centre.x, centre.y, radius, 0, turn);
      return cairo_fill(context_);
    case Marker::square:
      polygon(context_, centre, radius * 1.25, 4, turn / 8);
      return cairo_fill(context_);
    case Marker::triangle:
      polygon(context_, centre, radius * 1.35, 3, up);
      return cairo_fill(context_);
    case Marker::diamond:
      polygon(context_, centre, radius * 1.35, 4, up);
      return cairo_fill(context_);
    case Marker::cross:
      spokes(context_, centre, radius * 1.3, 4, turn / 8);
      return cairo_stroke(context_);
    case Marker::plus:
      spokes(context_, centre, radius * 1.3, 4, 0);
      return cairo_stroke(context_);
    case Marker::star:
      spokes(context_, centre, radius * 1.3, 6, up);
      return cairo_stroke(context_);
    case Marker::ring:
      cairo_arc(context_, centre.x, centre.y, radius, 0, turn);
      cairo_set_source_rgb(context_, 1, 1, 1);
      cairo_fill_preserve(context_);
      use(colour);
      return cairo_stroke(context_);
  }
}

void Canvas::text(const std::string& text, const Place& place, Align align, const TextStyle& style,
                  bool turned) {
  const double width = text_width(text, style);
  const double shift = align == Align::left ? 0 : align == Align::centre ? width / 2 : width;
  cairo_save(context_);
  cairo_translate(context_, place.x, place.y);
  if (turned) {
    cairo_rotate(context_, -turn / 4);
  }
  cairo_move_to(context_, -shift, 0);
  use(style.colour);
  cairo_show_text(context_, text.c_str());
  cairo_new_path(context_);
  cairo_restore(context_);
}

double Canvas::text_width(const std::string& text, const TextStyle& style) {
  use(style);
  cairo_text_extents_t extents;
  cairo_text_extents(context_, text.c_str(), &extents);
  return extents.x_advance;
}

std::vector<std::string> Canvas::wrapped(const std::string& text, double width,
                                         const TextStyle& style) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && text_width(lines.back() + " " + word, style) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string Canvas::fitted(const std::string& text, double width, const TextStyle& style) {
  if (text_width(text, style) <= width) {
    return text;
  }
  std::string cut = text;
  while (!cut.empty() && text_width(cut + "…", style) > width) {
    cut.pop_back();
    while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xc0) == 0x80) {
      cut.pop_back();  // the rest of a character of several bytes
    }
    if (!cut.empty() && static_cast<unsigned char>(cut.back()) >= 0xc0) {
      cut.pop_back();
    }
  }
  return cut + "…";
}

}  // namespace remora::figures
