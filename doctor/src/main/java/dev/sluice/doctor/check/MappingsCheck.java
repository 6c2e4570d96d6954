// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.directory.RegionLimit;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.nio.file.Path;
import java.util.List;

/** Check of vm.max_map_count: each map output that verbs have registered is a mapping. */
record MappingsCheck(Path root) implements Check {
  @Override
  public String name() {
    return "mappings";
  }

  @Override
  public List<Finding> findings() {
    int limit = RegionLimit.MAPPINGS.kernels(root);
    int outputs = RegionLimit.MAPPINGS.derive(root);
    String said =
        "vm.max_map_count is %d: an executor registers up to %d map outputs at a time"
            .formatted(limit, outputs);
    Finding finding =
        limit < RegionLimit.MAPPINGS.otherwise()
            ? Finding.warn(
                    name(), said, "run sysctl vm.max_map_count=" + RegionLimit.MAPPINGS.otherwise())
                .mendedBy(
                    FixLine.of(
                        FixLine.Place.SYSCTL,
                        "vm.max_map_count = " + RegionLimit.MAPPINGS.otherwise()))
            : Finding.ok(name(), said);
    return List.of(finding.with("max_map_count", limit).with("map_outputs", outputs));
  }
}
