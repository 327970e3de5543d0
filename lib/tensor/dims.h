// The one legend of dimension letters. Every tensor parameter in a header carries its shape in
// them.
//
//   B  sentences of a packed batch          D  d_model
//   T  rows (tokens) of the target side     F  d_ff, inner width of the feed-forward layer
//   S  rows (tokens) of the source side     H  heads
//   N  rows of either side                  K  d_k, width of a head's queries and keys
//   V  vocabulary; Vp padded in blocks      L  layers
//   W  beam width                           R  rows of a decoding step (sentences x beam)
//   I, O  inputs and outputs of a product: weights are (O,I), y = x w^T
//
// d_v, the width of a head's values, is K unless stated.
#pragma once
