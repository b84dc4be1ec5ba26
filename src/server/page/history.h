// History: what a server's numbers were, for the last hour: each second of the last five minutes,
// and each ten seconds before. A fixed amount of memory once the columns are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace remora::server {

class History {
 public:
  static constexpr std::size_t seconds = 300;
  static constexpr std::size_t tens = 360;
  static constexpr std::uint64_t ten_s = 10;

  // One number for each of these, in every sample.
  explicit History(std::vector<std::string> columns);

  const std::vector<std::string>& columns() const { return columns_; }

  // As many values as there are columns, taken at this second since 1970. Seconds that nobody
  // adds, as of a process that stood still, are missing.
  void add(std::uint64_t second, const std::vector<double>& values);

  struct Sample {
    std::uint64_t second = 0;
    const double* values = nullptr;  // one for each column; until the next `add`
  };
  // Oldest first: the tens that lie before the first of the seconds, and then those.
  std::vector<Sample> samples() const;

 private:
  // The newest of so many, each a row of a flat table.
  class Ring {
   public:
    Ring(std::size_t rows, std::size_t columns)
        : rows_(rows), columns_(columns), seconds_(rows), values_(rows * columns) {}
    void add(std::uint64_t second, const std::vector<double>& values);
    std::size_t size() const { return added_ < rows_ ? added_ : rows_; }
    // The i-th, from the oldest on.
    Sample at(std::size_t i) const;

   private:
    const std::size_t rows_;
    const std::size_t columns_;
    std::size_t added_ = 0;
    std::vector<std::uint64_t> seconds_;
    std::vector<double> values_;
  };

  const std::vector<std::string> columns_;
  Ring fine_;
  Ring coarse_;
  std::uint64_t last_ten_ = 0;
};

}  // namespace remora::server
