// Canvas: the few strokes that the charts are made of, on a cairo surface. Lengths are points of
// the picture; y grows downward.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace remora::figures {

struct Colour {
  double red = 0;
  double green = 0;
  double blue = 0;
};

struct Place {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

enum class Align { left, centre, right };
enum class Hatch { none, rising, falling, crossed };
enum class Marker { circle, square, triangle, diamond, cross, plus, star, ring };

struct TextStyle {
  double size = 13;
  bool bold = false;
  Colour colour{0.13, 0.13, 0.13};
};

class Canvas {
 public:
  // Draws on `context`, which outlives the canvas.
  explicit Canvas(cairo_t* context) : context_(context) {}

  void fill(const Box& box, const Colour& colour);
  void outline(const Box& box, const Colour& colour, double width);
  void hatch(const Box& box, Hatch hatch, const Colour& colour);
  void line(const Place& from, const Place& to, const Colour& colour, double width);
  void polyline(const std::vector<Place>& places, const Colour& colour, double width,
                const std::vector<double>& dashes);
  void marker(Marker marker, const Place& centre, double radius, const Colour& colour);

  // `place` is on the base line, at the side that `align` says. `turned` reads upward.
  void text(const std::string& text, const Place& place, Align align, const TextStyle& style,
            bool turned = false);
  double text_width(const std::string& text, const TextStyle& style);
  // `text` in lines of at most that width, broken between words; a word that is longer has a line
  // of its own.
  std::vector<std::string> wrapped(const std::string& text, double width, const TextStyle& style);
  // `text`, cut to the width with an ellipsis.
  std::string fitted(const std::string& text, double width, const TextStyle& style);

 private:
  void use(const Colour& colour);
  void use(const TextStyle& style);

  cairo_t* context_;
};

}  // namespace remora::figures
