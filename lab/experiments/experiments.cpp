#include <algorithm>

#include "lab/experiments/experiment.h"
#include "lab/experiments/remote_write_experiment.h"
#include "lab/experiments/store_experiment.h"

namespace remora::lab {

const std::vector<const Experiment*>& experiments() {
  static const StoreExperiment store;
  static const RemoteWriteExperiment remote_write;
  static const std::vector<const Experiment*> list = {&store, &remote_write};
  return list;
}

const Experiment& experiment_of(const figures::Parameters& parameters) {
  const Result<std::string> named = parameters.text("experiment");
  const auto found =
      std::ranges::find(experiments(), named.ok() ? *named : "store", &Experiment::name);
  return found == experiments().end() ? *experiments().front() : **found;
}

}  // namespace remora::lab
