// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.util.JsonProtocol;
import org.junit.jupiter.api.Test;

/** The event in Spark's event logs. */
class SluiceUpdateTest {
  @Test
  void sparksEventLogKeepsAllOfIt() {
    SluiceUpdate update = Updates.application();
    String json = JsonProtocol.sparkEventToJsonString(update);
    assertThat(json)
        .contains("\"Event\":\"dev.sluice.spark.ui.SluiceUpdate\"")
        .doesNotContain("\n", "logEvent");
    assertThat(JsonProtocol.sparkEventFromJson(json)).isEqualTo(update);
  }

  @Test
  void logsOfOlderAndNewerVersionsAreRead() {
    String json =
        """
        {"Event":"dev.sluice.spark.ui.SluiceUpdate","time":5,"temperature":[20],
        "bytes":{"registered":7,"teleported":1}}
        """;
    SluiceUpdate update = (SluiceUpdate) JsonProtocol.sparkEventFromJson(json);
    assertThat(update.time()).isEqualTo(5);
    assertThat(update.bytes()).isEqualTo(Updates.bytes(7));
    assertThat(update.executors()).isEmpty();
    assertThat(update.peerFallbacks()).isEmpty();
    assertThat(update.reads()).isEqualTo(SluiceUpdate.Reads.NONE);
  }

  /** Spark's replay of an event log catches this exception, logs the class once, and goes on. */
  @Test
  void withoutTheClassSparkDropsTheEvent() {
    assertThatThrownBy(
            () -> JsonProtocol.sparkEventFromJson("{\"Event\":\"dev.sluice.spark.ui.Missing\"}"))
        .isInstanceOf(ClassNotFoundException.class);
  }
}
