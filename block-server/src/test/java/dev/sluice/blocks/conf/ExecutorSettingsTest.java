// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExecutorSettingsTest {
  private final Map<String, String> conf = new HashMap<>();

  @Test
  void allDefaultsAreAllowed() {
    ExecutorSettings.validate(conf);
  }

  @Test
  void keysAreUniqueAndDocumented() {
    assertThat(ExecutorSettings.TABLE.rows()).extracting(Setting::key).doesNotHaveDuplicates();
    assertThat(ExecutorSettings.TABLE.rows())
        .allSatisfy(row -> assertThat(row.doc()).endsWith("."));
  }

  @Test
  void anUnknownKeyIsNamedWithTheKnownOnes() {
    conf.put("spark.shuffle.rdma.providers", "soft");
    assertThatThrownBy(() -> ExecutorSettings.validate(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(
            "spark.shuffle.rdma.providers", "\"soft\"", "spark.shuffle.rdma.provider,");
  }

  @Test
  void othersKeysAreNotLookedAt() {
    conf.put("spark.shuffle.rdmaX.provider", "x");
    conf.put("spark.shuffle.compress", "maybe");
    ExecutorSettings.validate(conf);
  }

  @ParameterizedTest
  @CsvSource({
    "provider, hardware",
    "provider, ''",
    "memoryShare, 0",
    "memoryShare, 1.5",
    "memoryShare, half",
    "buffers.maxBytes, 64 potatoes",
    "buffers.maxBytes, 1k",
    "read.timeout, 0",
    "read.timeout, -1s",
    "read.timeout, soon",
    "registration.mode, file",
    "retryCount, 8",
    "retryCount, 1.0",
    "port, 80",
    "node, auto",
    "devices, mlx5_0:x",
    "gid.index, 70000",
    "gid.roceVersion, 3",
    "gid.addrFamily, ipx",
    "gid.addrRange, 10.0.0.0",
    "trafficClass, 256",
    "serviceLevel, 16",
    "pkey, 0x10000",
    "pathMtu, 1500",
    "connect, tcp",
    "soft.faults, explode@3",
    "verifyChecksums, yes"
  })
  void aForbiddenValueIsNamedWithTheAllowedOnes(String name, String value) {
    String key = ExecutorSettings.PREFIX + name;
    conf.put(key, value);
    assertThatThrownBy(() -> ExecutorSettings.validate(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "\"" + value + "\"", ", but must be ");
  }

  @Test
  void timesAndSizesAreInSparksSyntax() {
    conf.put("spark.shuffle.rdma.read.timeout", "2min");
    conf.put("spark.shuffle.rdma.read.spin", "1ms");
    conf.put("spark.shuffle.rdma.buffers.maxBytes", "2g");
    assertThat(ExecutorSettings.READ_TIMEOUT.get(conf::get)).isEqualTo(120_000);
    assertThat(ExecutorSettings.READ_SPIN.get(conf::get)).isEqualTo(1000);
    assertThat(ExecutorSettings.BUFFERS_MAX_BYTES.get(conf::get)).isEqualTo(2L << 30);
  }

  @Test
  void withoutAUnitATimeIsInItsOwnOne() {
    conf.put("spark.shuffle.rdma.read.timeout", "1500");
    conf.put("spark.shuffle.rdma.read.spin", "7");
    assertThat(ExecutorSettings.READ_TIMEOUT.get(conf::get)).isEqualTo(1500);
    assertThat(ExecutorSettings.READ_SPIN.get(conf::get)).isEqualTo(7);
  }
}
