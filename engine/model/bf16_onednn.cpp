// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// oneDNN's threads (OpenMP's) would fight with ours: whatever is called here, it is told that it
// has one. Its primitives, their scratch memory and what it wants to know about each operand are
// made when a shape is first used, and kept.
#include "engine/core/aligned_buffer.h"
#include "engine/core/check.h"
#include "engine/core/parallel.h"
#include "engine/model/bf16_product.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <utility>

// Of OpenMP's library; its header belongs to another compiler's package.
extern "C" {
int omp_get_max_threads();           // NOLINT(readability-identifier-naming)
void omp_set_num_threads(int count); // NOLINT(readability-identifier-naming)
}

namespace gradlab::engine {

Bf16Ability bf16Ability() noexcept {
    // Without the instructions the library would emulate them, far slower than f32.
    const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
    constexpr auto kNeeded = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_bf16);
    return (isa & kNeeded) == kNeeded ? Bf16Ability::Ready : Bf16Ability::NoInstructions;
}

namespace {

using dnnl::memory;

constexpr std::size_t kTaskProducts = std::size_t{1} << 23; // a task: 16 Mflop or more
constexpr std::size_t kCachedRight = std::size_t{1} << 19;  // elements of a right-hand side;
constexpr std::size_t kRowsPerPassage = 64;                 // a larger one passes for so many rows
constexpr std::size_t kRowsTransposed = 128; // a strip of the left-hand side worth turning
constexpr std::size_t kRowMultiple = 8;
constexpr std::size_t kMostTasks = 32;
constexpr std::size_t kTypicalRows = 64;

/// While one lives, OpenMP gives its thread no helpers.
class OneThread {
public:
    OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before_); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    int before_;
};

memory::dim dim(std::size_t size) {
    return static_cast<memory::dim>(size);
}

memory::desc bfloats(std::size_t rows, std::size_t cols, std::size_t rowStride,
                     std::size_t colStride) {
    return {{dim(rows), dim(cols)},
            memory::data_type::bf16,
            memory::dims{dim(rowStride), dim(colStride)}};
}

/// oneDNN takes no pointer to const, even for what it only reads.
void* handle(const Bfloat* data) {
    return const_cast<Bfloat*>(data); // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// The C function: its C++ sister makes two containers a call.
template <std::size_t Count>
void execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
             const std::array<dnnl_exec_arg_t, Count>& arguments) {
    const dnnl_status_t status = dnnl_primitive_execute(primitive.get(), stream.get(),
                                                        static_cast<int>(Count), arguments.data());
    GRADLAB_CHECK(status == dnnl_success, static_cast<int>(status));
}

struct Shape {
    std::size_t rows = 0; ///< of the result
    std::size_t depth = 0;
    std::size_t cols = 0;
    std::size_t leftStride = 0;
    std::size_t resultStride = 0;
    std::size_t rightStride = 0; ///< 0: rearranged
    bool transposed = false;     ///< the left-hand side is stored by columns
    bool add = false;
    bool operator==(const Shape&) const = default;
};

std::size_t divideUp(std::size_t value, std::size_t by) {
    return (value + by - 1) / by;
}

/// Rows of the result a task: a function of the shape alone, as it may show in the bits.
std::size_t rowsPerTask(const Shape& shape) {
    const std::size_t right = shape.depth * shape.cols;
    std::size_t rows = std::max(divideUp(kTaskProducts, right), divideUp(shape.rows, kMostTasks));
    if (shape.transposed)
        rows = std::max(rows, kRowsTransposed);
    else if (right > kCachedRight)
        rows = std::max(rows, kRowsPerPassage);
    const std::size_t tasks = divideUp(shape.rows, rows);
    return divideUp(divideUp(shape.rows, tasks), kRowMultiple) * kRowMultiple;
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const Shape& shape,
                                      std::size_t rows, const memory::desc& right) {
    const memory::desc left = shape.transposed ? bfloats(rows, shape.depth, 1, shape.leftStride)
                                               : bfloats(rows, shape.depth, shape.leftStride, 1);
    const memory::desc result({dim(rows), dim(shape.cols)}, memory::data_type::f32,
                              memory::dims{dim(shape.resultStride), 1});
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user); // one primitive in many threads
    if (shape.add) {
        dnnl::post_ops sum;
        sum.append_sum();
        attributes.set_post_ops(sum);
    }
    return {dnnl::matmul::desc(left, right, result), attributes, engine};
}

/// Some rows of a result.
class Task {
public:
    Task(const dnnl::engine& engine, const dnnl::matmul::primitive_desc& description,
         dnnl::matmul primitive, const memory& right, std::size_t firstRow)
        : firstRow_(firstRow), primitive_(std::move(primitive)), stream_(engine),
          left_(description.src_desc(), engine, nullptr),
          result_(description.dst_desc(), engine, nullptr),
          space_(description.scratchpad_desc().get_size()),
          scratch_(description.scratchpad_desc(), engine, space_.data()),
          arguments_{{{DNNL_ARG_SRC, left_.get()},
                      {DNNL_ARG_WEIGHTS, right.get()},
                      {DNNL_ARG_DST, result_.get()},
                      {DNNL_ARG_SCRATCHPAD, scratch_.get()}}} {}

    [[nodiscard]] std::size_t firstRow() const noexcept { return firstRow_; }
    void run(const Bfloat* left, float* result) {
        const OneThread alone;
        left_.set_data_handle(handle(left));
        result_.set_data_handle(result);
        execute(primitive_, stream_, arguments_);
    }

private:
    std::size_t firstRow_;
    dnnl::matmul primitive_;
    dnnl::stream stream_;
    memory left_;
    memory result_;
    AlignedBuffer<std::byte> space_;
    memory scratch_;
    std::array<dnnl_exec_arg_t, 4> arguments_;
};

/// A whole product of one shape.
class Plan {
public:
    Plan(const dnnl::engine& engine, const Shape& shape, memory right)
        : shape_(shape), right_(std::move(right)) {
        const OneThread alone;
        const std::size_t rows = rowsPerTask(shape_);
        dnnl::matmul::primitive_desc description;
        dnnl::matmul primitive;
        for (std::size_t first = 0; first < shape_.rows; first += rows) {
            const std::size_t here = std::min(rows, shape_.rows - first);
            if (first == 0 || here != rows) { // the last one may be shorter
                description = describe(engine, shape_, here, right_.get_desc());
                primitive = dnnl::matmul(description);
            }
            tasks_.emplace_back(engine, description, primitive, right_, first);
        }
    }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    /// Of a right-hand side that is read where it lies.
    void setRight(const Bfloat* right) { right_.set_data_handle(handle(right)); }
    void run(const Bfloat* left, float* result) {
        const std::size_t leftStep = shape_.transposed ? 1 : shape_.leftStride;
        const auto body = [&](std::size_t index) {
            Task& task = tasks_[index];
            task.run(left + task.firstRow() * leftStep,
                     result + task.firstRow() * shape_.resultStride);
        };
        parallelBlocks(tasks_.size(), std::cref(body)); // by reference: a copy is an allocation
    }

private:
    Shape shape_;
    memory right_;
    std::deque<Task> tasks_;
};

class Plans {
public:
    /// `makeRight` is asked for a new shape's right-hand side.
    template <class MakeRight>
    Plan& of(const dnnl::engine& engine, const Shape& shape, const MakeRight& makeRight) {
        for (Plan& plan : plans_)
            if (plan.shape() == shape)
                return plan;
        return plans_.emplace_back(engine, shape, makeRight());
    }

private:
    std::deque<Plan> plans_;
};

/// A right-hand side k×n as oneDNN wants to have it, made from a plain one or its transpose.
class Arrangement {
public:
    Arrangement(const dnnl::engine& engine, MatrixView<const Bfloat> from, bool transposed)
        : rows_(transposed ? from.cols : from.rows), cols_(transposed ? from.rows : from.cols),
          fromStride_(from.stride), transposed_(transposed), stream_(engine) {
        const OneThread alone;
        const Shape typical{kTypicalRows, rows_, cols_, rows_, cols_};
        const memory::desc any({dim(rows_), dim(cols_)}, memory::data_type::bf16,
                               memory::format_tag::any);
        const memory::desc best = describe(engine, typical, kTypicalRows, any).weights_desc();
        space_ = AlignedBuffer<std::byte>(best.get_size());
        packed_ = memory(best, engine, space_.data());
        plain_ = memory(transposed ? bfloats(rows_, cols_, 1, fromStride_)
                                   : bfloats(rows_, cols_, fromStride_, 1),
                        engine, nullptr);
        reorder_ = dnnl::reorder(plain_, packed_);
    }
    [[nodiscard]] bool fits(MatrixView<const Bfloat> from, bool transposed) const {
        return rows_ == (transposed ? from.cols : from.rows) &&
               cols_ == (transposed ? from.rows : from.cols) && fromStride_ == from.stride &&
               transposed_ == transposed;
    }
    void pack(const Bfloat* from) {
        const OneThread alone;
        plain_.set_data_handle(handle(from));
        execute<2>(reorder_, stream_,
                   {{{DNNL_ARG_FROM, plain_.get()}, {DNNL_ARG_TO, packed_.get()}}});
    }
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
    [[nodiscard]] const memory& packed() const noexcept { return packed_; }
    [[nodiscard]] Plans& plans() noexcept { return plans_; }

private:
    std::size_t rows_;
    std::size_t cols_;
    std::size_t fromStride_;
    bool transposed_;
    dnnl::stream stream_;
    AlignedBuffer<std::byte> space_;
    memory packed_;
    memory plain_;
    dnnl::reorder reorder_;
    Plans plans_;
};

} // namespace

struct Bf16Right::Impl {
    void pack(MatrixView<const Bfloat> matrix, bool transposed) {
        const auto known = std::ranges::find_if(
            arrangements, [&](const Arrangement& one) { return one.fits(matrix, transposed); });
        held = known != arrangements.end() ? &*known
                                           : &arrangements.emplace_back(engine, matrix, transposed);
        held->pack(matrix.data);
    }

    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    std::deque<Arrangement> arrangements;
    Arrangement* held = nullptr; ///< one of them
    Plans plain;                 ///< right-hand sides read where they lie
};

Bf16Right::Bf16Right() {
    GRADLAB_CHECK(bf16Ability() == Bf16Ability::Ready, whyNotBf16(bf16Ability()));
    impl_ = std::make_unique<Impl>();
}
Bf16Right::~Bf16Right() = default;
Bf16Right::Bf16Right(Bf16Right&&) noexcept = default;
Bf16Right& Bf16Right::operator=(Bf16Right&&) noexcept = default;

void Bf16Right::pack(MatrixView<const Bfloat> matrix) {
    impl_->pack(matrix, false);
}

void Bf16Right::packTransposed(MatrixView<const Bfloat> matrix) {
    impl_->pack(matrix, true);
}

std::size_t Bf16Right::rows() const noexcept {
    return impl_->held == nullptr ? 0 : impl_->held->rows();
}

std::size_t Bf16Right::cols() const noexcept {
    return impl_->held == nullptr ? 0 : impl_->held->cols();
}

void Bf16Right::multiply(MatrixView<const Bfloat> a, MatrixView<float> c, Accumulate accumulate) {
    GRADLAB_CHECK(rows() > 0 && a.cols == rows() && a.rows == c.rows && c.cols == cols(), rows(),
                  a.cols, a.rows, c.rows);
    Arrangement& right = *impl_->held;
    const bool add = accumulate == Accumulate::Yes;
    const Shape shape{c.rows, right.rows(), right.cols(), a.stride, c.stride, 0, false, add};
    right.plans().of(impl_->engine, shape, [&] { return right.packed(); }).run(a.data, c.data);
}

void Bf16Right::transposedMultiply(MatrixView<const Bfloat> a, MatrixView<const Bfloat> b,
                                   MatrixView<float> c, Accumulate accumulate) {
    GRADLAB_CHECK(b.rows > 0 && a.rows == b.rows && a.cols == c.rows && c.cols == b.cols, a.rows,
                  b.rows, a.cols, c.rows);
    const bool add = accumulate == Accumulate::Yes;
    const Shape shape{c.rows, b.rows, b.cols, a.stride, c.stride, b.stride, true, add};
    Plan& plan = impl_->plain.of(impl_->engine, shape, [&] {
        return memory(bfloats(b.rows, b.cols, b.stride, 1), impl_->engine, nullptr);
    });
    plan.setRight(b.data);
    plan.run(a.data, c.data);
}

} // namespace gradlab::engine
