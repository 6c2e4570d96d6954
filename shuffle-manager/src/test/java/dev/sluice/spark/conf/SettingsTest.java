// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.Setting;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
  private final SparkConf conf = new SparkConf(false);

  @Test
  void allDefaultsAreAllowed() {
    Settings.validate(conf);
  }

  @Test
  void keysAreUniqueAndDocumented() {
    assertThat(Settings.TABLE.rows()).extracting(Setting::key).doesNotHaveDuplicates();
    assertThat(Settings.TABLE.rows()).allSatisfy(row -> assertThat(row.doc()).endsWith("."));
  }

  @Test
  void anUnknownKeyIsNamedWithTheKnownOnes() {
    conf.set("spark.shuffle.rdma.providers", "soft");
    assertThatThrownBy(() -> Settings.validate(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(
            "spark.shuffle.rdma.providers", "\"soft\"", "spark.shuffle.rdma.provider,");
  }

  @Test
  void othersKeysAreNotLookedAt() {
    conf.set("spark.shuffle.rdmaX.provider", "x").set("spark.shuffle.compress", "maybe");
    Settings.validate(conf);
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
    String key = Settings.PREFIX + name;
    conf.set(key, value);
    assertThatThrownBy(() -> Settings.validate(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "\"" + value + "\"", ", but must be ");
  }

  @Test
  void timesAndSizesAreInSparksSyntax() {
    conf.set("spark.shuffle.rdma.read.timeout", "2min")
        .set("spark.shuffle.rdma.read.spin", "1ms")
        .set("spark.shuffle.rdma.buffers.maxBytes", "2g");
    assertThat(Settings.get(conf, Settings.READ_TIMEOUT)).isEqualTo(120_000);
    assertThat(Settings.get(conf, Settings.READ_SPIN)).isEqualTo(1000);
    assertThat(Settings.get(conf, Settings.BUFFERS_MAX_BYTES)).isEqualTo(2L << 30);
  }

  @Test
  void withoutAUnitATimeIsInItsOwnOne() {
    conf.set("spark.shuffle.rdma.read.timeout", "1500").set("spark.shuffle.rdma.read.spin", "7");
    assertThat(Settings.get(conf, Settings.READ_TIMEOUT)).isEqualTo(1500);
    assertThat(Settings.get(conf, Settings.READ_SPIN)).isEqualTo(7);
  }
}
