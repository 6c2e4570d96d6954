// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import java.util.List;

/**
 * Check that applications which the settings give Sluice's shuffle manager find its jar, and one
 * version of it. {@link Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its
 * own.
 */
record JarCheck(Installation installation) implements Check {
  @Override
  public String name() {
    return "jar";
  }

  @Override
  public List<Finding> findings() {
    List<String> installed = installation.installed();
    if (installed.size() > 1) {
      return List.of(
          Finding.fail(
                  name(),
                  "several versions are among Spark's jars: " + String.join(", ", installed),
                  "remove all but one from SPARK_HOME/jars")
              .with("jars", installed));
    }
    if (!installation.hasOurManager()) {
      return List.of(); // ManagerCheck names the jar together with the manager.
    }
    return List.of(
        installation
            .place()
            .map(place -> "Sluice's jar comes from " + place)
            .or(() -> installation.archive().map(place -> "Sluice's jar has to be in " + place))
            .map(said -> Finding.ok(name(), said))
            .orElseGet(this::missing));
  }

  private Finding missing() {
    return Finding.warn(
            name(),
            "%s names Sluice's shuffle manager, but neither %s nor Spark's jars have its jar"
                .formatted(installation.settings().place(), Installation.PLACES),
            "give the jar to spark-submit by --jars, or set " + Installation.JARS)
        .mendedBy(installation.jarLine());
  }
}
