// Files of torch.save() in both formats: since version 1.6 a zip archive of a pickle and its
// storages; before, consecutive pickles followed by the storages.
#pragma once
#include "lib/convert/formats/pickle.h"
#include "lib/convert/formats/tensors.h"

namespace tx {

struct TorchFile {
  ForeignTensors tensors;                 // the file's dict, or its "model" or "state_dict"
  std::shared_ptr<const Pickle> content;  // the whole object
};

// Maps the file. DataError: damaged, another format, or a pickle with more than tensors and
// settings.
TorchFile read_torch_file(const std::string& path);

}  // namespace tx
