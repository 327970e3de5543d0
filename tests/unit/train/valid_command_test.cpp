// The scores in what a --valid-command prints.
#include "lib/train/run/valid_command.h"

#include <boost/test/unit_test.hpp>
#include <utility>

using namespace tx;

BOOST_AUTO_TEST_CASE(a_number_or_what_tx_bleu_prints_and_nothing_else) {
  const std::string line = "|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = ";
  const std::pair<std::string, double> good[] = {
      {"27.3", 27.3},
      {" \n-1e2\r\n", -100},
      {"BLEU" + line + "41.5 66.7/50.0 (BP = 1.000)\n", 41.5},
      {"chrF2" + line + "7 (μ = 7.1 ± 0.2)", 7},
      {"{\n \"name\": \"BLEU\",\n \"score\": 41.5, \"nrefs\": \"1\"}\n", 41.5}};
  for (const auto& [text, score] : good) BOOST_TEST((parse_score(text) == score), text);
  for (const std::string& text : std::initializer_list<std::string>{
           "", " \n", "20,5", "1 2", "1\n2", "nan", "inf", "1e999", "0x10", "BLEU = 27.3", "27.3 %",
           "TER" + line + "50.0", "BLEU" + line + "x", "a" + line + "1\nb" + line + "2",
           "{\"score\": \"3\"}", "{\"name\": \"TER\", \"score\": 3}", "{\"score\": 3", "[3]",
           std::string(5000, '[') + "3"})
    BOOST_TEST(!parse_score(text), text);
}
