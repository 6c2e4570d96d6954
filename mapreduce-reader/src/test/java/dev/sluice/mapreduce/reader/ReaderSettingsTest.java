// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReaderSettingsTest {
  private static final TransferOptions TRANSFER = TransferOptions.DEFAULT;

  @Test
  void withoutKeysOfDevicesTheirDefaultsApply() {
    VerbsOptions options =
        ReaderSettings.of(Map.of("sluice.mapreduce.timeout", "5s")).verbsOptions(TRANSFER);
    assertThat(options.with(o -> o.registeredBytes = 0)).isEqualTo(VerbsOptions.DEFAULT);
    assertThat(options.registeredBytes()).isEqualTo((32 << 20) + TRANSFER.queuePairBytes());
  }

  @Test
  void aKeyOfDevicesIsKnownBesideOthers() {
    ReaderSettings settings =
        ReaderSettings.of(
            Map.of("sluice.mapreduce.trafficClass", "104", "sluice.mapreduce.timeout", "5s"));
    assertThat(settings.verbsOptions(TRANSFER).trafficClass()).isEqualTo(104);
    assertThat(settings.get(ReaderSettings.TIMEOUT_MS)).isEqualTo(5_000);
  }

  @Test
  void anUnknownKeyIsRefusedWithTheNearestOne() {
    assertThatThrownBy(() -> ReaderSettings.of(Map.of("sluice.mapreduce.trafficClas", "104")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sluice.mapreduce.trafficClas is not a setting of reducers")
        .hasMessageContaining("sluice.mapreduce.trafficClass");
  }

  @Test
  void aValueThatIsNotAllowedIsRefused() {
    assertThatThrownBy(() -> ReaderSettings.of(Map.of("sluice.mapreduce.port", "0")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sluice.mapreduce.port is \"0\"");
  }
}
