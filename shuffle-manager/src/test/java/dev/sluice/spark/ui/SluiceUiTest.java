// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;

class SluiceUiTest {
  private static final int JAVA_17 = 61;

  @Test
  void aHistoryServerFindsIt() {
    assertThat(ServiceLoader.load(AppHistoryServerPlugin.class))
        .filteredOn(SluiceUi.class::isInstance)
        .singleElement()
        .satisfies(
            plugin ->
                assertThat(
                        plugin
                            .createListeners(
                                new SparkConf(false),
                                new ElementTrackingStore(new InMemoryStore(), new SparkConf(false)))
                            .head())
                    .isInstanceOf(StatusListener.class));
  }

  @Test
  void aFailureIsNoneOfTheHistoryServer() {
    SluiceUi ui = new SluiceUi();
    ui.setupUI(null);
    assertThat(ui.createListeners(null, null).isEmpty()).isTrue();
  }

  /** A history server may run on Java 17, on which a class for a newer JVM ends the loading. */
  @Test
  void itLoadsOnJava17() throws Exception {
    Path classes =
        Path.of(SluiceUi.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .resolve("dev/sluice/spark/ui");
    try (Stream<Path> files = Files.list(classes)) {
      List<Path> found = files.filter(file -> file.toString().endsWith(".class")).toList();
      assertThat(found)
          .isNotEmpty()
          .allSatisfy(file -> assertThat(version(file)).isEqualTo(JAVA_17));
    }
  }

  private static int version(Path file) throws IOException {
    try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
      in.readInt(); // the magic number
      return in.readInt();
    }
  }
}
