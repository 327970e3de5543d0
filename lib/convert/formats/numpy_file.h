// Arrays of numpy: a file of one (.npy), and archives of several (.npz), as numpy.savez and Marian
// write them.
#pragma once
#include "lib/convert/formats/tensors.h"

namespace tx {

// The array in the bytes of an .npy file (versions 1 to 3), which must outlive it. DataError that
// begins with `where`: damaged, or elements that are no plain little-endian numbers; Python
// objects are refused, nothing is unpickled.
ForeignTensor parse_npy(std::string_view bytes, const std::string& where);

// The arrays of an .npz archive by their names without ".npy".
ForeignTensors read_npz(const std::string& path);

}  // namespace tx
