// Options that do not apply are refused if they are given, whatever their value: this breaks every
// condition that an option of any tool declares in every way.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <tuple>
#include <vector>

#include "lib/attention/alignment.h"
#include "lib/attention/options.h"
#include "lib/base/error.h"
#include "lib/checkpoint/average.h"
#include "lib/checkpoint/model_file.h"
#include "lib/convert/convert.h"
#include "lib/eval/report/scoring.h"
#include "lib/report/report.h"
#include "lib/search/lines/decode_options.h"
#include "lib/search/lines/minimum_risk.h"
#include "lib/train/options/options.h"
#include "tests/support.h"
#include "tools/bpe/commands.h"

using namespace tx;
using tx_test::message_of;

namespace {

using Visit = std::function<void(Options&)>;
using Tool = std::function<void(const Visit&)>;

// Visits the options that these structs describe, with new structs for each visit.
template <class... Parts>
void with(const Visit& visit) {
  std::tuple<Parts...> parts;
  Options options("tx-x", "");
  std::apply([&](auto&... part) { (part.describe(options), ...); }, parts);
  visit(options);
}

const std::vector<Tool> tools{with<TrainOptions, ReportOptions>,
                              with<DecodeOptions, OutputAlignments, MinimumRisk>,
                              with<DumpOptions>,
                              with<AverageOptions>,
                              with<ConvertOptions>,
                              with<ScoringOptions>,
                              with<TrainCommand>,
                              with<EncodeCommand>,
                              with<DecodeCommand>,
                              with<VocabCommand>,
                              with<ShortlistCommand>};

using Words = std::vector<std::string>;

std::string name_of(const Option& option) {
  return option.positional ? option.names : "--" + option.long_name();
}

std::string whole(double x) { return std::to_string(int64_t(x)); }

// Every form in which the option can be typed: values at the ends of its range, those of its
// choices, its default, on and off.
std::vector<Words> forms(const Option& option) {
  const std::string name = name_of(option);
  if (option.positional) return {{"no-such-file"}};
  if (option.is_flag())
    return option.in_config ? std::vector<Words>{{name}, {"--no-" + name.substr(2)}}
                            : std::vector<Words>{{name}};
  std::vector<Words> out;
  for (const std::string& choice : option.choices) out.push_back({name, choice});
  const bool number = !std::holds_alternative<std::string*>(option.field) && !option.repeatable();
  if (number && option.start.is_number() && option.start >= option.low.value_or(-1e300) &&
      option.start <= option.high.value_or(1e300))
    out.push_back({name, to_text(option.start)});
  if (number && option.low && *option.low >= 1) out.push_back({name, whole(*option.low)});
  if (number && option.low && *option.low == 0) out.push_back({name, "0"});
  if (number && option.high) out.push_back({name, whole(*option.high)});
  if (number && !option.low) out.push_back({name, "1"});
  if (!number && option.choices.empty()) out.push_back({name, "no-such-file"});
  return out;
}

const Option* find(const Options& options, const std::string& name) {
  for (const auto& option : options.all())
    if (name_of(*option) == name) return option.get();
  return nullptr;
}

// How the condition can be met: by its value, or by every form of the option.
std::vector<Words> meeting(const Options& options, const Condition& c) {
  return c.value.empty() ? forms(*find(options, c.name)) : std::vector<Words>{{c.name, c.value}};
}

bool is_off(const Words& words) { return words.front().starts_with("--no-"); }

Words joined(const std::vector<Words>& parts) {
  Words out;
  for (const Words& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

std::string message(const Tool& tool, Words words) {
  std::string said;
  tool([&](Options& options) {
    for (const auto& option : options.all()) {
      if (!option->required || std::ranges::count(words, name_of(*option))) continue;
      if (!option->positional) words.push_back(name_of(*option));
      words.push_back("no-such-file");
    }
    std::vector<const char*> argv{"tx-x"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    said = message_of<UsageError>([&] { options.parse(int(argv.size()), argv.data()); });
  });
  return said;
}

bool is_refusal(const std::string& text) {
  return text.find(" cannot be used with ") != text.npos || text.find(" needs ") != text.npos;
}

std::string line(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += " " + word;
  return out;
}

template <class F>
void for_each_condition(const Options& options, bool needed, const F& f) {
  for (const auto& option : options.all()) {
    const Group& group = options.group_of(*option);
    for (const Conditions& c : needed ? group.needed : group.excluded) f(*option, c);
    for (const Conditions& c : needed ? option->needed : option->excluded) f(*option, c);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(options_that_exclude_each_other) {
  int pairs = 0;
  for (const auto& tool : tools)
    tool([&](Options& options) {
      for_each_condition(options, false, [&](const Option& option, const Conditions& c) {
        for (const Condition& one : c.list)
          for (const Words& own : forms(option))
            for (const Words& other : meeting(options, one)) {
              if (is_off(own) && is_off(other)) continue;
              const Words words = joined({own, other});
              const std::string text = message(tool, words);
              BOOST_TEST(is_refusal(text), line(words) << ": " << text);
              ++pairs;
            }
      });
    });
  BOOST_TEST(pairs > 500);
}

BOOST_AUTO_TEST_CASE(options_without_what_they_need) {
  int tried = 0;
  for (const auto& tool : tools)
    tool([&](Options& options) {
      for_each_condition(options, true, [&](const Option& option, const Conditions& c) {
        if (std::ranges::count(c.list, name_of(option), &Condition::name))
          return;  // an alternative
        if (c.list.front().fact) return;
        Words unmet;  // what holds by default is given another value
        for (const Condition& one : c.list) {
          const Option& other = *find(options, one.name);
          if (one.value.empty() || other.start != Json(one.value)) continue;
          for (const std::string& choice : other.choices)
            if (!std::ranges::count(c.list, Condition(one.name.c_str(), choice)))
              unmet = {one.name, choice};
        }
        for (const Words& own : forms(option)) {
          const Option* needed = find(options, c.list.front().name);
          if (needed && needed->start.is_number() && needed->start != Json(0))
            unmet = {name_of(*needed), "0"};
          const Words words = joined({own, unmet});
          const std::string text = message(tool, words);
          BOOST_TEST(is_refusal(text), line(words) << ": " << text);
          ++tried;
        }
      });
    });
  BOOST_TEST(tried > 100);
}

BOOST_AUTO_TEST_CASE(options_that_a_mode_does_not_have) {
  int tried = 0;
  for (const auto& tool : tools)
    tool([&](Options& options) {
      for (const auto& mode : options.all()) {
        if (!mode->mode) continue;
        for (const auto& option : options.all()) {
          if (option == mode || option->required) continue;
          const auto names_it = [&](const Words& modes) {
            return std::ranges::count(modes, name_of(*mode)) > 0;
          };
          const bool goes = names_it(option->modes) || names_it(options.group_of(*option).modes);
          for (const Words& own : forms(*option)) {
            const Words words = joined({forms(*mode).front(), own});
            const std::string text = message(tool, words);
            const bool refused = text.find(" cannot be used with ") != text.npos &&
                                 text.find(name_of(*mode)) != text.npos;
            BOOST_TEST(refused == !goes, line(words) << ": " << text);
            ++tried;
          }
        }
      }
    });
  BOOST_TEST(tried > 200);
}

BOOST_AUTO_TEST_CASE(options_that_a_kind_of_model_does_not_have) {
  int tried = 0;
  for (const auto& tool : tools)
    tool([&](Options& options) {
      for_each_condition(options, true, [&](const Option& declared, const Conditions& one) {
        if (!one.list.front().fact) return;
        Option& option = options.at(declared.long_name());
        for (const ModelKind kind :
             {ModelKind::encoder_decoder, ModelKind::decoder, ModelKind::encoder}) {
          const Condition fact = of_kinds({kind}).front();
          const auto has = [&](const std::vector<Conditions>& needed) {
            return std::ranges::all_of(needed, [&](const Conditions& other) {
              return !other.list.front().fact || std::ranges::count(other.list, fact) > 0;
            });
          };
          const bool goes = has(option.needed) && has(options.group_of(option).needed);
          option.given = true;
          const std::string text = message_of<UsageError>([&] { check_kind(options, kind, "M"); });
          option.given = false;
          const bool refused = text.find(" needs a model of kind ") != text.npos;
          BOOST_TEST(refused == !goes, declared.names << " with " << fact.value << ": " << text);
          ++tried;
        }
      });
    });
  BOOST_TEST(tried > 60);
}
