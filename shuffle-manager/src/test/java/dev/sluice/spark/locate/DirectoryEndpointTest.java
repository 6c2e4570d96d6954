// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SecurityManager;
import org.apache.spark.SecurityManager$;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcEnv$;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Asks the directory by Spark's RPC. */
class DirectoryEndpointTest {
  private static final String HOST = "127.0.0.1";
  private static final long TIMEOUT_MS = 20_000;

  private final FakeBroadcasts broadcasts = new FakeBroadcasts();
  private final LocationDirectory directory =
      new LocationDirectory(broadcasts.shipping(), 1000, _ -> true, _ -> fail());
  private RpcEnv rpcEnv;
  private DirectoryEndpoint endpoint;
  private DriverChannel channel;

  private static CompletableFuture<Void> fail() {
    throw new NoClassDefFoundError("of the test");
  }

  @BeforeEach
  void open() {
    SparkConf conf = new SparkConf(false);
    SecurityManager security =
        new SecurityManager(
            conf,
            SecurityManager$.MODULE$.$lessinit$greater$default$2(),
            SecurityManager$.MODULE$.$lessinit$greater$default$3());
    rpcEnv = RpcEnv$.MODULE$.create("test", HOST, HOST, 0, conf, security, 1, false);
    endpoint = DirectoryEndpoint.open(rpcEnv, directory, _ -> fail());
    conf.set("spark.driver.host", HOST);
    conf.set("spark.driver.port", "" + rpcEnv.address().port());
    channel = new RpcDriverChannel(conf, rpcEnv, TIMEOUT_MS);
  }

  @AfterEach
  void close() {
    endpoint.close();
    rpcEnv.shutdown();
    rpcEnv.awaitTermination();
  }

  @Test
  void errorInTheDirectoryIsAnAnswer() throws Exception {
    assertThatThrownBy(() -> channel.ask(new Report("1", 1, "soft/soft0", Map.of(), List.of())))
        .rootCause()
        .hasMessageContaining("NoClassDefFoundError: of the test");
    assertTheDirectoryAnswers();
  }

  @Test
  void errorInTheCheckOfANodeIsAnAnswer() throws Exception {
    assertThatThrownBy(() -> channel.ask(new Silent(new PeerAddress("node", HOST, 1))))
        .rootCause()
        .hasMessageContaining("NoClassDefFoundError: of the test");
    assertTheDirectoryAnswers();
  }

  private void assertTheDirectoryAnswers() throws Exception {
    assertThat(channel.ask(new Find("1"))).isEqualTo(new Found(false, Optional.empty()));
  }
}
