#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/convert/families/names.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

// What a table can write for a name: "blocks.#.fc1.*" for blocks.0.fc1.weight.
std::string pattern_like(std::string name) {
  const size_t digit = name.find_first_of("0123456789", std::min(name.find('.'), name.size()));
  if (digit != name.npos && name[digit - 1] == '.')
    name.replace(digit, std::min(name.find('.', digit), name.size()) - digit, "#");
  for (const std::string kind : {"weight", "bias"})
    if (name.ends_with(kind)) name.replace(name.size() - kind.size(), kind.size(), "*");
  return name;
}

// The number of characters that two names have in common at both ends.
int64_t likeness(std::string_view a, std::string_view b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin() +
         (std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
}

// Drops dimensions of 1 while there are more than two.
ForeignTensor as_matrix(ForeignTensor t) {
  for (ptrdiff_t i = std::ssize(t.shape); i-- > 0 && t.shape.size() > 2;)
    if (t.shape[size_t(i)] == 1) {
      t.shape.erase(t.shape.begin() + i);
      t.strides.erase(t.strides.begin() + i);
    }
  return t;
}

}  // namespace

NamedTensors::NamedTensors(const std::string& path, const Json& names, std::string table)
    : all_(std::make_shared<ForeignTensors>(path)),
      parts_(std::make_shared<ForeignTensors>(path)),
      names_(names),
      table_(std::move(table)) {
  add_weights_file(*all_, path);
  all_->keep(parts_);
  constexpr int max_endings = 32;
  for (const auto& [name, tensor] : all_->all()) {
    size_t at = name.find('.');
    for (int i = 0; i < max_endings && at != name.npos; ++i, at = name.find('.', at + 1))
      endings_.emplace(std::string_view(name).substr(at + 1), &name);
  }
}

// The patterns of a parameter with its layer's number for # and "weight" or "bias" for *.
std::vector<std::string> NamedTensors::patterns(const std::string& ours) const {
  std::string key = ours, number;
  if (const size_t at = key.find(".layers."); at != key.npos) {
    number = key.substr(at + 8, key.find('.', at + 8) - at - 8);
    key.replace(at + 8, number.size(), "#");
  }
  const size_t last = key.rfind('.') + 1;
  std::string general = key.substr(0, last) + "*";
  if (!names_.contains(key)) key = general;
  if (!names_.contains(key) || names_[key].is_null()) return {};
  const Json list =
      names_[key].is_array() ? Json{{key, names_[key]}} : Json{{key, Json::array({names_[key]})}};
  auto out = json_value<std::vector<std::string>>(list, key.c_str(), table_ + ": \"names\"");
  for (std::string& name : out) {
    replace_all(name, "#", number);
    replace_all(name, "*", ours.substr(ours.rfind('.') + 1));
  }
  return out;
}

std::vector<std::string> NamedTensors::ending(const std::string& pattern) const {
  std::vector<std::string> names;
  if (all_->find(pattern) != nullptr) names.push_back(pattern);
  const auto [first, last] = endings_.equal_range(pattern);
  for (auto at = first; at != last; ++at) names.push_back(*at->second);
  return names;
}

std::optional<NamedTensors::Found> NamedTensors::find(const std::string& ours) const {
  for (const std::string& pattern : patterns(ours)) {
    const std::string name = pattern.substr(0, pattern.find(' '));
    const std::vector<std::string> names = ending(name);
    if (names.empty()) continue;
    const auto refuse = [&](const std::string& why) {
      throw DataError(table_ + ": " + shown(pattern) + ", for " + ours + ", " + why);
    };
    if (names.size() > 1 && names[0] != name)
      refuse("is both " + shown(names[0]) + " and " + shown(names[1]) + ": write more of the name");
    Found found{names[0], all_->at(names[0])};
    ForeignTensor& t = found.tensor;
    if (name == pattern) return found;
    const std::string part = pattern.substr(name.size() + 1);
    if (part.size() != 3 || part[1] != '/' || part[0] < '1' || part[0] > part[2] || part[2] > '9')
      refuse("must end in a part such as 1/3, the first third of the rows");
    const int64_t parts = part[2] - '0';
    if (t.shape.empty() || t.shape[0] == 0 || t.shape[0] % parts != 0)
      refuse("cannot be divided: its shape is " + shape_text(t.shape));
    t.shape[0] /= parts;
    const int64_t skipped = (part[0] - '1') * t.shape[0] * t.strides[0] * element_size(t.dtype);
    t.bytes.remove_prefix(std::min(size_t(skipped), t.bytes.size()));
    return found;
  }
  return std::nullopt;
}

NamedTensors::Found NamedTensors::at(const std::string& ours) const {
  if (std::optional<Found> found = find(ours)) return *found;
  const std::vector<std::string> wanted = patterns(ours);
  const std::string like = wanted.empty() ? ours : wanted[0].substr(0, wanted[0].find(' '));
  std::set<std::string> known;  // names in the first two layers that other patterns fit
  for (const auto& [key, value] : names_.items())
    for (const auto& [number, kind] : {std::pair{"0", "weight"}, {"0", "bias"}, {"1", "weight"}}) {
      std::string name = key;
      replace_all(name, "#", number);
      replace_all(name, "*", kind);
      if (const std::optional<Found> found = find(name)) known.insert(found->name);
    }
  const std::string* best = nullptr;
  for (const auto& [name, tensor] : all_->all())
    if (!known.contains(name) && (!best || likeness(name, like) > likeness(*best, like)))
      best = &name;
  throw DataError(all_->where() + " has no tensor for " + ours + ", which " + table_ +
                  (wanted.empty() ? " does not name" : " calls " + shown(like)) +
                  (ours == "output.weight" ? " (set \"tie\" if it is an embedding)" : "") +
                  (!best ? std::string()
                         : "; of the tensors that it does not name, the most similar is " +
                               shown(*best) + ": if that is the one, add \"" + pattern_like(ours) +
                               "\": " + shown(pattern_like(*best)) + " to \"names\""));
}

int64_t NamedTensors::size(const std::string& ours, size_t dimension) const {
  const Found found = at(ours);
  const std::vector<int64_t> shape = as_matrix(found.tensor).shape;
  if (shape.size() != 2)
    throw DataError(all_->where() + ": " + found.name + " has shape " + shape_text(shape) +
                    ", but " + ours + " is a matrix");
  return shape[dimension];
}

bool NamedTensors::same(const std::string& ours, const std::string& other) const {
  const std::optional<Found> a = find(ours), b = find(other);
  return a && b && a->tensor.bytes.data() == b->tensor.bytes.data() &&
         a->tensor.shape == b->tensor.shape && a->tensor.strides == b->tensor.strides;
}

WeightRows NamedTensors::take(const std::string& ours, const std::vector<int64_t>& shape) {
  const Found found = at(ours);
  taken_.insert(found.name);
  const std::string name = found.name + ", for " + ours + ",";
  parts_->add(name, found.tensor);
  return parts_->rows(name, shape);
}

WeightRows NamedTensors::take_table(const std::string& theirs) {
  taken_.insert(theirs);
  const ForeignTensor table = as_matrix(all_->at(theirs));
  parts_->add(theirs, table);
  return parts_->rows(theirs, table.shape);
}

void NamedTensors::check_all_taken() const {
  for (const auto& [name, tensor] : all_->all())
    if (!taken_.contains(name))
      throw DataError(all_->where() + " has the tensor " + shown(name) + ", which " + table_ +
                      " does not name: add a pattern such as " + shown(pattern_like(name)) +
                      " to \"names\", or " + shown(name) +
                      " to \"ignore\" if outputs do not depend on it");
}

}  // namespace tx
