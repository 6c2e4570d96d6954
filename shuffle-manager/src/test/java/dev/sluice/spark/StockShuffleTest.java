// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.doctor.Platform;
import dev.sluice.rdma.log.LogCapture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.jdk.javaapi.CollectionConverters;

/** Without RDMA a manager uses Spark's own parts, or reports the reason. */
class StockShuffleTest {
  private static final List<String> LACKS =
      List.of(Platform.lack(17, "4.2.0"), Platform.lack(25, "4.9.0"));

  private final SparkConf conf = new SparkConf(false);
  private final IndexShuffleBlockResolver stock = new IndexShuffleBlockResolver(conf);

  private RdmaShuffle create(String provider, boolean isDriver, String lack) {
    return RdmaShuffle.create(
        conf.set("spark.shuffle.rdma.provider", provider), isDriver, stock, lack);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void autoFallsBackToTheStockShuffleWithAReason(boolean isDriver) {
    for (String lack : LACKS) {
      try (LogCapture log = new LogCapture(RdmaShuffle.class, Level.WARN);
          RdmaShuffle shuffle = create("auto", isDriver, lack)) {
        assertStock(shuffle);
        assertThat(log.messages())
            .singleElement()
            .asString()
            .startsWith("Using Spark's stock shuffle: " + lack);
      }
    }
  }

  @Test
  void offIsTheStockShuffleWithoutALogLine() {
    for (String lack : List.of("", LACKS.getFirst())) {
      try (LogCapture log = new LogCapture(RdmaShuffle.class, Level.WARN);
          RdmaShuffle shuffle = create("off", true, lack)) {
        assertStock(shuffle);
        assertThat(log.messages()).isEmpty();
      }
    }
  }

  private void assertStock(RdmaShuffle shuffle) {
    OpenWriter writer = new OpenWriter();
    assertThat(shuffle.resolver()).isSameAs(stock);
    assertThat(shuffle.registering(writer, 0, 0, null)).isSameAs(writer);
    assertThat(shuffle.totals()).isEmpty();
    assertThat(shuffle.devices()).isEmpty();
  }

  @Test
  void sparksUiTellsWhySluiceIsOff() throws Exception {
    SparkContext context = contextWithUi();
    try {
      RdmaShuffle old = create("auto", true, LACKS.getFirst());
      old.register(context);
      old.register(context);
      assertThat(page(context))
          .contains("off:</strong> " + LACKS.getFirst(), "would change it:</strong> none");
      assertThat(CollectionConverters.asJava(context.ui().get().getTabs()))
          .filteredOn(tab -> tab.prefix().equals("sluice"))
          .hasSize(1);
    } finally {
      context.stop();
    }
  }

  @Test
  void sparksUiNamesTheKeyThatTurnsSluiceOn() throws Exception {
    SparkContext context = contextWithUi();
    try {
      create("off", true, "").register(context);
      assertThat(page(context))
          .contains("off:</strong> spark.shuffle.rdma.provider is &quot;off&quot;")
          .contains("would change it:</strong> spark.shuffle.rdma.provider");
    } finally {
      context.stop();
    }
  }

  @Test
  void aShuffleIsRegisteredEvenIfTheTabFails() {
    try (RdmaShuffle shuffle = create("off", true, "")) {
      shuffle.register(null);
      assertThat(shuffle.resolver()).isSameAs(stock);
    }
  }

  private SparkContext contextWithUi() {
    return new SparkContext(
        conf.setMaster("local[1]")
            .setAppName("off")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.ui.port", "0"));
  }

  private static String page(SparkContext context) throws Exception {
    context.listenerBus().waitUntilEmpty(30_000);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(context.uiWebUrl().get() + "/sluice/"))
            .timeout(Duration.ofSeconds(30))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
  }

  @Test
  void onTheDriverANamedProviderThatCannotRunIsAnError() {
    for (String lack : LACKS) {
      assertThatThrownBy(() -> create("soft", true, lack))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("provider is \"soft\"", lack);
    }
  }

  /** If the manager failed, executors would be launched again and again. */
  @Test
  void onAnExecutorANamedProviderThatCannotRunFailsTheTasks() {
    String lack = LACKS.getFirst();
    OpenWriter writer = new OpenWriter();
    try (RdmaShuffle shuffle = create("verbs", false, lack)) {
      assertThatThrownBy(() -> shuffle.registering(writer, 0, 0, null)).hasMessageContaining(lack);
      assertThat(writer.stoppedAs).isFalse();
      assertThatThrownBy(() -> shuffle.client(null)).hasMessageContaining(lack);
      assertThatThrownBy(() -> shuffle.reader(null, null, null, null, null))
          .hasMessageContaining(lack);
    }
  }

  @Test
  void filesThatAnotherResolverMayHaveElsewhereAreRefused() {
    IndexShuffleBlockResolver own = new IndexShuffleBlockResolver(conf) {};
    assertThatThrownBy(() -> RdmaShuffle.create(conf, true, own))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Spark's own resolver");
  }
}
