#include "lib/subword/subword.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "lib/base/utf8.h"
#include "lib/subword/words.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;

namespace {

struct Fixture {
  std::unique_ptr<Vocabulary> model = parse_vocabulary(train(sample_text()), "bpe.model");
  std::string round_trip(const std::string& line) const {
    return model->decode(encoded(*model, line));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(subword, Fixture)

BOOST_AUTO_TEST_CASE(special_and_byte_tokens_are_first) {
  BOOST_TEST(model->kind() == "sentencepiece");
  BOOST_TEST(model->size() == 400);
  BOOST_TEST(model->token(Vocabulary::pad) == "<pad>");
  BOOST_TEST(model->token(Vocabulary::unk) == "<unk>");
  BOOST_TEST(model->token(Vocabulary::bos) == "<s>");
  BOOST_TEST(model->token(Vocabulary::eos) == "</s>");
  BOOST_TEST(model->token(4 + 0xE2) == "<0xE2>");
  for (int id = 0; id < model->size(); ++id) BOOST_TEST(model->id_of(model->token(id)) == id);
  BOOST_TEST(model->id_of("no such token") == -1);
}

BOOST_AUTO_TEST_CASE(every_line_is_restored) {
  for (const std::string& line :
       {std::string(), std::string(" "), std::string("  a  b  "), std::string("\t"),
        std::string("a\0b", 3), std::string("\0", 1), std::string("x\r"), std::string("▁"),
        std::string("a▁b"), std::string("▁▁ ▁"), std::string("😀"), std::string("a\u2028b"),
        std::string("<s> </s> <pad> <unk> <0x0A>"),
        std::string("\xF4\x8F\xBF\xBD▁\xF4\x8F\xBF\xBD")}) {
    BOOST_TEST(round_trip(line) == line);
  }
}

BOOST_AUTO_TEST_CASE(random_unicode_is_restored) {
  PhiloxStream random(1, 2);
  for (int i = 0; i < 20000; ++i) {
    const std::string line = random_line(random);
    BOOST_REQUIRE_EQUAL(round_trip(line), line);
    BOOST_REQUIRE_EQUAL(joined_bytes(*model, encoded(*model, line)),
                        (line.empty() ? "" : " ") + line);
  }
  for (const int id : {Vocabulary::pad, Vocabulary::unk, Vocabulary::bos, Vocabulary::eos})
    BOOST_TEST(model->token_bytes(id).empty());
  BOOST_CHECK_THROW(model->token_bytes(model->size()), DataError);
}

// An unused token disables our own encoder, so SentencePiece encodes.
BOOST_AUTO_TEST_CASE(ids_are_those_of_sentencepiece) {
  const auto other = parse_vocabulary(model->bytes() + "\x0A\x06\x0A\x02\x01\x01\x18\x05", "other");
  BOOST_REQUIRE(other->size() == model->size() + 1);
  PhiloxStream random(2, 2);
  std::vector<std::string> lines = sample_text();
  for (int i = 0; i < 10000; ++i) lines.push_back(random_line(random));
  lines.push_back(std::string(300, 'n') + " " + std::string(90, 'e') + "▁" + std::string(101, 's'));
  std::vector<int> ids, expected;
  for (const std::string& line : lines) {
    model->encode(line, ids);
    other->encode(line, expected);
    BOOST_REQUIRE_MESSAGE(ids == expected, line);
  }
}

BOOST_AUTO_TEST_CASE(a_megabyte_line_is_restored) {
  std::string line(1 << 20, 'a');
  for (size_t i = 0; i < line.size(); i += 7) line[i] = char('a' + i % 23);
  BOOST_TEST((round_trip(line) == line));
}

BOOST_AUTO_TEST_CASE(tokens_are_printable_words) {
  PhiloxStream random(3, 2);
  std::vector<int> ids;
  for (int i = 0; i < 500; ++i) {
    model->encode(random_line(random), ids);
    for (const std::string& token : model->tokens(ids)) {
      BOOST_TEST(!token.empty());
      for (const char c : token) BOOST_REQUIRE(static_cast<unsigned char>(c) > 0x20);
    }
    for (size_t k = 0; k < ids.size(); ++k)
      BOOST_TEST(model->id_of(model->token(ids[k])) == ids[k]);
  }
}

BOOST_AUTO_TEST_CASE(decode_keeps_one_line_of_valid_text) {
  BOOST_TEST(model->decode(std::vector<int>{4 + '\n'}) == " ");
  BOOST_TEST(count_invalid_utf8(model->decode(std::vector<int>{4 + 0xE2, 4 + 0x96, 4 + 'A'})) == 0);
  BOOST_TEST(model->decode(std::vector<int>{Vocabulary::bos, 4 + 'A', Vocabulary::eos,
                                            Vocabulary::pad}) == "A");
  BOOST_CHECK_THROW(model->decode(std::vector<int>{400}), DataError);
  BOOST_CHECK_THROW(model->decode(std::vector<int>{-1}), DataError);
  BOOST_CHECK_THROW(model->token(400), DataError);
}

BOOST_AUTO_TEST_CASE(bytes_depend_only_on_the_text) {
  std::vector<std::string> lines = sample_text();
  for (const int threads : {1, 2, 3, 4, 7}) {
    BOOST_TEST((train(lines, 400, threads) == model->bytes()));
  }
  std::reverse(lines.begin(), lines.end());
  BOOST_TEST((train(lines) == model->bytes()));
  BOOST_TEST(model->hash().size() == 16u);
}

BOOST_AUTO_TEST_CASE(the_size_is_an_upper_bound) {
  const auto small = parse_vocabulary(train({"ab ab", "ba"}, 5000), "small");
  BOOST_TEST(small->size() < 280);
  BOOST_TEST(small->size() > 260);
  BOOST_CHECK_EXCEPTION(train({"ab ab", "ba"}, 100), UsageError, [](const UsageError& error) {
    return std::string(error.what()).find("at least 263") != std::string::npos;
  });
  BOOST_CHECK_THROW(train({"", "  "}), DataError);
}

BOOST_AUTO_TEST_CASE(reserved_words_in_the_text_are_ordinary_words) {
  std::vector<std::string> lines(50, "<s> <unk> <0x41> </s> <pad> ▁a ▅b a\tb a\rb");
  const auto odd = parse_vocabulary(train(lines, 300), "odd");
  BOOST_TEST(odd->id_of("<unk>") == Vocabulary::unk);
  BOOST_TEST(odd->id_of("\r") == -1);
  std::vector<int> ids;
  odd->encode(lines[0], ids);
  BOOST_TEST(*std::min_element(ids.begin(), ids.end()) >= Vocabulary::specials);
  BOOST_TEST(odd->decode(ids) == lines[0]);
}

BOOST_AUTO_TEST_CASE(a_cut_model_is_refused) {
  const std::string& bytes = model->bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    BOOST_CHECK_THROW(parse_vocabulary(bytes.substr(0, size), "cut"), DataError);
  }
}

// Only some models are read by SentencePiece, but all that are accepted are valid for it.
BOOST_AUTO_TEST_CASE(a_damaged_model_is_refused_or_works) {
  PhiloxStream random(5, 3);
  std::vector<int> ids;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = model->bytes();
    for (uint32_t k = 0; k <= random.next() % 3; ++k) {
      bytes[random.next() % bytes.size()] = char(random.next());
    }
    try {
      const auto damaged = parse_vocabulary(bytes, "damaged");
      damaged->encode("the dog is▁ running 😀", ids);
      damaged->decode(ids);
      damaged->decode(std::vector<int>{Vocabulary::unk});
      PieceSplitter(bytes, "not valid for SentencePiece");
    } catch (const DataError& error) {
      BOOST_TEST(std::string(error.what()).starts_with("damaged"));
    }
  }
}

BOOST_AUTO_TEST_CASE(models_that_sentencepiece_refuses_are_refused) {
  const auto piece = [](const std::string& text, char type) {
    const std::string fields =
        "\x0A" + std::string(1, char(text.size())) + text + "\x18" + std::string(1, type);
    return "\x0A" + std::string(1, char(fields.size())) + fields;
  };
  const std::string& bytes = model->bytes();
  BOOST_TEST(parse_vocabulary(bytes + piece("new", 1), "m")->size() == model->size() + 1);
  BOOST_CHECK_THROW(parse_vocabulary(bytes + piece("d", 1), "m"), DataError);  // twice
  BOOST_CHECK_THROW(parse_vocabulary(bytes + piece("", 1), "m"), DataError);
  BOOST_CHECK_THROW(parse_vocabulary(bytes + piece("new", 2), "m"), DataError);  // another <unk>
  BOOST_CHECK_THROW(parse_vocabulary(bytes + piece("<0x4g>", 6), "m"), DataError);
}

// Appends settings that name another padding token: later fields of a message win.
BOOST_AUTO_TEST_CASE(a_model_with_other_special_ids_is_refused) {
  const std::string foreign = model->bytes() + "\x12\x04\x82\x03\x01x";
  BOOST_CHECK_EXCEPTION(parse_vocabulary(foreign, "m"), DataError, [](const DataError& error) {
    return std::string(error.what())
        .starts_with(
            "m: the ids of this subword model are pad none, unk 1, bos 2, eos 3; they must be pad "
            "0");
  });
}

BOOST_AUTO_TEST_CASE(other_files_are_named) {
  for (const char* bytes : {"hello world\n",
                            "\x7F"
                            "ELF",
                            "{\"a\":1}"}) {
    BOOST_CHECK_EXCEPTION(parse_vocabulary(bytes, "x.txt"), DataError, [](const DataError& error) {
      return std::string(error.what()).starts_with("x.txt is neither a subword model");
    });
  }
}

BOOST_AUTO_TEST_CASE(sentinels_follow_the_tokens) {
  const Vocabularies::Pointer subwords = std::move(model);
  const Vocabularies::Pointer words =
      parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\none\ntwo\n", "words");
  for (const auto& before : {subwords, words}) {
    BOOST_TEST(sentinels_of(*before).empty());
    const Vocabularies::Pointer after = with_sentinels(before);
    BOOST_TEST(after->size() == before->size() + added_sentinels);
    const std::vector<int> ids = sentinels_of(*after);
    BOOST_TEST(ids.size() == size_t(added_sentinels));
    BOOST_TEST(ids.front() == before->size());
    BOOST_TEST(after->token(ids.back()) == "<extra_id_99>");
    BOOST_TEST(with_sentinels(after) == after);
    BOOST_TEST(after->kind() == before->kind());
    for (const std::string line : {"one two", "two one, two"})
      BOOST_TEST(encoded(*after, line) == encoded(*before, line), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_space_before_a_sentinel_belongs_to_it) {
  const Vocabularies::Pointer v = with_sentinels(std::move(model));
  const int first = sentinels_of(*v)[0], second = sentinels_of(*v)[1];
  const std::vector<int> plain = encoded(*v, "the the the");
  BOOST_TEST(plain.size() == 3u);
  const std::vector<int> held = encoded(*v, "the <extra_id_0> the <extra_id_1>");
  BOOST_TEST(held == (std::vector<int>{plain[0], first, plain[2], second}),
             boost::test_tools::per_element());
  BOOST_TEST(encoded(*v, "<extra_id_0> the")[0] == first);
  BOOST_TEST(joined_bytes(*v, held) == " the <extra_id_0> the <extra_id_1>");
  for (const std::string line :
       {"the <extra_id_0> the <extra_id_1>", "<extra_id_0> the", "<extra_id_0>", " the"})
    BOOST_TEST(v->decode(encoded(*v, line)) == line);
}

BOOST_AUTO_TEST_SUITE_END()
