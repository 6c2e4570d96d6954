// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.ui.SluiceStatus.KnownExecutor;
import dev.sluice.spark.ui.SluiceStatus.Point;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import dev.sluice.spark.ui.SluiceUpdate.Fallback;
import dev.sluice.spark.ui.SluiceUpdate.PeerFallback;
import dev.sluice.spark.ui.SluiceUpdate.Place;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.io.StringReader;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

/** The page of an application with five executors: a lost one, a slow one, and one without RDMA. */
class StatusPageTest {
  private static final String EVIL = "<script>alert('1')</script>&\"";

  private final String page = StatusPage.of(application());

  private static SluiceStatus application() {
    InMemoryStore store = new InMemoryStore();
    StatusListener listener = StatusListener.live(store);
    listener.onOtherEvent(Updates.at(20, new Bytes(1L << 30, 1L << 29, 1L << 29, 0)));
    listener.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "1", "Command exited with 137"));
    listener.onOtherEvent(Updates.application());
    return SluiceStatus.of(store).orElseThrow();
  }

  private static String row(String page, String table, String first) {
    var row =
        Pattern.compile(
                "(?s)id=\"%s\".*?(<tr[^>]*><td>%s</td>.*?</tr>)"
                    .formatted(table, Pattern.quote(first)))
            .matcher(page);
    assertThat(row.find()).as("%s in %s of %s", first, table, page).isTrue();
    return row.group(1);
  }

  @Test
  void theBeginningSaysWhatSluiceBrings() {
    assertThat(page)
        .contains("1 by soft, 3 by verbs; 1 lost")
        .contains("1 without a better provider:</strong> there is no RDMA device")
        .contains("93.8 % of 16.0 GiB remote bytes (12.0 GiB registered, 3.0 GiB staged)")
        .contains("6.3 % (1024.0 MiB)")
        .contains("2,040; p50 80 µs, p99 400 µs");
  }

  @Test
  void executorsOfDifferentProvidersAreAWarning() {
    assertThat(page).contains("alert-warning", "Executors have different providers");
    assertThat(row(page, "sluice-executors", "4"))
        .contains(
            "<td title=\"there is no RDMA device\">soft</td>", "soft0, 10.0.0.4", "host-4:4000");
  }

  @Test
  void eachFallbackHasItsKey() {
    assertThat(row(page, "sluice-fallbacks", "PEER"))
        .contains("700", "1024.0 MiB", "6.3 %", "spark.shuffle.rdma.provider");
    assertThat(row(page, "sluice-fallbacks", "CHECKSUM")).contains("4.0 KiB", "<td>none</td>");
  }

  @Test
  void aLiveExecutorHasMemoryAndQueuePairs() {
    assertThat(row(page, "sluice-executors", "0"))
        .contains("<td>live</td>", "verbs", "mlx5_0", "3.0 GiB / 4.0 GiB", "4 + 4", "80 µs")
        .contains("<td title=\"PEER: 256.0 MiB (spark.shuffle.rdma.provider)\">PEER 140</td>");
  }

  @Test
  void anExecutorNamesThreeReasonsOfItsFallbacks() {
    Executor usual = Updates.executor(1);
    List<Fallback> fallbacks =
        Stream.of("STAGING", "LATE", "DISK", "PEER", "CONNECT")
            .map(reason -> new Fallback(reason, 1_200, 1, ""))
            .toList();
    Executor executor =
        new Executor(
            "1",
            false,
            usual.place(),
            usual.bytes(),
            fallbacks,
            usual.memory(),
            usual.queuePairs(),
            usual.reads());
    SluiceStatus status =
        new SluiceStatus(
            List.of(),
            List.of(),
            Reads.NONE,
            List.of(new KnownExecutor(executor, "")),
            0,
            List.of(),
            List.of());
    assertThat(row(StatusPage.of(status), "sluice-executors", "1"))
        .contains(">STAGING 1,200, LATE 1,200, DISK 1,200, 2 more</td>")
        .contains("CONNECT: 1.0 B (no key)");
  }

  @Test
  void eachPeerHasTheReasonsOfItsFallbacksWithTheirKeys() {
    assertThat(row(page, "sluice-peer-fallbacks", "executor 4 at host-4"))
        .contains("<td>PEER</td>", ">600</td>", "<td>spark.shuffle.rdma.provider</td>");
    assertThat(row(page, "sluice-peer-fallbacks", "executor 1 at host-1"))
        .contains("<td>CHECKSUM</td>", ">1</td>", "<td>none</td>");
    assertThat(row(page, "sluice-peer-fallbacks", "all others"))
        .contains("<td>any</td>", ">1,100</td>", "<td>see above</td>");
  }

  @Test
  void aLostExecutorHasNoMemory() {
    assertThat(row(page, "sluice-executors", "1"))
        .contains("lost: Command exited with 137", "0.0 B / 4.0 GiB", "2.0 GiB");
  }

  @Test
  void theSlowPeerIsFirstAndMarked() {
    assertThat(row(page, "sluice-peers", "executor 3 at host-3:4000"))
        .contains("90.0 ms", "1.5 ms", "#e59866");
    assertThat(row(page, "sluice-peers", "executor 0 at host-0:4000")).doesNotContain("#e59866");
    assertThat(page.indexOf("executor 3 at host-3:4000"))
        .isLessThan(page.indexOf("executor 0 at host-0:4000"));
  }

  @Test
  void slowPeersHaveTheTimeThatTheirColumnsCover() {
    assertThat(page)
        .contains("READs from a peer in the last one to two minutes")
        .contains("<th>Recent READ requests</th><th>Recent bytes</th>");
  }

  /** One of five peers has a fifth of the READs: the application's p99 is its p99. */
  @Test
  void aPeerThatRaisesThePercentileOfAllIsMarked() {
    SluiceStatus usual = application();
    Reads slow = new Reads(125, 213_000, 295_000);
    String html =
        StatusPage.of(
            new SluiceStatus(
                usual.points(),
                List.of(),
                new Reads(625, 4_600, 295_000),
                List.of(),
                0,
                List.of(
                    new SlowPeer("slow", 4, 1, slow),
                    new SlowPeer("usual", 4, 1, new Reads(125, 4_600, 147_000))),
                List.of()));
    assertThat(row(html, "sluice-peers", "slow")).contains("#e59866");
    assertThat(row(html, "sluice-peers", "usual")).doesNotContain("#e59866");
  }

  /** Its own READs are as fast as those of others: their columns do not show it. */
  @Test
  void anExecutorThatIsSlowToReadFromHasThatState() {
    SluiceStatus usual = application();
    SlowPeer fast = new SlowPeer("node daemon", 4, 1, new Reads(20, 80, 300_000));
    String html =
        StatusPage.of(
            new SluiceStatus(
                usual.points(),
                List.of(),
                usual.reads(),
                usual.executors(),
                0,
                List.of(
                    fast,
                    fast,
                    fast,
                    fast,
                    new SlowPeer("executor 0 at host-0:4000", 4, 1, new Reads(20, 51_000, 300_000)),
                    new SlowPeer("executor 2 at host-2:4000", 4, 1, new Reads(9, 51_000, 300_000)),
                    new SlowPeer(
                        "executor 3 at host-3:4000", 4, 1, new Reads(20, 49_000, 300_000))),
                List.of()));
    assertThat(row(html, "sluice-executors", "0")).contains("<td>live, slow peer</td>");
    assertThat(row(html, "sluice-executors", "2")).contains("<td>live</td>");
    assertThat(row(html, "sluice-executors", "3")).contains("<td>live</td>");
  }

  /** Soft would take the adapter from the executors that have one. */
  @Test
  void softIsProposedOnlyWhereAnExecutorHasIt() {
    assertThat(page).contains("spark.shuffle.rdma.provider=soft gives all the same provider");
    Executor executor = Updates.executor(1);
    Executor off =
        new Executor(
            "2",
            false,
            new Place("off", "", "", "", "the start took too long"),
            executor.bytes(),
            List.of(),
            executor.memory(),
            executor.queuePairs(),
            executor.reads());
    SluiceStatus usual = application();
    assertThat(
            StatusPage.of(
                new SluiceStatus(
                    usual.points(),
                    List.of(),
                    usual.reads(),
                    List.of(new KnownExecutor(executor, ""), new KnownExecutor(off, "")),
                    0,
                    List.of(),
                    List.of())))
        .contains("Executors have different providers")
        .doesNotContain("provider=soft");
  }

  @Test
  void allTextsAreEscaped() {
    Executor executor = Updates.executor(1);
    SluiceStatus status =
        new SluiceStatus(
            List.of(new Point(0, Bytes.NONE), new Point(1, Updates.bytes(1))),
            List.of(new Fallback(EVIL, 1, 1, EVIL)),
            Reads.NONE,
            List.of(
                new KnownExecutor(
                    new Executor(
                        EVIL,
                        true,
                        new Place(EVIL, EVIL, EVIL, EVIL, EVIL),
                        executor.bytes(),
                        List.of(new Fallback(EVIL, 1, 1, EVIL)),
                        executor.memory(),
                        executor.queuePairs(),
                        executor.reads()),
                    EVIL),
                new KnownExecutor(
                    new Executor(
                        "2",
                        false,
                        new Place(EVIL, "", "", "", ""),
                        executor.bytes(),
                        List.of(),
                        executor.memory(),
                        executor.queuePairs(),
                        executor.reads()),
                    "")),
            1,
            List.of(new SlowPeer(EVIL, 1, 0, Reads.NONE)),
            List.of(new PeerFallback(EVIL, EVIL, 1, EVIL)));
    assertThat(StatusPage.of(status))
        .contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;")
        .doesNotContain("<script", "'1'");
  }

  @Test
  void thePageOfTheStockShuffleHasTheReasonAndTheKey() {
    assertThat(StatusPage.off(new SluiceStatus.Off("a < b", "some.key")))
        .contains("off:</strong> a &lt; b", "Key that would change it:</strong> some.key");
    assertThat(StatusPage.off(new SluiceStatus.Off("old", "")))
        .contains("Key that would change it:</strong> none");
  }

  @Test
  void theHtmlIsWellFormed() throws Exception {
    String off = StatusPage.off(new SluiceStatus.Off(EVIL, EVIL));
    String document = "<div>" + page + StatusPage.empty() + off + "</div>";
    assertThat(
            DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(document)))
                .getElementsByTagName("polygon")
                .getLength())
        .isEqualTo(BytesPlot.LAYERS.size());
  }

  @Test
  void anApplicationWithoutBytesHasAPlot() {
    assertThat(new BytesPlot(List.of()).svg()).startsWith("<svg").endsWith("</svg>");
    assertThat(new BytesPlot(List.of(new Point(5, Bytes.NONE))).svg()).doesNotContain("NaN");
  }

  @Test
  void axesHaveRoundLabelsWithUnits() {
    String svg = new BytesPlot(application().points()).svg();
    assertThat(svg)
        .contains(">20 GiB</text>", ">10 GiB</text>", ">0 GiB</text>", ">bytes so far</text>")
        .contains(">time since the first shuffle (s)</text>", ">70</text>");
  }
}
