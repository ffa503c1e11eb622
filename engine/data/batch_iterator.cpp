// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/batch_iterator.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <string>

namespace gradlab::engine {

ColumnBlock cutColumns(const TokenIds& stream, std::size_t batch, std::size_t first,
                       std::size_t count) {
    GRADLAB_CHECK(batch > 0 && first + count <= batch, batch, first, count);
    const std::size_t rows = stream.size() / batch;
    if (rows < 2)
        throw DataError("too little text: " + std::to_string(stream.size()) + " tokens in " +
                        std::to_string(batch) +
                        " columns leave nothing to predict; give more text or a smaller batch");
    ColumnBlock block{TokenIds(rows * count), rows, count, first};
    for (std::size_t column = 0; column < count; ++column) {
        const std::int32_t* from = stream.data() + (first + column) * rows;
        for (std::size_t row = 0; row < rows; ++row)
            block.ids[row * count + column] = from[row];
    }
    return block;
}

BatchIterator::BatchIterator(const ColumnBlock& block, std::size_t bptt, bool keepShortWindow)
    : block_(block), bptt_(bptt) {
    GRADLAB_CHECK(bptt > 0 && block.rows > 0, bptt, block.rows);
    GRADLAB_CHECK(block.ids.size() == block.rows * block.columns, block.ids.size(), block.rows);
    const std::size_t predictions = block.rows - 1;
    windows_ = (predictions + (keepShortWindow ? bptt - 1 : 0)) / bptt;
}

Window BatchIterator::window(std::size_t position) const {
    GRADLAB_CHECK(position < windows_, position, windows_);
    const std::size_t first = position * bptt_;
    const std::size_t time = std::min(bptt_, block_.rows - 1 - first);
    const std::span<const std::int32_t> ids(block_.ids);
    return {ids.subspan(first * block_.columns, time * block_.columns),
            ids.subspan((first + 1) * block_.columns, time * block_.columns), time, block_.columns};
}

} // namespace gradlab::engine
