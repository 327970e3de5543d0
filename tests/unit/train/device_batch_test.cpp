// A batch in the backend's memory, which the tests can read on a CPU.
#include "lib/train/step/device_batch.h"

#include "tests/unit/train/tiny_training.h"

using namespace tx;
using namespace tx_test;

namespace {

template <class T>
bool same(const T* found, const std::vector<T>& wanted) {
  return std::equal(wanted.begin(), wanted.end(), found);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(device_batch, TinyText)

BOOST_AUTO_TEST_CASE(all_arrays_arrive) {
  TinyModel m({}, int(words->size()), capacities);
  DeviceBatch device(m.backend, m.parameters, 128, true);
  Batch linked = batches[1];
  linked.serial = 0;
  linked.links.starts.assign(linked.labels.size() + 1, 1);
  linked.links.starts.front() = 0;
  linked.links.columns = {3};
  for (const Batch& batch : {batches[0], batches[1], linked, batches[0]}) {
    device.upload(batch);
    BOOST_TEST(same(device.labels(), batch.labels));
    BOOST_REQUIRE(device.sides().size() == batch.sides.size());
    for (size_t i = 0; i < batch.sides.size(); ++i) {
      const PackedSide& found = device.sides()[i];
      const BatchSide& side = batch.sides[i];
      BOOST_TEST(found.rows == int64_t(side.ids.size()));
      BOOST_TEST(found.sentences == int64_t(side.offsets.size()) - 1);
      BOOST_TEST(same(found.ids, side.ids));
      BOOST_TEST(same(found.offsets, side.offsets));
      BOOST_TEST(same(found.keys.pair, side.pair));
      BOOST_TEST(same(found.keys.position, side.position));
    }
    BOOST_TEST((device.link_starts() != nullptr) == !batch.links.starts.empty());
    if (batch.links.starts.empty()) continue;
    BOOST_TEST(same(device.link_starts(), batch.links.starts));
    BOOST_TEST(same(device.link_columns(), batch.links.columns));
  }
}

BOOST_AUTO_TEST_CASE(links_that_nothing_learns_from_are_left_out) {
  TinyModel m({}, int(words->size()), capacities);
  DeviceBatch device(m.backend, m.parameters, 128, false);
  batches[0].links.starts.assign(batches[0].labels.size() + 1, 0);
  device.upload(batches[0]);
  BOOST_TEST(!device.link_starts());
}

BOOST_AUTO_TEST_CASE(positions_end_below_the_longest) {
  TinyModel m({}, int(words->size()), capacities);
  DeviceBatch device(m.backend, m.parameters, 3, false);
  device.upload(batches[0]);
  const PackedSide& side = device.sides().front();
  uint32_t largest = 0;
  for (int64_t i = 0; i < side.rows; ++i) largest = std::max(largest, side.keys.position[i]);
  BOOST_TEST(largest == 2u);
}

BOOST_AUTO_TEST_CASE(copies_have_the_rows_twice_and_lose_random_tokens) {
  TinyModel m({}, int(words->size()), capacities);
  DeviceBatch device(m.backend, m.parameters, 128, false);
  device.upload(batches[0]);
  const auto cut_of = [&](const Copies& copies) {
    device.upload(batches[0], copies);
    std::vector<std::vector<int32_t>> cut;
    for (const PackedSide& side : device.sides())
      cut.emplace_back(side.cut, side.cut ? side.cut + side.rows : nullptr);
    return cut;
  };
  const auto cut = cut_of({true, 0.25, 7});
  BOOST_TEST(same(device.labels(), batches[0].labels));
  for (size_t i = 0; i < batches[0].sides.size(); ++i) {
    const PackedSide& found = device.sides()[i];
    const BatchSide& side = batches[0].sides[i];
    const auto rows = int64_t(side.ids.size());
    const auto sentences = int64_t(side.offsets.size()) - 1;
    BOOST_REQUIRE(found.rows == 2 * rows);
    BOOST_REQUIRE(found.sentences == 2 * sentences);
    BOOST_TEST((same(found.ids, side.ids) && same(found.ids + rows, side.ids)));
    BOOST_TEST((same(found.keys.pair, side.pair)));
    BOOST_TEST((same(found.keys.position + rows, side.position)));
    for (int64_t s = 0; s <= sentences; ++s)
      BOOST_TEST(found.offsets[sentences + s] == rows + side.offsets[size_t(s)]);
    int64_t cuts = 0;
    for (int64_t row = 0; row < rows; ++row) {
      BOOST_TEST(found.keys.pair[rows + row] != side.pair[size_t(row)]);
      BOOST_TEST(!cut[i][size_t(row)]);
      cuts += cut[i][size_t(rows + row)];
    }
    BOOST_TEST(std::abs(double(cuts) / double(rows) - 0.25) < 0.1);
  }
  BOOST_TEST((cut[0] != cut[1]));
  device.upload(batches[1]);
  BOOST_TEST((cut_of({true, 0.25, 7}) == cut));
  device.upload(batches[1]);
  BOOST_TEST((cut_of({true, 0.25, 8}) != cut));
  batches[0].epoch += 1;
  device.upload(batches[1]);
  BOOST_TEST((cut_of({true, 0.25, 7}) != cut));
  device.upload(batches[1]);
  BOOST_TEST(cut_of({true, 0, 7})[0].empty());
  // Validation reads the same batch once.
  device.upload(batches[0]);
  BOOST_TEST(device.sides()[0].rows == int64_t(batches[0].sides[0].ids.size()));
}

BOOST_AUTO_TEST_CASE(a_serial_number_is_uploaded_once) {
  TinyModel m({}, int(words->size()), capacities);
  DeviceBatch device(m.backend, m.parameters, 128, false);
  BOOST_TEST((batches[0].serial > 0 && batches[1].serial > batches[0].serial));
  device.upload(batches[0]);
  const std::vector<int32_t> labels = batches[0].labels;
  batches[0].labels.assign(labels.size(), no_label);
  device.upload(batches[0]);
  BOOST_TEST(same(device.labels(), labels));
  batches[0].serial = 0;
  for (int32_t& label : batches[0].labels) {
    label = 7;
    device.upload(batches[0]);
    BOOST_REQUIRE(same(device.labels(), batches[0].labels));
  }
}

BOOST_AUTO_TEST_CASE(arrays_stay_in_their_places) {
  TinyModel m({}, int(words->size()), capacities);
  DeviceBatch device(m.backend, m.parameters, 128, false);
  device.upload(batches[0]);
  const std::vector<const void*> places = device.places();
  const int32_t* offsets = device.sides().back().offsets;
  device.upload(batches[1]);
  BOOST_TEST((device.places() == places));
  device.upload(batches[0]);
  BOOST_TEST((device.places() == places));
  BOOST_TEST(device.sides().back().offsets == offsets);
}

BOOST_AUTO_TEST_SUITE_END()
