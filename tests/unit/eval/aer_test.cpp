#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "tests/scoring_options.h"
#include "tests/support.h"

namespace {

using Words = std::vector<std::string>;

struct Run {
  tx_test::TempFolder folder;

  // What tx-bleu --metric aer prints of these files.
  std::string text(const std::string& hypotheses, const std::string& references,
                   Words options = {"--digits", "2"}) {
    options.insert(options.end(), {"--metric", "aer", "-i", folder.file("hyp", hypotheses),
                                   folder.file("ref", references)});
    tx::Writer out(folder / "out");
    tx::run_scoring(tx_test::scoring_options(options), tx::Log("tx-bleu"), out);
    out.close();
    return tx_test::bytes_of(folder / "out");
  }

  std::string score(const std::string& hypotheses, const std::string& references) {
    return text(hypotheses, references, {"--digits", "2", "--score-only"});
  }

  std::string refusal(const std::string& hypotheses, const std::string& references) {
    try {
      text(hypotheses, references);
    } catch (const tx::DataError& error) {
      std::string what = error.what();  // without the folder
      for (size_t at; (at = what.find(folder.path() + "/")) != std::string::npos;)
        what.erase(at, folder.path().size() + 1);
      return what;
    }
    return "";
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(aer)

// A = {0-0, 1-2, 3-3}, S = {0-0, 1-1}, P = S + {1-2, 2-2}: one of A is sure, two are possible, so
// AER = 1 - (1 + 2) / (3 + 2), precision = 2 / 3, recall = 1 / 2.
BOOST_FIXTURE_TEST_CASE(follows_the_formula, Run) {
  BOOST_TEST(text("0-0 1-2 3-3\n", "0-0 1-1 1?2 2?2\n") ==
             "AER|nrefs:1|null:skip|version:tx-0.1.0 = 40.00 (P = 66.67 R = 50.00 links = 3 sure = "
             "2)\n");
}

// A second sentence of 1 link, which is sure and the only one: 1 - (2 + 3) / (4 + 3).
BOOST_FIXTURE_TEST_CASE(sums_are_those_of_the_corpus, Run) {
  BOOST_TEST(score("0-0 1-2 3-3\n4-4\n", "0-0 1-1 1?2 2?2\n4-4\n") == "28.57\n");
}

BOOST_FIXTURE_TEST_CASE(json_holds_precision_and_recall, Run) {
  const tx::Json json =
      tx::parse_json(text("0-0 1-2 3-3\n", "0-0 1-1 1?2 2?2\n", {"--json"}), "json");
  BOOST_TEST(json["score"] == 40.0);
  const tx::Json& figures = json["statistics"];
  BOOST_TEST(figures["links"] == 3);
  BOOST_TEST(figures["sure"] == 2);
  BOOST_TEST(figures["matched_sure"] == 1);
  BOOST_TEST(figures["matched"] == 2);
  BOOST_TEST(figures["precision"].get<double>() == 200.0 / 3, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(figures["recall"] == 50.0);
}

BOOST_FIXTURE_TEST_CASE(ways_to_write_links, Run) {
  BOOST_TEST(score("0-0 1-1\n", "1-1\t0-0 \r\n") == "0.00\n");
  BOOST_TEST(score("0-0 0-0\n", "0-0\n") == "0.00\n");  // a link counts once
  BOOST_TEST(score("0?0 1p1\n", "0-0 1p1\n") ==
             "0.00\n");                                 // all links of a hypothesis are one kind
  BOOST_TEST(score("0-0\n", "0-0 0?0\n") == "0.00\n");  // sure and possible: sure
  BOOST_TEST(score("\n", "0-0\n") == "100.00\n");
  BOOST_TEST(score("\n", "\n") == "0.00\n");
}

// The reference of the first case, and sentence 3 with the links 0-1, sure, and 1-0, possible. The
// hypothesis has both: 1 - (1 + 1 + 2 + 2) / (3 + 2 + 2 + 1) = 1/4.
BOOST_FIXTURE_TEST_CASE(naacl_counts_from_one, Run) {
  const std::string pharaoh = "0-0 1-2 3-3\n\n0-1 1-0\n";
  const std::string naacl =
      "0001 1 1 S\n0001 2 2\n0001 2 3 P 0.5\n0001 3 3 P\n0001 0 4 S\n0003 1 2 1\n0003 2 1 P\n";
  BOOST_TEST(score(pharaoh, naacl) == "25.00\n");
  BOOST_TEST(score("1 1 1\n1 2 3\n1 4 4\n3 1 2\n3 2 1\n", naacl) == "25.00\n");
  BOOST_TEST(score(pharaoh, "0-0 1-1 1?2 2?2\n\n0-1 1?0\n") == "25.00\n");
}

// Sentences at the end that have no links need no line in NAACL's form.
BOOST_FIXTURE_TEST_CASE(naacl_may_end_early, Run) {
  BOOST_TEST(score("0-0\n1-1\n\n", "1 1 1\n") == "33.33\n");
  BOOST_TEST(score("1 1 1\n", "1 1 1\n2 1 1\n") == "33.33\n");
  BOOST_TEST(refusal("0-0\n", "1 1 1\n2 1 1\n") ==
             "ref has a sentence 2, hyp has 1 line; give files with the same sentences");
  BOOST_TEST(refusal("0-0\n1-1\n", "0-0\n").find("has no counterpart") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(damaged_files_are_refused_with_the_place, Run) {
  const std::string link = "is not a link; write 0-1 for a sure one, 0?1 or 0p1 for a possible one";
  BOOST_TEST(refusal("0-0\n0-0 1~2\n", "0-0\n0-0\n") == "hyp line 2: '1~2' " + link);
  for (const std::string field : {"-0", "0-", "0--1", "0-1-2", "4294967296-0", "a-b"})
    BOOST_TEST(refusal("0-0\n", field + "\n") == "ref line 1: '" + field + "' " + link);
  const std::string form = "not a link of the form SENTENCE SOURCE TARGET [S|P] [CONFIDENCE]";
  for (const std::string line : {"1", "1 1", "1 1 x", "1 1 1 Q", "1 1 1 S 1 1", "0 1 1", "1 1-1 1"})
    BOOST_TEST(refusal("0-0\n", line + "\n") == "ref line 1: " + form);
  BOOST_TEST(refusal("0-0\n", "2 1 1\n1 1 1\n") ==
             "ref line 2: sentence 1 comes after sentence 2; sort the file with sort -s -n -k 1,1");
  BOOST_TEST(refusal("0-0\n", "1 1 1\n4294967295 1 1\n") ==
             "ref line 2: sentence 4294967295 comes after sentence 1: a number is wrong");
}

BOOST_FIXTURE_TEST_CASE(one_reference_and_no_other_metric, Run) {
  const std::string hypothesis = folder.file("h", "0-0\n");
  const auto run = [&](Words words) {
    tx::Writer out(folder / "out");
    words.insert(words.end(), {"-i", hypothesis, hypothesis});
    tx::run_scoring(tx_test::scoring_options(words), tx::Log("tx-bleu"), out);
  };
  BOOST_CHECK_THROW(run({"--metric", "aer,bleu"}), tx::UsageError);
  BOOST_CHECK_THROW(run({"--metric", "aer", hypothesis}), tx::UsageError);
}

// Every resample of equal sentences has the score of the whole.
BOOST_FIXTURE_TEST_CASE(confidence_and_statistics, Run) {
  std::string hypotheses, references;
  for (int i = 0; i < 20; ++i) {
    hypotheses += "0-0 1-2 3-3\n";
    references += "0-0 1-1 1?2 2?2\n";
  }
  BOOST_TEST(text(hypotheses, references, {"--confidence", "--score-only"}) ==
             "40.0 (μ = 40.0 ± 0.0)\n");
  const std::string varied = text(hypotheses + "7-7\n", references + "7-7\n",
                                  {"--confidence", "--score-only", "--digits", "3"});
  BOOST_TEST(varied.find("± 0.000") == std::string::npos);
  const std::string statistics = text("0-0 1-2 3-3\n\n", "0-0 1-1 1?2 2?2\n0-0\n", {"--stats"});
  BOOST_TEST(statistics ==
             "#tx-stats 1 [{\"metric\":\"aer\",\"settings\":\"null:skip\",\"columns\":[\"links\","
             "\"sure\",\"matched_sure\",\"matched\"]}]\n1\t3 2 1 2\n1\t0 1 0 0\n");
  tx::Writer out(folder / "out");
  tx::run_scoring(
      tx_test::scoring_options({"--from-stats", "--score-only", folder.file("stats", statistics)}),
      tx::Log("tx-bleu"), out);
  out.close();
  BOOST_TEST(tx_test::bytes_of(folder / "out") == "50.0\n");  // 1 - (1 + 2) / (3 + 3)
}

BOOST_AUTO_TEST_SUITE_END()
