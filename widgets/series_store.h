// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of one run, bounded for ever: columns that share their x values, each a pyramid of
// (min, max, last, sum) over 2^k samples. Appending is O(1); when the leaves are full, every pair
// of them becomes one. No Qt, one thread. Leaves out: what the columns mean (RunSeries).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gradlab::widgets {

/// What a chart's x axis shows; every sample has all of them.
enum class XAxis { Step, Bytes, SimulatedTime, WallTime, Epoch, Tokens };
inline constexpr std::size_t kXAxisCount = 6;
using XValues = std::array<double, kXAxisCount>;

/// y = NaN is a gap: nothing joins the points on its two sides.
struct PlotPoint {
    double x = 0.0;
    double y = 0.0;
    bool operator==(const PlotPoint&) const = default;
};

/// A value that cannot be drawn, remembered where it happened.
struct NonFiniteMark {
    enum class Kind { NotANumber, PositiveInfinity, NegativeInfinity };
    double x = 0.0;
    Kind kind = Kind::NotANumber;
};

class SeriesStore {
public:
    static constexpr std::size_t kDefaultLeaves = 8192;
    static constexpr std::size_t kMaxMarks = 256; ///< per column; the first ones are kept

    /// @param maxLeaves even, ≥ 2
    explicit SeriesStore(std::size_t columns, std::size_t maxLeaves = kDefaultLeaves);

    /// One value a column. x values that go back are lifted to the largest so far.
    void append(const XValues& x, std::span<const double> values);

    struct Query {
        XAxis axis = XAxis::Step;
        double from = -std::numeric_limits<double>::infinity();
        double to = std::numeric_limits<double>::infinity();
        std::size_t maxPoints = 1000; ///< ≥ 8
    };
    struct Result {
        std::vector<PlotPoint> points; ///< x never decreases; at most maxPoints
        std::vector<NonFiniteMark> marks;
    };
    /// Min and max of each bucket in the order in which they happened, and the first and the last
    /// sample themselves where the range holds them. All values are ones that were appended.
    [[nodiscard]] Result query(std::size_t column, const Query& query) const;

    /// The column smoothed: from the first sample on s ← s + (y − s)/steps, without the bias of a
    /// beginning from 0. Where samples were merged their mean counts as all of them. One point at
    /// the end of each bucket. @pre steps ≥ 1
    [[nodiscard]] std::vector<PlotPoint> smoothed(std::size_t column, const Query& query,
                                                  double steps) const;

    struct Sample {
        XValues x{};
        double value = 0.0;
    };
    /// The appended sample whose x is closest (once leaves were halved: the closest one kept).
    [[nodiscard]] std::optional<Sample> nearest(std::size_t column, XAxis axis, double x) const;
    [[nodiscard]] std::optional<Sample> last(std::size_t column) const;

    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
    [[nodiscard]] std::size_t leaves() const noexcept { return leafX_.size(); }
    /// Samples in one leaf: a power of two.
    [[nodiscard]] std::uint64_t stride() const noexcept { return stride_; }
    [[nodiscard]] const XValues& firstX() const noexcept { return firstX_; }
    [[nodiscard]] const XValues& lastX() const noexcept { return lastX_; }

private:
    struct Node {
        double min = std::numeric_limits<double>::infinity();
        double max = -std::numeric_limits<double>::infinity();
        double last = std::numeric_limits<double>::quiet_NaN();
        std::uint64_t minAt = 0; ///< sample numbers
        std::uint64_t maxAt = 0;
        std::uint64_t finite = 0;
        double sum = 0.0; ///< of the finite ones
        void add(double value, std::uint64_t sample);
        void merge(const Node& later);
    };
    struct Column {
        std::vector<std::vector<Node>>
            levels; ///< [k][i]: samples i·stride·2^k and on; only full ones
        Node open;  ///< the leaf that is being filled
        double first = 0.0;
        double last = 0.0;
        struct Mark {
            XValues x;
            NonFiniteMark::Kind kind;
        };
        std::vector<Mark> marks;
    };
    class Collector; ///< of the points of a query
    struct Buckets {
        std::size_t begin = 0; ///< leaves
        std::size_t end = 0;
        std::size_t level = 0; ///< a bucket holds 2^level leaves
        [[nodiscard]] std::size_t rest() const { return (end >> level) << level; }
    };

    void appendValue(Column& column, double value) const;
    void closeLeaf();
    void halve();
    [[nodiscard]] double xOf(std::uint64_t sample, XAxis axis) const;
    [[nodiscard]] std::pair<std::size_t, std::size_t> leafRange(const Query& query) const;
    [[nodiscard]] Buckets bucketsOf(const Query& query) const;
    [[nodiscard]] Node restOf(const Column& column, const Buckets& buckets) const;

    std::vector<Column> columns_;
    std::vector<XValues> leafX_; ///< of the last sample of each full leaf
    std::size_t maxLeaves_;
    std::uint64_t stride_ = 1;
    std::uint64_t samples_ = 0;
    std::uint64_t openSamples_ = 0;
    XValues firstX_{};
    XValues lastX_{};
};

} // namespace gradlab::widgets
