// Models that people wrote themselves in PyTorch: a table, tx-names(5), maps the names of their
// tensors to those of tx.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/convert/families/family.h"

namespace tx {

struct NamesOptions {
  std::string table;              // a file, or the name of a table that tx has
  std::string vocabulary;         // of the source, or of both sides
  std::string target_vocabulary;  // "": the same
  int heads = 0;                  // 0: those of the table
};

// Reads a file of torch.save() or .safetensors. DataError: a tensor without a name in the table, a
// missing or misshapen one, or arithmetic that tx does not have.
ForeignModel import_by_names(const std::string& path, const NamesOptions& options);

// A table with those that it is based on. DataError: not a table.
Json read_names(const std::string& table);

// A model's tensors by the names of tx.
class NamedTensors {
 public:
  // `names`: those of the table `table`; they must outlive this object.
  NamedTensors(const std::string& path, const Json& names, std::string table);

  struct Found {
    std::string name;      // of their tensor
    ForeignTensor tensor;  // or a part of its rows
  };
  Found at(const std::string& ours) const;  // DataError: none, with the most similar name
  bool has(const std::string& ours) const { return find(ours).has_value(); }
  // The size of a matrix in a dimension. DataError: missing, or not a matrix.
  int64_t size(const std::string& ours, size_t dimension) const;
  bool same(const std::string& ours, const std::string& other) const;  // in memory
  // All tensors whose names end in the pattern, at a dot.
  std::vector<std::string> ending(const std::string& pattern) const;

  WeightRows take(const std::string& ours, const std::vector<int64_t>& shape);
  WeightRows take_table(const std::string& theirs);  // a matrix, but for dimensions of 1
  void ignore(const std::string& theirs) { taken_.insert(theirs); }
  const std::shared_ptr<ForeignTensors>& all() const { return all_; }  // owns the rows
  void check_all_taken() const;                                        // DataError

 private:
  std::vector<std::string> patterns(const std::string& ours) const;
  std::optional<Found> find(const std::string& ours) const;

  std::shared_ptr<ForeignTensors> all_, parts_;
  const Json& names_;
  std::string table_;
  std::multimap<std::string_view, const std::string*> endings_;  // "b.c" and "c" of a.b.c
  std::set<std::string> taken_;
};

}  // namespace tx
