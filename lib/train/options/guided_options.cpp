#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/train/options/options.h"

namespace tx {

void TrainOptions::describe_guidance(Options& o) {
  o.group("Guided alignment");
  o.add("--guided-alignment", guided_alignment, "FILE",
        "word alignments of the training text that train one head",
        "One line per pair in Pharaoh format, e.g. 0-0 1-2; see GUIDED ALIGNMENT.")
      .input()
      .goes_with({"--resume"})
      .excludes({"--kind decoder", "--kind encoder"}, "it has no attention to a source")
      .excludes({"--denoise"}, "a text has no links to itself");
  o.add("--guided-head", guided_head, "LAYER.HEAD", "the cross-attention head to train",
        "Layers and heads count from 0. Default: head 0 of the last layer.")
      .needs({"--guided-alignment"});
  o.add("--guided-weight", guided_weight, "X", "weight of the alignment loss")
      .at_least(0)
      .needs({"--guided-alignment"});
  o.flag("--guided-shift", guided_shift, "train the decoder position that reads the target token",
         "By default the position that predicts the token is trained.")
      .needs({"--guided-alignment"});
}

TrainOptions::GuidedHead TrainOptions::guided() const {
  if (guided_alignment.empty()) return {};
  const int layers = model.config.target().layers, heads = model.config.heads;
  if (guided_head.empty()) return {layers - 1, 0};
  uint32_t layer = 0, head = 0;
  std::string_view rest = guided_head;
  const bool layer_given = take_number(rest, layer) && rest.starts_with('.');
  if (layer_given) rest.remove_prefix(1);
  if (!layer_given || !take_number(rest, head) || !rest.empty())
    throw UsageError("--guided-head " + guided_head + ": give LAYER.HEAD, such as " +
                     std::to_string(layers - 1) + ".0");
  const auto check = [&](uint32_t number, int count, const char* things) {
    if (number < uint32_t(count)) return;
    throw UsageError("--guided-head " + guided_head + ": the model has no such " + things +
                     "; they count from 0 to " + std::to_string(count - 1));
  };
  check(layer, layers, "layer");
  check(head, heads, "head");
  return {int(layer), int(head)};
}

}  // namespace tx
