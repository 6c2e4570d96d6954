// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.driver.DriverRuntime.LostExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Arrival;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.NoBroadcasts;
import java.io.IOException;
import java.util.List;
import org.apache.spark.scheduler.SparkListenerBlockManagerRemoved;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import scala.Option;

class LostExecutorsTest {
  private static final ExecutorEndpoint ENDPOINT =
      new ExecutorEndpoint(new PeerAddress("1", "host", 4000), "soft");

  private final LocationDirectory directory =
      new LocationDirectory(
          new LocationDirectory.Shipping(new NoBroadcasts(), Runnable::run, 1000),
          1000,
          _ -> true,
          _ -> {});
  private final LostExecutors listener = new LostExecutors(directory::executorLost);

  @Test
  void anExecutorWhoseBlockManagerWasRemovedKeepsLaterPublications() throws IOException {
    directory.handle(new Publish(ENDPOINT, List.of()));

    listener.onBlockManagerRemoved(
        new SparkListenerBlockManagerRemoved(
            1, BlockManagerId.apply("1", "host", 7, Option.empty())));

    assertThat(executors()).extracting(Arrival::endpoint).containsExactly(ENDPOINT);
  }

  @Test
  void anExecutorThatWasRemovedIsGone() throws IOException {
    directory.handle(new Publish(ENDPOINT, List.of()));

    listener.onExecutorRemoved(new SparkListenerExecutorRemoved(1, "1", "killed"));

    assertThat(executors()).isEmpty();
  }

  private List<Arrival> executors() throws IOException {
    return ((Table) directory.handle(new Locate(3, 0, 0, 0)).join()).executors().arrived();
  }
}
