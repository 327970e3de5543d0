// Muon (Jordan et al., 2024): the matrices of the layers move along their momentum, made orthogonal
// by Newton-Schulz iteration. Adam updates embeddings, output and vectors.
#pragma once
#include "lib/model/parameters.h"
#include "lib/train/ranks/shards.h"

namespace tx {

class Muon {
 public:
  // The arguments outlive it; `record` is in the memory of the parameters' backend.
  Muon(Parameters& parameters, double momentum, const StepRecord* record);
  static size_t bytes(const Parameters& parameters);  // of memory that it allocates

  // Of the blocks: the matrices of the layers, which are adjacent.
  ElementRange matrices() const { return matrices_; }
  // Updates the momentum of `range`, which is `state` of moment1(), and sets its directions.
  void average(ElementRange range, ElementRange state);
  // After average() of every range that this rank updates: gathers the directions of all ranks,
  // unless `shards` is null, and makes each matrix that overlaps one of `ranges` orthogonal.
  void orthogonalise(Shards* shards, const std::vector<ElementRange>& ranges);
  // Moves the weights of `range` along their directions. `bf16_weights` is empty or a whole block.
  void update(ElementRange range, Matrix bf16_weights, const AdamSettings& settings);

 private:
  void orthogonalise(const ParameterEntry& entry);

  Parameters& parameters_;
  Backend& backend_;
  double momentum_;
  const StepRecord* record_;
  ElementRange matrices_;
  std::vector<ParameterEntry> entries_;
  DeviceBytes block_, scratch_, squares_;
  Matrix directions_;  // a block like that of the gradients
};

}  // namespace tx
