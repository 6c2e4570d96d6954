// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class OpeningReaderTest {
  private static final String HOST = "host";
  private static final long[] IDS = {1};

  private final CountDownLatch isReady = new CountDownLatch(1);
  private final CountDownLatch isClosed = new CountDownLatch(1);

  /** A reader with one map output of one byte. */
  private final class Opened implements NodeReader {
    @Override
    public List<RemotePartition> locate(String host, long[] mapIds) {
      return Collections.singletonList(new RemotePartition(mapIds[0], HttpReason.SIZE));
    }

    @Override
    public InputStream open(List<RemotePartition> wanted) {
      return new ByteArrayInputStream(new byte[1]);
    }

    @Override
    public void close() {
      isClosed.countDown();
    }
  }

  private NodeReader open() {
    return new OpeningReader(
        () -> {
          try {
            isReady.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return new Opened();
        });
  }

  @Test
  void fetchersWaitForTheReader() throws Exception {
    NodeReader reader = open();
    CompletableFuture<List<RemotePartition>> located =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return reader.locate(HOST, IDS);
              } catch (NodeReadException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    assertThat(located).isNotDone();
    isReady.countDown();
    assertThat(located.get(30, TimeUnit.SECONDS)).hasSize(1);
    assertThat(reader.open(located.get()).read()).isZero();
    reader.close();
    assertThat(isClosed.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aReaderThatIsOpenedTooLateIsClosed() throws Exception {
    open().close();
    isReady.countDown();
    assertThat(isClosed.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void eachFetcherGetsTheReasonWhyThereIsNone() {
    NodeReadException none = new NodeReadException(HttpReason.OFF, "no device", null);
    NodeReader reader =
        new OpeningReader(
            () -> {
              throw none;
            });
    for (String host : Arrays.asList(HOST, "another")) {
      assertThatThrownBy(() -> reader.locate(host, IDS)).isSameAs(none);
    }
  }

  @Test
  void aDefectIsAReasonToo() {
    NodeReader reader =
        new OpeningReader(
            () -> {
              throw new AssertionError("scripted");
            });
    assertThatThrownBy(() -> reader.locate(HOST, IDS))
        .isInstanceOfSatisfying(
            NodeReadException.class, e -> assertThat(e.reason()).isEqualTo(HttpReason.OFF))
        .hasMessageContaining("scripted");
  }
}
