// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of an event log by the names that Spark gives them. */
class EventLogTest {
  @TempDir private Path folder;

  private void create(String... names) throws IOException {
    for (String name : names) {
      Files.createFile(folder.resolve(name));
    }
  }

  private static Iterable<String> names(EventLog log) {
    return log.files().stream().map(file -> file.getFileName().toString()).toList();
  }

  @Test
  void aFileIsTheLog() throws IOException {
    create("app-1.zstd.inprogress", "app-2");
    EventLog running = EventLog.of(folder.resolve("app-1.zstd.inprogress"));
    assertThat(running.inProgress()).isTrue();
    EventLog ended = EventLog.of(folder.resolve("app-2"));
    assertThat(names(ended)).containsExactly("app-2");
    assertThat(ended.inProgress()).isFalse();
    assertThat(ended.gaps()).isEmpty();
  }

  @Test
  void rolledFilesAreInTheOrderOfTheirNumbers() throws IOException {
    create("appstatus_app-1.inprogress", "events_10_app-1.zstd", ".events_1_app-1.zstd.crc");
    for (int i = 1; i < 10; i++) {
      create("events_" + i + "_app-1.zstd");
    }
    EventLog log = EventLog.of(folder);
    assertThat(names(log)).startsWith("events_1_app-1.zstd", "events_2_app-1.zstd").hasSize(10);
    assertThat(log.inProgress()).isTrue();
    assertThat(log.gaps()).isEmpty();
  }

  @Test
  void aCompactedFileReplacesThoseBefore() throws IOException {
    create("appstatus_app-1", "events_2_app-1", "events_3_app-1", "events_3_app-1.compact");
    create("events_4_app-1");
    EventLog log = EventLog.of(folder);
    assertThat(names(log)).containsExactly("events_3_app-1.compact", "events_4_app-1");
    assertThat(log.gaps()).singleElement().asString().contains("compacted");
    assertThat(log.inProgress()).isFalse();
  }

  @Test
  void missingFilesAreGaps() throws IOException {
    create("events_3_app-1", "events_5_app-1");
    assertThat(EventLog.of(folder).gaps())
        .containsExactly(
            "2 files before events_3_app-1 are missing",
            "1 files before events_5_app-1 are missing");
  }

  @Test
  void whatIsNoLogIsNamed() throws IOException {
    create("app-1");
    assertThatThrownBy(() -> EventLog.of(folder)).hasMessageContaining("name one event log");
    assertThatThrownBy(() -> EventLog.of(folder.resolve("none")))
        .hasMessageContaining("none does not exist");
  }
}
