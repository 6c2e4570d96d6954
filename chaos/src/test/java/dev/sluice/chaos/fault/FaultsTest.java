// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.chaos.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FaultsTest {
  @Test
  void namesAreNamesOfOneFaultEach() {
    Set<String> names = new HashSet<>();
    for (Fault fault : Faults.ALL) {
      assertThat(fault.name()).matches("[a-z0-9-]+");
      assertThat(names.add(fault.name())).as(fault.name()).isTrue();
      assertThat(Faults.named(fault.name())).isSameAs(fault);
      assertThat(Workload.ALL)
          .as(fault.name())
          .filteredOn(fault::allows)
          .hasSizeGreaterThanOrEqualTo(3);
    }
    assertThatThrownBy(() -> Faults.named("none-such"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("none-such");
  }

  @Test
  void termsNameWorkloadsAndClustersThatExist() {
    Set<String> clusters = new HashSet<>(Set.of("all"));
    for (Fault fault : Faults.ALL) {
      clusters.add(fault.name());
      clusters.add(fault.terms().getOrDefault("cluster", ""));
      for (String term : List.of("only", "not")) {
        String names = fault.terms().getOrDefault(term, "group-by");
        assertThat(names.split(","))
            .as(fault.name())
            .allSatisfy(name -> assertThat(Workload.named(name)).isNotNull());
      }
    }
    assertThat(clusters).containsAll(Faults.CLUSTERS.keySet());
  }

  @Test
  void anUnknownTermIsRefused() {
    String[] line = {"any", "before", "nothing", "last=5000", "a fault that would never be healed"};
    assertThatThrownBy(() -> Faults.fault(line, List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("last=5000");
  }

  @Test
  void damageIsDone(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("shuffle_0_1_0.index");
    byte[] written = new byte[64];
    Files.write(file, written);
    FilesDamaged.flipByte(file, new Random(1));
    assertThat(Files.readAllBytes(file)).hasSameSizeAs(written).isNotEqualTo(written);
    FilesDamaged.truncate(file, new Random(1));
    assertThat(file).hasSize(32);
    FilesDamaged.falsifyOffset(file, new Random(1));
    assertThat(file).hasSize(32);
    FilesDamaged.delete(file, new Random(1));
    assertThat(file).doesNotExist();
  }
}
