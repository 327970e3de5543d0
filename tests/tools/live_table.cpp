// live_table: prints as JSON what the engine of pages of tx-attn-dump --live must have.
//   fields       each key of a configuration, with the names of an enumeration, "bool" or "number"
//   inputs       numbers; activations: by name, of these numbers
//   config       of the rest, at the `positions`: rows of sinusoids by position encoding, rows of
//                rotary angles by scaling; and slopes of ALiBi by number of heads
#include <cstdio>
#include <string>

#include "kernels/backend.h"
#include "lib/cli/options.h"
#include "lib/model/config.h"
#include "lib/model/positions.h"

namespace {

// Whether --live refuses the configuration with this name instead of the one in `now`.
template <class E>
bool refused(tx::ModelConfig config, const tx::Named<E>& now, const std::string& name) {
  tx::visit_fields(config, [&]<class T>(const tx::ConfigField&, T& member) {
    if constexpr (std::is_same_v<T, tx::Named<E>>)
      if (member.name == now.name) member.name = name;
  });
  return config.exotic() != nullptr;
}

tx::Json fields(const tx::ModelConfig& config) {
  tx::Json out = tx::Json::object();
  tx::visit_fields(config, [&]<class T>(const tx::ConfigField& field, const T& member) {
    // --live refuses models that set other rare keys.
    if (field.rare && field.key != std::string("final_norm")) return;
    if constexpr (requires { member.name; })
      out[field.key] = []<class E>(const tx::Named<E>& now, const tx::ModelConfig& all) {
        std::vector<std::string> names = tx::names_of<E>();
        std::erase_if(names, [&](const std::string& name) { return refused(all, now, name); });
        return names;
      }(member, config);
    else
      out[field.key] = std::is_same_v<T, bool> ? "bool" : "number";
  });
  return out;
}

// Also those at which the kernels' exponential changes.
std::vector<float> inputs() {
  std::vector<float> out = {-1e30f, -100, -88.5f, -88, -87.5f, -87, 87, 88, 100, 1e30f};
  for (int i = -1280; i <= 1280; ++i) out.push_back(float(i) * 0.0123f);
  return out;
}

tx::Json activations(std::vector<float> x) {
  tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
  const auto width = int64_t(x.size());
  std::vector<float> y(x.size());
  x.resize(2 * x.size(), 1);  // gated activations are multiplied by 1
  tx::Matrix both = matrix(x.data(), tx::DType::f32, 1, 2 * width);
  tx::Matrix one = matrix(x.data(), tx::DType::f32, 1, width);
  tx::Matrix out = matrix(y.data(), tx::DType::f32, 1, width);
  tx::Json all = tx::Json::object();
  for (const std::string& name : tx::names_of<tx::Activation>()) {
    const auto activation = tx::value_of_name<tx::Activation>(name);
    if (is_gated(activation))
      backend->gate(both, activation, {}, out);
    else
      backend->activate(one, activation, {}, out);
    all[name] = y;
  }
  return all;
}

int run() {
  tx::ModelConfig c;
  c.d_model = c.d_k = 16;
  c.rotary_factor = 4;
  const std::vector<int64_t> positions = {0, 1, 2, 17, 63, 511, 1023, 100000};
  tx::Json sinusoids = tx::Json::object(), rotary, slopes;
  for (const std::string& name : tx::names_of<tx::PositionEncoding>()) {
    c.positions.name = name;
    for (size_t i = 0; c.sinusoids() && i < positions.size(); ++i)
      sinusoids[name].push_back(tx::sinusoid(positions[i], c.d_model, c.positions));
  }
  for (const std::string& name : tx::names_of<tx::RotaryScaling>()) {
    c.rotary_scaling.name = name;
    for (const int64_t position : positions)
      rotary[name].push_back(tx::rotary_row(tx::rotary_frequencies(c), position));
  }
  for (const int heads : {1, 2, 3, 8, 12}) slopes[std::to_string(heads)] = tx::alibi_slopes(heads);
  const tx::Json out = {
      {"fields", fields(c)},   {"inputs", inputs()},     {"activations", activations(inputs())},
      {"config", c.to_json()}, {"positions", positions}, {"sinusoids", sinusoids},
      {"rotary", rotary},      {"slopes", slopes}};
  std::puts(tx::to_text(out).c_str());
  return 0;
}

}  // namespace

int main() { return tx::run_tool("live_table", run); }
