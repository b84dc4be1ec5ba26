#include "lab/figures/render.h"

#include <cairo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "lab/figures/draw.h"
#include "lab/figures/figures_testing.h"
#include "lab/figures/picture_testing.h"
#include "lab/figures/style.h"

namespace remora::figures {
namespace {

using ::testing::HasSubstr;

TEST(XmlFault, finds_what_is_not_well_formed) {
  EXPECT_EQ(xml_fault("<?xml version=\"1.0\"?>\n<a b=\"c\"><d/>e &amp; f</a>\n"), "");
  for (const char* broken :
       {"<a><b></a></b>", "<a>", "</a>", "<a/><b/>", "<a>x & y</a>", "<a>x < y</a>", "text", ""}) {
    EXPECT_NE(xml_fault(broken), "") << broken;
  }
}

TEST(PngSize, refuses_what_is_cut_off) {
  Result<std::string> png = to_png(Chart{.panels = {ChartPanel{}}});
  ASSERT_TRUE(png.ok());
  EXPECT_TRUE(png_size(*png));
  EXPECT_FALSE(png_size(png->substr(0, png->size() - 1)));
  EXPECT_FALSE(png_size("GIF89a"));
}

// A chart with `count` series over four places, with spreads.
Chart chart_with(std::size_t count, FigureKind kind, std::size_t panels, Scale scale) {
  Chart chart;
  chart.title = "a <b> & \"c\"";
  chart.note = "by hand; seed 1";
  chart.kind = kind;
  chart.x_label = "size";
  chart.x.scale = kind == FigureKind::lines ? Scale::log2 : Scale::category;
  chart.x.positions = {64, 256, 1024, 4096};
  chart.x.names = {"64 B", "256 B", "1 KiB", "4 KiB"};
  for (std::size_t p = 0; p < panels; ++p) {
    ChartPanel panel{.title = "panel", .y_label = "latency (us)", .scale = scale};
    for (std::size_t s = 0; s < count; ++s) {
      ChartSeries series{"series " + std::to_string(s), "bar " + std::to_string(s % 2), s, {}};
      for (std::size_t place = 0; place < 4; ++place) {
        const double value = 10.0 * static_cast<double>((s + 1) * (place + 1));
        series.points.push_back({place, {value, value * 0.9, value * 1.2}});
      }
      panel.series.push_back(std::move(series));
    }
    chart.panels.push_back(std::move(panel));
  }
  return chart;
}

TEST(Render, makes_valid_pictures_of_every_kind_and_scale) {
  for (const FigureKind kind : {FigureKind::lines, FigureKind::bars, FigureKind::stacked}) {
    for (const Scale scale : {Scale::linear, Scale::log10}) {
      for (const std::size_t panels : {1U, 2U, 4U}) {
        const Chart chart = chart_with(8, kind, panels, scale);
        Result<std::string> svg = to_svg(chart);
        ASSERT_TRUE(svg.ok()) << svg.status().message();
        EXPECT_EQ(xml_fault(*svg), "");
        Result<std::string> png = to_png(chart, 0.5);
        ASSERT_TRUE(png.ok()) << png.status().message();
        ASSERT_TRUE(png_size(*png));
        EXPECT_EQ(png_size(*png)->width, panels == 1 ? 428U : 578U);
        EXPECT_GT(png_size(*png)->height, 200U);
      }
    }
  }
}

TEST(Render, draws_svg_and_png_of_one_size) {
  const Chart chart = chart_with(3, FigureKind::lines, 1, Scale::linear);
  Result<std::string> svg = to_svg(chart);
  Result<std::string> png = to_png(chart, 1);
  ASSERT_TRUE(svg.ok() && png.ok());
  const PixelSize size = *png_size(*png);
  EXPECT_THAT(*svg, HasSubstr("viewBox=\"0 0 " + std::to_string(size.width) + " " +
                              std::to_string(size.height) + "\""));
}

TEST(Render, says_on_every_picture_whether_it_is_modelled_or_measured) {
  Chart chart = chart_with(2, FigureKind::bars, 1, Scale::linear);
  chart.origin = Origin::measured;
  Result<std::string> measured = to_svg(chart);
  ASSERT_TRUE(measured.ok());
  EXPECT_THAT(*measured, HasSubstr("<title>a &lt;b&gt; &amp; &quot;c&quot; (measured)</title>"));
  chart.origin = Origin::modelled;
  Result<std::string> modelled = to_svg(chart);
  ASSERT_TRUE(modelled.ok());
  EXPECT_THAT(*modelled, HasSubstr("(modelled)</title>"));
  EXPECT_NE(measured->substr(measured->find("</desc>")),
            modelled->substr(modelled->find("</desc>")))
      << "the badge differs in the picture too";
}

TEST(Render, draws_the_same_bytes_from_the_same_chart) {
  const Chart chart = chart_with(8, FigureKind::lines, 4, Scale::linear);
  EXPECT_EQ(*to_png(chart, 1), *to_png(chart, 1));
}

TEST(Render, shows_an_empty_panel_as_such) {
  Chart chart = chart_with(2, FigureKind::lines, 2, Scale::log10);
  chart.panels[1].series[0].points.clear();
  chart.panels[1].series[1].points.clear();
  EXPECT_TRUE(to_svg(chart).ok());
  EXPECT_TRUE(to_png(chart).ok());
}

// A surface to measure and draw on.
class OnPaper : public ::testing::Test {
 protected:
  OnPaper() { canvas.fill({0, 0, 900, 600}, white); }
  ~OnPaper() override {
    cairo_destroy(context);
    cairo_surface_destroy(surface);
  }

  int dark_pixels(int left, int top, int right, int bottom) {
    cairo_surface_flush(surface);
    const unsigned char* const pixels = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    int dark = 0;
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        dark += pixels[y * stride + 4 * x] < 128 ? 1 : 0;
      }
    }
    return dark;
  }

  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 900, 600);
  cairo_t* context = cairo_create(surface);
  Canvas canvas{context};
};

TEST_F(OnPaper, text_leaves_ink) {
  EXPECT_GT(canvas.text_width("throughput", {}), 20);
  canvas.text("throughput", {50, 50}, Align::left, {});
  EXPECT_GT(dark_pixels(50, 30, 200, 60), 50);
}

TEST_F(OnPaper, a_line_begins_where_it_is_told_to_after_a_text) {
  canvas.text("text", {50, 50}, Align::left, {});
  canvas.line({400, 400}, {500, 400}, ink, 2);
  EXPECT_EQ(dark_pixels(150, 80, 380, 380), 0);
  EXPECT_GT(dark_pixels(400, 395, 500, 405), 100);
}

TEST_F(OnPaper, text_is_cut_to_its_room) {
  EXPECT_EQ(canvas.fitted("short", 200, {}), "short");
  const std::string cut = canvas.fitted("a long title that has no room é", 80, {});
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_LE(canvas.text_width(cut, {}), 80);
}

TEST_F(OnPaper, values_are_placed_between_the_ends_of_the_axis) {
  const Chart chart = chart_with(3, FigureKind::lines, 1, Scale::log10);
  const Plot plot = draw_axes(chart, chart.panels[0], {0, 0, 800, 400}, canvas);
  EXPECT_DOUBLE_EQ(plot.y_of(plot.y.low), plot.area.bottom());
  EXPECT_DOUBLE_EQ(plot.y_of(plot.y.high), plot.area.top);
  EXPECT_NEAR(plot.y_of(1.0) + plot.y_of(100.0), 2 * plot.y_of(10.0),
              plot.y.low <= 1 ? 1e-9 : HUGE_VAL);
  for (std::size_t place = 0; place + 1 < 4; ++place) {
    EXPECT_LT(plot.x_of(chart.x, place), plot.x_of(chart.x, place + 1));
  }
  EXPECT_GE(plot.x_of(chart.x, 0), plot.area.left);
  EXPECT_LE(plot.x_of(chart.x, 3), plot.area.right());
}

TEST_F(OnPaper, a_stack_fits_its_axis) {
  Chart chart = chart_with(8, FigureKind::stacked, 1, Scale::linear);
  const Plot plot = draw_axes(chart, chart.panels[0], {0, 0, 800, 400}, canvas);
  double sum = 0;  // of the bar 1 at the last place: series 1, 3, 5, 7
  for (const std::size_t s : {1U, 3U, 5U, 7U}) {
    sum += chart.panels[0].series[s].points[3].sample.value;
  }
  EXPECT_GE(plot.y.high, sum);
}

TEST(Style, tells_thirty_two_series_apart) {
  std::set<std::string> lines;
  for (std::size_t i = 0; i < 32; ++i) {
    std::string look = std::to_string(static_cast<int>(marker_of(i))) + ":";
    for (const double dash : dashes_of(i)) {
      look += std::to_string(dash) + ",";
    }
    EXPECT_TRUE(lines.insert(look).second) << i;
  }
}

}  // namespace
}  // namespace remora::figures
