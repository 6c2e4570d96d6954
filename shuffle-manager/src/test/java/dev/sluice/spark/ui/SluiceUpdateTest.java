// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.util.JsonProtocol;
import org.apache.spark.util.kvstore.InMemoryStore;
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

  @Test
  void sparksEventLogKeepsThatSluiceIsOff() {
    SluiceOff off = new SluiceOff("this JVM is too old", "some.key");
    String json = JsonProtocol.sparkEventToJsonString(off);
    assertThat(json).contains("\"Event\":\"dev.sluice.spark.ui.SluiceOff\"");
    assertThat(JsonProtocol.sparkEventFromJson(json)).isEqualTo(off);
    assertThat(JsonProtocol.sparkEventFromJson("{\"Event\":\"dev.sluice.spark.ui.SluiceOff\"}"))
        .isEqualTo(new SluiceOff("", ""));
  }

  @Test
  void thePageShowsRowsThatLackComponents() {
    String json =
        """
        {"Event":"dev.sluice.spark.ui.SluiceUpdate","time":5,
        "fallbacks":[{"reason":"PEER","bytes":7},{}],
        "executors":[{"id":"7","place":{"provider":"soft"}},{"id":"8"},{}],
        "slowPeers":[{"peer":"executor 7"},{}]}
        """;
    InMemoryStore store = new InMemoryStore();
    StatusListener.live(store).onOtherEvent((SluiceUpdate) JsonProtocol.sparkEventFromJson(json));
    assertThat(StatusPage.of(SluiceStatus.of(store).orElseThrow()))
        .contains("<td>PEER</td>", "<td>none</td>", "<td>7</td>", "<td>8</td>", "executor 7")
        .contains("1 by soft, 2 by unknown")
        .doesNotContain("null");
  }

  /** Spark's replay of an event log catches this exception, logs the class once, and goes on. */
  @Test
  void withoutTheClassSparkDropsTheEvent() {
    assertThatThrownBy(
            () -> JsonProtocol.sparkEventFromJson("{\"Event\":\"dev.sluice.spark.ui.Missing\"}"))
        .isInstanceOf(ClassNotFoundException.class);
  }
}
