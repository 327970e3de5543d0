#include <functional>

#include "lib/base/figure.h"
#include "lib/model/parameters.h"

namespace tx {

namespace {

class Diagram {
 public:
  explicit Diagram(const ModelConfig& c) : c_(c), table_(parameter_table(c)) {}

  std::string draw() {
    legend();
    for (size_t side = 0; side < c_.sides.size(); ++side) stack(side);
    output();
    return std::move(text_);
  }

 private:
  // A line that ends in column 84, that of the other numbers of --describe.
  void row(std::string line, const std::string& right) {
    const size_t used = line.size() + right.size();
    if (!right.empty()) line += std::string(used < 84 ? 84 - used : 1, ' ') + right;
    text_ += line + "\n";
  }
  void step(const std::string& what, const std::string& parameters) {
    row(bar_ + what, parameters);
  }
  void step(const std::string& what, int64_t parameters = 0) {
    step(what, parameters ? grouped(double(parameters)) : "");
  }
  void arrow(const std::string& shape) { text_ += bar_ + "| " + shape + "\n"; }

  // The number of parameters whose names begin so.
  int64_t count(const std::string& prefix) const {
    int64_t sum = 0;
    for (const ParameterEntry& e : table_)
      if (e.name.starts_with(prefix)) sum += e.rows * e.cols;
    return sum;
  }

  std::string letter(size_t side) const { return c_.is_decoder(side) ? "T" : "S"; }
  std::string rows(size_t side) const { return "B x " + letter(side) + " x d"; }
  std::string prefix(size_t side) const { return c_.stack_name(side) + std::string("."); }
  std::string layer(size_t side) const { return prefix(side) + "layers.0."; }
  bool grouped_heads() const { return c_.key_heads() != c_.heads; }
  // "x W_Q + b_Q"
  static std::string product(const std::string& x, const std::string& name, bool bias) {
    return x + " W_" + name + (bias ? " + b_" + name : "");
  }

  void legend() {
    const auto value = [](const char* name, int64_t n) {
      return std::string(name) + " = " + grouped(double(n));
    };
    row("data flow", "parameters");
    text_ += "  B sentences of ";
    text_ += c_.sides.size() > 1 ? "S source and T target" : letter(0);
    text_ += " tokens\n  " + value("d", c_.d_model) + ", " + value("d_ff", c_.d_ff) + ", " +
             value("h", c_.heads) + ", " + value("d_k", c_.d_k) + ", " + value("d_v", c_.d_v) +
             ", " + value("V", c_.target().vocabulary);
    if (c_.sides.front().vocabulary != c_.target().vocabulary)
      text_ += value(" (source", c_.sides.front().vocabulary) + ")";
    if (grouped_heads())
      text_ += "\n  " + value("g", c_.key_heads()) + ": heads of keys and values, each shared by " +
               counted(c_.heads / c_.key_heads(), "query head");
    text_ += "\n";
  }

  void embedding(size_t side) {
    const bool last = side + 1 == c_.sides.size(), one = c_.shares_embeddings();
    text_ += std::string("\n  ") + c_.stack_name(side) + "\n";
    step(c_.sides.size() == 1 ? "tokens" : last ? "target tokens, shifted right" : "source tokens");
    arrow("B x " + letter(side));
    const std::string what =
        std::string("embedding: E[token]") + (c_.scaled_embeddings ? " sqrt(d)" : "");
    if (one && side > 0)
      step(what, "shared");
    else
      step(what, count((one ? "" : prefix(side)) + "embedding."));
    arrow(rows(side));
    if (c_.sinusoids() || c_.learned_positions()) positions(side);
    if (!c_.embedding_norm) return;
    norm(prefix(side) + "embedding_norm");
    arrow(rows(side));
  }

  void positions(size_t side) {
    if (c_.learned_positions())
      step("positions: x + P[position], " + grouped(c_.max_positions) + " rows",
           count(prefix(side) + "positions."));
    else
      step("positions: x + PE(position)");
    arrow(rows(side));
  }

  void norm(const std::string& name) {
    step(c_.norm_type == NormType::rms ? "RMSNorm" : "LayerNorm", count(name + "."));
  }

  // x + f(x) with its norm, f as drawn by `body`.
  void sub_layer(size_t side, const std::string& title, const std::string& norm_name,
                 const std::function<void()>& body) {
    text_ += "  +--+  " + title + "\n";
    bar_ = "  |  ";
    if (c_.pre_norm()) {
      norm(norm_name);
      arrow(rows(side));
    }
    body();
    arrow(rows(side));
    bar_ = outside;
    text_ += "  +->+  residual sum\n";
    arrow(rows(side));
    if (c_.pre_norm()) return;
    norm(norm_name);
    arrow(rows(side));
  }

  std::string scores(bool self, bool causal) const {
    std::string text = "scores = q k^T";
    if (c_.scaled_attention) text += " / sqrt(d_k)";
    if (!self) return text;
    if (c_.positions == PositionEncoding::alibi) text += " - slope |t - s|";
    if (c_.relative()) text += " + bias of s - t";
    if (causal && c_.causal_mask) text += ", causal mask";
    if (c_.window) text += ", window |t - s| < " + grouped(c_.window);
    return text;
  }

  // Queries from this side; keys and values from x, too, or from `e`, the previous side's output.
  void attention(size_t side, const std::string& part, bool self) {
    const std::string name = layer(side) + part + ".", from = self ? "x" : "e";
    const std::string queries = letter(side), keys = letter(self ? side : side - 1);
    const std::string g = grouped_heads() ? "g" : "h";
    const bool bias = c_.attention_bias, out_bias = bias && c_.attention_output_bias;
    step("q = " + product("x", "Q", bias) + ", k = " + product(from, "K", bias) +
             ", v = " + product(from, "V", bias),
         count(name + "q_proj.") + count(name + "k_proj.") + count(name + "v_proj."));
    const std::string shapes = "q: B x h x " + queries + " x d_k, k: B x " + g + " x " + keys +
                               " x d_k, v: B x " + g + " x " + keys + " x d_v";
    arrow(shapes);
    if (self && c_.head_norm) {
      step("RMSNorm of every head of q and k", count(name + "q_norm.") + count(name + "k_norm."));
      arrow(shapes);
    }
    if (self && c_.rotary()) {
      step("rotate q and k by position");
      arrow(shapes);
    }
    step(scores(self, c_.is_decoder(side)));
    arrow("B x h x " + queries + " x " + keys);
    step("heads = softmax(scores) v");
    arrow("B x h x " + queries + " x d_v");
    step(product("Concat(heads)", "O", out_bias), count(name + "out_proj."));
  }

  void recurrence(size_t side) {
    const std::string name = layer(side) + "recurrence.", shape = "B x " + letter(side) + " x d";
    step("u = x W_u, f = sigmoid(x W_f + b_f)", count(name));
    arrow(shape);
    step("c_t = f_t c_(t-1) + (1 - f_t) u_t");
    arrow(shape);
    step("max(0, c)");
  }

  void feed_forward(size_t side) {
    const std::string name = layer(side) + "ffn.";
    const bool bias = c_.feed_forward_bias;
    const std::string inner = product("x", "1", bias);
    std::string text = c_.activation == Activation::relu ? "max(0, " + inner + ")"
                                                         : c_.activation.name + "(" + inner + ")";
    if (c_.gated())
      text = std::string(name_of_value(gate_function(c_.activation))) + "(" +
             product("x", "g", bias) + ") * (" + inner + ")";
    step("y = " + text, count(name + "gate_proj.") + count(name + "in_proj."));
    arrow("B x " + letter(side) + " x d_ff");
    step(product("y", "2", bias), count(name + "out_proj."));
  }

  void stack(size_t side) {
    embedding(side);
    const std::string name = layer(side);
    text_ += "  " + counted(c_.sides[side].layers, "layer") + " of " +
             grouped(double(count(name))) + " parameters\n";
    if (c_.recurrent(side))
      sub_layer(side, "simple recurrent unit", name + "recurrence_norm", [&] { recurrence(side); });
    if (c_.self_attends(side))
      sub_layer(side, "self-attention", name + "self_attn_norm",
                [&] { attention(side, "self_attn", true); });
    if (c_.has_cross(side))
      sub_layer(side, "cross-attention to e, " + rows(side - 1), name + "cross_attn_norm",
                [&] { attention(side, "cross_attn", false); });
    if (c_.d_ff > 0)
      sub_layer(side, "feed-forward", name + "ffn_norm", [&] { feed_forward(side); });
    if (c_.has_final_norm()) {
      text_ += "  after the last layer\n";
      norm(prefix(side) + "norm");
      arrow(rows(side));
    }
    if (side + 1 < c_.sides.size()) step("e, the encoder's output");
  }

  void output() {
    text_ += "\n  output\n";
    const std::string bias = c_.output_bias ? " + b" : "";
    if (c_.output_layer) {
      const std::string shape = "B x " + letter(0) + " x d";
      step(c_.activation.name + "(" + product("x", "t", true) + ")", count("output_layer."));
      arrow(shape);
      norm("output_layer_norm");
      arrow(shape);
    }
    const int64_t own = count("output.");
    if (c_.has_output())
      step("logits = x W^T" + bias, own);
    else
      step("logits = x E^T" + bias, own ? grouped(double(own)) + " + shared" : "shared");
    const std::string shape = "B x " + letter(c_.sides.size() - 1) + " x V";
    arrow(shape);
    step("softmax(logits)");
    arrow(shape);
    step("probabilities");
  }

  static constexpr char outside[] = "     ";
  const ModelConfig& c_;
  std::vector<ParameterEntry> table_;
  std::string bar_ = outside;  // what begins a line: the residual connection of a sub-layer, or not
  std::string text_;
};

}  // namespace

std::string data_flow(const ModelConfig& config) { return Diagram(config).draw(); }

}  // namespace tx
