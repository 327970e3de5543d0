#include "lib/attention/selection.h"

#include <boost/test/unit_test.hpp>

#include "lib/base/error.h"
#include "tests/support.h"

using namespace tx;
using namespace tx_test;

namespace {

using Numbers = std::vector<int>;

// 3 layers of encoder, 2 of decoder, 4 heads.
ModelConfig uneven() {
  ModelConfig c;
  c.set_vocabularies(10);
  c.sides.front().layers = 3;
  c.sides.back().layers = 2;
  c.d_model = 16;
  c.d_ff = 16;
  c.heads = 4;
  c.resolve();
  return c;
}

std::string refusal(const SelectionOptions& options) {
  return message_of<UsageError>([&] { options.resolve(uneven()); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lists_of_numbers) {
  const auto parsed = [](const std::string& text) {
    return parse_numbers(text, 8, "--heads", "heads");
  };
  BOOST_TEST(parsed("0") == Numbers({0}));
  BOOST_TEST(parsed("0,2-3") == Numbers({0, 2, 3}));
  BOOST_TEST(parsed("7,1-2,2-4,1") == Numbers({1, 2, 3, 4, 7}));
  BOOST_TEST(parsed("5-5") == Numbers({5}));
  for (const char* wrong : {"", ",", "1,", "a", "-1", "1-", "3-2", "1 2", "0x1", "1-2-3", "1e0"}) {
    BOOST_CHECK_THROW(parsed(wrong), UsageError);
  }
  for (const char* beyond : {"8", "0-8", "99999999999"}) {
    BOOST_CHECK_THROW(parsed(beyond), UsageError);
  }
  BOOST_TEST(message_of<UsageError>([&] { parsed("3,8"); }) ==
             "--heads 3,8: the model has 8 heads, 0 to 7");
}

BOOST_AUTO_TEST_CASE(all_is_usual) {
  const Selection all = SelectionOptions().resolve(uneven());
  BOOST_REQUIRE(all.kinds.size() == 3u);
  BOOST_TEST(all.kinds[0].layers == Numbers({0, 1, 2}));
  BOOST_TEST(all.kinds[1].layers == Numbers({0, 1}));
  BOOST_TEST(all.kinds[2].layers == Numbers({0, 1}));
  BOOST_TEST(all.heads == Numbers({0, 1, 2, 3}));
  BOOST_TEST(!all.mean_of_heads);
  BOOST_TEST(!all.mean_of_layers);
}

BOOST_AUTO_TEST_CASE(kinds_come_in_their_order_and_once) {
  SelectionOptions o;
  o.kinds = "cross,encoder,cross";
  const Selection s = o.resolve(uneven());
  BOOST_REQUIRE(s.kinds.size() == 2u);
  BOOST_TEST(name_of(s.kinds[0].kind) == "encoder");
  BOOST_TEST(name_of(s.kinds[1].kind) == "cross");
  BOOST_TEST(s.find("cross") == &s.kinds[1]);
  BOOST_TEST(s.find("decoder") == nullptr);
  o.kinds = "cross,croos";
  BOOST_TEST(refusal(o) == "--kinds: 'croos' is not one of encoder, decoder, cross");
  o.kinds = "cross,";
  BOOST_TEST(contains(refusal(o), "''"));
}

BOOST_AUTO_TEST_CASE(a_layer_must_exist_in_every_kind) {
  SelectionOptions o;
  o.layers = "2";
  BOOST_TEST(refusal(o) == "--layers 2: the model has 2 decoder layers, 0 to 1");
  o.kinds = "encoder";
  BOOST_TEST(o.resolve(uneven()).kinds[0].layers == Numbers({2}));
}

BOOST_AUTO_TEST_CASE(quantities_come_in_their_order_and_once) {
  SelectionOptions o;
  BOOST_TEST((o.resolve(uneven()).what == std::vector{Quantity::weights}));
  BOOST_TEST(!o.resolve(uneven()).log_p);
  o.what = "output,q,log_p,q";
  const Selection s = o.resolve(uneven());
  BOOST_TEST((s.what == std::vector{Quantity::q, Quantity::output}));
  BOOST_TEST(s.log_p);
  o.what = "weight";
  BOOST_TEST(refusal(o) ==
             "--what: 'weight' is not one of weights, scores, scaled, masked, q, k, v, context, "
             "output, log_p");
  o.what = "weights,scores";
  o.average = "heads";
  BOOST_TEST(refusal(o) ==
             "--average applies to weights only: remove scores from --what, or remove --average");
}

BOOST_AUTO_TEST_CASE(a_model_of_one_stack_has_one_kind) {
  ModelConfig one = uneven();
  one.set_kind(ModelKind::decoder);
  SelectionOptions o;
  for (const Selection& s : {o.resolve(one), o.resolve_drawn(one)}) {
    BOOST_REQUIRE(s.kinds.size() == 1u);
    BOOST_TEST((s.kinds[0].kind == AttentionKind::decoder));
  }
  BOOST_TEST(o.resolve(one).kinds[0].layers.size() == 3u);
  o.kinds = "cross";
  BOOST_TEST(message_of<UsageError>([&] { o.resolve(one); }) ==
             "--kinds cross: the model has no cross attention");
}

BOOST_AUTO_TEST_CASE(means) {
  SelectionOptions o;
  o.average = "heads";
  BOOST_TEST(o.resolve(uneven()).mean_of_heads);
  BOOST_TEST(!o.resolve(uneven()).mean_of_layers);
  o.average = "all";
  BOOST_TEST(o.resolve(uneven()).mean_of_heads);
  BOOST_TEST(o.resolve(uneven()).mean_of_layers);
}

BOOST_AUTO_TEST_CASE(maps_for_a_drawing) {
  SelectionOptions o;
  const Selection usual = o.resolve_drawn(uneven());
  BOOST_REQUIRE(usual.kinds.size() == 1u);
  BOOST_TEST(name_of(usual.kinds[0].kind) == "cross");
  BOOST_TEST(usual.kinds[0].layers == Numbers({1}));
  BOOST_TEST(usual.heads == Numbers({0, 1, 2, 3}));
  BOOST_TEST(usual.mean_of_heads);

  o.kinds = "encoder,decoder";
  const Selection last = o.resolve_drawn(uneven());
  BOOST_REQUIRE(last.kinds.size() == 2u);
  BOOST_TEST(last.kinds[0].layers.size() == 1u);
  o.layers = "0-1";
  o.heads = "2,3";
  const Selection asked_for = o.resolve_drawn(uneven());
  BOOST_REQUIRE(asked_for.kinds.size() == 2u);
  BOOST_TEST(asked_for.kinds[0].layers == Numbers({0, 1}));
  BOOST_TEST(asked_for.heads == Numbers({2, 3}));
  BOOST_TEST(!asked_for.mean_of_heads);

  o.average = "all";
  const Selection mean = o.resolve_drawn(uneven());
  BOOST_TEST(mean.kinds[0].layers == Numbers({0, 1}));
  BOOST_TEST(mean.heads == Numbers({2, 3}));
}
