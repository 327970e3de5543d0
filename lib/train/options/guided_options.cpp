#include "lib/base/error.h"
#include "lib/base/split.h"
#include "lib/train/options/options.h"

namespace tx {

void TrainOptions::describe_guidance(Options& o) {
  o.group("Guided alignment");
  o.add("--guided-alignment", guided_alignment, "FILE",
        "word alignments of the training text, which one head learns",
        "A line for each pair, of links such as 0-0 1-2, SOURCE-TARGET, counted from 0 in words "
        "(Chen et al., 2016). The row that predicts a piece of a target word learns to attend to "
        "all pieces of the source words linked to it. The cross-entropy, times --guided-weight, is "
        "added to the loss; see GUIDED ALIGNMENT.")
      .input()
      .goes_with({"--resume"})
      .excludes({"--kind decoder", "--kind encoder"}, "it has no attention to a source")
      .excludes({"--denoise"}, "a text has no links to itself");
  o.add("--guided-head", guided_head, "LAYER.HEAD", "the head of cross-attention that learns them",
        "Both are counted from 0. Default: the first head of the last layer.")
      .needs({"--guided-alignment"});
  o.add("--guided-weight", guided_weight, "X", "weight of this loss beside that of the labels")
      .at_least(0)
      .needs({"--guided-alignment"});
  o.flag("--guided-shift", guided_shift,
         "the row that reads a target piece learns, not the one that predicts it",
         "Such a row knows the word that it aligns. Align with --shift then.")
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
