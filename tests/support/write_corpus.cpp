// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The generated language as files that other programs can read:
//   write_corpus FOLDER
// writes train.txt, valid.txt and test.txt, a sentence a line. Read back as a corpus they are the
// same token ids.
#include "engine/data/corpus.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

using namespace gradlab;

namespace {

void write(const std::filesystem::path& path, const engine::Corpus& corpus,
           const engine::TokenIds& ids) {
    std::ofstream file(path, std::ios::binary);
    for (const std::int32_t id : ids) {
        if (id == corpus.endOfSentenceId)
            file << '\n';
        else
            file << corpus.vocabulary[static_cast<std::size_t>(id)] << ' ';
    }
    if (!file.flush())
        throw std::runtime_error("cannot write " + path.string());
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: write_corpus FOLDER\n";
        return 2;
    }
    try {
        const std::filesystem::path folder = argv[1];
        engine::CorpusSource all;
        all.vocabulary = 0;
        const auto corpus = engine::loadCorpus(all);
        write(folder / "train.txt", *corpus, corpus->train);
        write(folder / "valid.txt", *corpus, corpus->valid);
        write(folder / "test.txt", *corpus, corpus->test);
    } catch (const std::exception& error) {
        std::cerr << "write_corpus: " << error.what() << '\n';
        return 3;
    }
    return 0;
}
