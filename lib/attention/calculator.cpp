#include "lib/attention/calculator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

#include "lib/attention/statistics.h"
#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/json.h"

namespace tx {

namespace {

constexpr int64_t max_file = int64_t(1) << 24;  // bytes
constexpr size_t max_size = 1000;               // rows or columns of a matrix
constexpr double max_entry = 1e30;              // so that no product or variance overflows
constexpr double min_temperature = 1e-6;

std::string shape_of(const Rows& m) {
  return std::to_string(m.size()) + " x " + std::to_string(m.front().size());
}

std::string entry(const std::string& name, size_t row, size_t column) {
  return name + ", row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1);
}

class MatrixFile {
 public:
  MatrixFile(std::string json, const std::string& where) : where_(where) {
    // Python writes these words, which are not JSON. As strings they are refused with their place.
    if (json.find("NaN") != json.npos || json.find("Infinity") != json.npos)
      json = std::regex_replace(json, std::regex("-?\\b(NaN|Infinity)\\b"), "\"$&\"");
    file_ = parse_json(json, where);
    if (!file_.is_object())
      throw DataError(where + ": is not an object with the members q, k and v");
    for (const auto& [name, value] : file_.items())
      if (name != "q" && name != "k" && name != "v" && name != "mask" && name != "temperature")
        refuse(shown(name), "is not a member: use q, k, v, mask and temperature");
  }

  // `place`: the member, or a place in it.
  [[noreturn]] void refuse(const std::string& place, const std::string& problem) const {
    throw DataError(where_ + ": " + place + " " + problem);
  }
  bool has(const char* name) const { return file_.contains(name); }
  const Json& member(const char* name) const { return file_.at(name); }

  double number(const Json& value, const std::string& place) const {
    const std::string text = value.is_string()       ? shown(value.get<std::string>())
                             : value.is_structured() ? "a list or an object"
                                                     : to_text(value);
    if (!value.is_number()) refuse(place, "is " + text + ", not a number");
    const double x = value.get<double>();
    if (std::abs(x) > max_entry) refuse(place, "is larger than 1e30");
    return x;
  }

  // In a mask, true is 1.
  Rows matrix(const std::string& name) const {
    if (!file_.contains(name)) refuse(name, "is missing: it must be a matrix, such as [[1, 0]]");
    const Json& rows = file_.at(name);
    if (!rows.is_array() || rows.empty() || !rows[0].is_array() || rows[0].empty())
      refuse(name, "is not a matrix, such as [[1, 0], [0, 1]]");
    Rows out;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string row = name + ", row " + std::to_string(i + 1);
      if (!rows[i].is_array()) refuse(row, "is not a list of numbers");
      if (rows[i].size() != rows[0].size())
        refuse(row, "has " + counted(int64_t(rows[i].size()), "column") + ", row 1 has " +
                        std::to_string(rows[0].size()));
      auto& numbers = out.emplace_back();
      for (size_t j = 0; j < rows[i].size(); ++j)
        numbers.push_back(name == "mask" && rows[i][j].is_boolean()
                              ? double(rows[i][j].get<bool>())
                              : number(rows[i][j], entry(name, i, j)));
    }
    if (std::max(out.size(), out[0].size()) > max_size)
      refuse(name, "is " + shape_of(out) + ": at most 1,000 rows and columns are supported");
    return out;
  }

 private:
  std::string where_;
  Json file_;
};

void read_mask(const MatrixFile& in, AttentionInputs& out) {
  const size_t queries = out.q.size(), keys = out.k.size();
  out.visible.assign(queries, std::vector<bool>(keys, true));
  if (!in.has("mask") || in.member("mask") == "none") return;
  if (in.member("mask") == "causal") {
    out.mask = "causal";
    if (queries != keys)
      in.refuse("mask", "is causal, which needs as many queries as keys: q has " +
                            counted(int64_t(queries), "row") + ", k has " + std::to_string(keys));
    for (size_t i = 0; i < queries; ++i)
      for (size_t j = i + 1; j < keys; ++j) out.visible[i][j] = false;
    return;
  }
  out.mask = "given";
  if (!in.member("mask").is_array())
    in.refuse("mask", "is " + to_text(in.member("mask")) +
                          ": give \"none\", \"causal\" or a matrix of 1 (visible) and 0 (masked)");
  const Rows mask = in.matrix("mask");
  if (mask.size() != queries || mask[0].size() != keys)
    in.refuse("mask", "is " + shape_of(mask) + ", but the scores are " + std::to_string(queries) +
                          " x " + std::to_string(keys) + " (rows of q x rows of k)");
  for (size_t i = 0; i < queries; ++i) {
    for (size_t j = 0; j < keys; ++j) {
      if (mask[i][j] != 0 && mask[i][j] != 1)
        in.refuse(entry("mask", i, j), "is neither 1 (visible) nor 0 (masked)");
      out.visible[i][j] = mask[i][j] == 1;
    }
    if (std::ranges::count(out.visible[i], true) == 0)
      in.refuse("mask, row " + std::to_string(i + 1), "masks every key: make one visible");
  }
}

// Over the visible entries.
double variance(const Rows& m, const std::vector<std::vector<bool>>& visible) {
  double sum = 0, squares = 0, count = 0;
  const auto for_each_visible = [&](auto&& f) {
    for (size_t i = 0; i < m.size(); ++i)
      for (size_t j = 0; j < m[i].size(); ++j)
        if (visible[i][j]) f(m[i][j]);
  };
  for_each_visible([&](double x) {
    sum += x;
    ++count;
  });
  for_each_visible([&](double x) { squares += (x - sum / count) * (x - sum / count); });
  return squares / count;
}

std::vector<double> softmax(const std::vector<double>& row) {
  const double largest = std::ranges::max(row);
  std::vector<double> out;
  double sum = 0;
  for (const double x : row) sum += out.emplace_back(std::exp(x - largest));
  for (double& x : out) x /= sum;
  return out;
}

// x with `decimals` decimal places; a result of zero has no sign.
std::string fixed(double x, int decimals) {
  const std::string text = figure(x, decimals);
  return text.find_first_not_of("-0.") == text.npos ? figure(0, decimals) : text;
}

// Without the zeros at its end.
size_t needed_decimals(const std::string& text) {
  const size_t point = text.find('.');
  if (point == text.npos || text.find('e') != text.npos) return 0;
  return std::max(text.find_last_not_of('0'), point) - point;
}

std::string short_number(double x, int digits) {
  return fixed(x, int(needed_decimals(fixed(x, digits))));
}

// One line per row, columns aligned on the right.
std::string lines_of(const Rows& m, int digits) {
  size_t decimals = 0, width = 0;
  for (const auto& row : m)
    for (const double x : row) decimals = std::max(decimals, needed_decimals(fixed(x, digits)));
  for (const auto& row : m)
    for (const double x : row) width = std::max(width, fixed(x, int(decimals)).size());
  std::string out;
  for (const auto& row : m) {
    for (const double x : row) {
      const std::string text = fixed(x, int(decimals));
      out += std::string(2 + width - text.size(), ' ') + text;
    }
    out += '\n';
  }
  return out;
}

Json with_null(const Rows& m) {
  Json out = Json::array();
  for (const auto& row : m) {
    Json& numbers = out.emplace_back(Json::array());
    for (const double x : row) numbers.push_back(finite_or_null(x));
  }
  return out;
}

}  // namespace

AttentionInputs parse_matrices(std::string_view json, const std::string& where) {
  const MatrixFile in(std::string(json), where);
  AttentionInputs out;
  out.q = in.matrix("q");
  out.k = in.matrix("k");
  out.v = in.matrix("v");
  if (out.q[0].size() != out.k[0].size())
    in.refuse("k", "has " + counted(int64_t(out.k[0].size()), "column") + ", q has " +
                       std::to_string(out.q[0].size()) + ": both must have d_k columns");
  if (out.v.size() != out.k.size())
    in.refuse("v", "has " + counted(int64_t(out.v.size()), "row") + ", k has " +
                       std::to_string(out.k.size()) + ": each key needs a value");
  read_mask(in, out);
  if (!in.has("temperature")) return out;
  out.temperature = in.number(in.member("temperature"), "temperature");
  if (out.temperature < min_temperature)
    in.refuse("temperature",
              "is " + to_text(in.member("temperature")) + ": it must be at least 0.000001");
  return out;
}

AttentionSteps attend(const AttentionInputs& in) {
  AttentionSteps out;
  const double scale = std::sqrt(double(in.q[0].size())) * in.temperature;
  for (size_t i = 0; i < in.q.size(); ++i) {
    std::vector<double> scores, scaled, masked;
    for (size_t j = 0; j < in.k.size(); ++j) {
      double sum = 0;
      for (size_t l = 0; l < in.q[i].size(); ++l) sum += in.q[i][l] * in.k[j][l];
      scores.push_back(sum);
      scaled.push_back(sum / scale);
      masked.push_back(in.visible[i][j] ? sum / scale : -std::numeric_limits<double>::infinity());
    }
    std::vector<double> context(in.v[0].size());
    const std::vector<double> weights = softmax(masked);
    for (size_t j = 0; j < in.v.size(); ++j)
      for (size_t l = 0; l < context.size(); ++l) context[l] += weights[j] * in.v[j][l];
    out.scores.push_back(scores);
    out.scaled.push_back(scaled);
    out.masked.push_back(masked);
    out.weights.push_back(weights);
    out.context.push_back(context);
  }
  out.scores_variance = variance(out.scores, in.visible);
  out.scaled_variance = variance(out.scaled, in.visible);
  return out;
}

std::string steps_as_text(const AttentionInputs& in, const AttentionSteps& steps, int digits) {
  std::string out;
  const auto add = [&](const std::string& name, const Rows& m, const char* rows,
                       const char* columns, const std::string& note = "") {
    out += (out.empty() ? "" : "\n") + name + ": " + shape_of(m) + " (" + rows + " x " + columns +
           ")" + note + "\n" + lines_of(m, digits);
  };
  const auto spread = [&](double x) { return ", variance " + short_number(x, digits); };
  std::string scale = "sqrt(" + std::to_string(in.q[0].size()) + ")";
  if (in.temperature != 1) scale = "(" + scale + " * " + to_text(Json(in.temperature)) + ")";
  add("q", in.q, "queries", "d_k");
  add("k", in.k, "keys", "d_k");
  add("v", in.v, "keys", "d_v");
  add("scores = q k^T", steps.scores, "queries", "keys", spread(steps.scores_variance));
  add("scaled = scores / " + scale, steps.scaled, "queries", "keys", spread(steps.scaled_variance));
  add("masked = scaled, mask " + in.mask, steps.masked, "queries", "keys");
  add("weights = softmax(masked)", steps.weights, "queries", "keys", ", each row sums to 1");
  add("context = weights v", steps.context, "queries", "d_v", ", the output");
  return out;
}

Json steps_as_json(const AttentionInputs& in, const AttentionSteps& steps) {
  return {{"d_k", in.q[0].size()},
          {"temperature", in.temperature},
          {"mask", in.mask},
          {"q", in.q},
          {"k", in.k},
          {"v", in.v},
          {"scores", steps.scores},
          {"scaled", steps.scaled},
          {"masked", with_null(steps.masked)},
          {"weights", steps.weights},
          {"context", steps.context},
          {"scores_variance", steps.scores_variance},
          {"scaled_variance", steps.scaled_variance}};
}

void write_steps(const DumpOptions& options) {
  const AttentionInputs inputs = parse_matrices(
      read_file(options.qkv, max_file), options.qkv == "-" ? "standard input" : options.qkv);
  const AttentionSteps steps = attend(inputs);
  Json json = rounded(steps_as_json(inputs, steps), options.digits);
  json["temperature"] = inputs.temperature;  // as given
  Writer out(options.out);
  out.write(options.format == "json" ? to_text(json) + "\n"
                                     : steps_as_text(inputs, steps, options.digits));
  out.close();
}

}  // namespace tx
