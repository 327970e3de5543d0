// Files of torch.save(), in both forms: since version 1.6 a zip archive of a pickle and the
// storages that it names; before, pickles one behind another and the storages after them.
#pragma once
#include "lib/convert/formats/pickle.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

// What lies in a file of torch.save().
struct TorchFile {
  ForeignTensors tensors;  // of the dict of tensors: the whole, or its "model" or "state_dict"
  std::shared_ptr<const Pickle> content;  // all of it
};

// Maps the file. DataError names it: damaged, of another format, or a pickle that asks for more
// than tensors.
TorchFile read_torch_file(const std::string& path);

}  // namespace tx
