// NumPy arrays: one in a file (.npy), or several in an archive (.npz), as numpy.savez and Marian
// write them.
#pragma once
#include "lib/convert/formats/tensors.h"

namespace tx {

// The array in an .npy file (versions 1 to 3), a view into `bytes`. DataError that begins with
// `where`: damaged, or elements other than little-endian numbers. Nothing is unpickled.
ForeignTensor parse_npy(std::string_view bytes, const std::string& where);

// The arrays of an .npz archive, by name without ".npy".
ForeignTensors read_npz(const std::string& path);

}  // namespace tx
