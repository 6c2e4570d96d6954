// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.mapreduce.NodeReadException;
import dev.sluice.mapreduce.NodeReader;
import dev.sluice.mapreduce.RemotePartition;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs one reduce task's partitions. The task's fetchers call it on their threads, which wait
 * here. Owns a device with its queue pairs and buffers, and the connections to block servers.
 * {@link JobReaderFactory} makes it; the plug-in closes it.
 */
final class JobReader implements NodeReader {
  private static final Logger LOG = LoggerFactory.getLogger(JobReader.class);

  /**
   * Settings of Spark's transport. It carries only requests, and a task starts sooner with Java's
   * sockets and ciphers than with native libraries, which it would have to unpack. A port that does
   * not answer, or a daemon that does not authenticate, is given up sooner than a request, for
   * which the daemon may wait for disks.
   */
  private static final Map<String, String> TRANSPORT =
      Map.of(
          "spark.sluice.io.clientThreads", "1",
          "spark.sluice.io.mode", "NIO",
          "spark.sluice.io.connectionCreationTimeout", "10s",
          "spark.network.auth.rpcTimeout", "20s",
          "spark.network.crypto.config.cipher.classes",
              "org.apache.commons.crypto.cipher.JceCipher");

  private final String job;
  private final ReaderSettings settings;
  private final int partition;
  private final ExecutorService blocking = DaemonThreads.blocking();
  private final BlockServerClient servers;
  private final RdmaEndpoint endpoint;
  private final SilentNodes silentNodes = new SilentNodes();

  /** Nodes by the names that map completion events have. */
  private final Map<String, JobNode> nodes = new ConcurrentHashMap<>();

  /**
   * @param self name of the job at the nodes, and of this reader
   * @throws IOException if no device can be opened, with the reason
   */
  JobReader(ProcessName self, String secret, int partition, ReaderSettings settings)
      throws IOException {
    this.job = self.application();
    this.settings = settings;
    this.partition = partition;
    TransferOptions options = settings.transferOptions();
    CompletableFuture<Device> device = openDevice(settings, options);
    try {
      servers = transport(self, secret, options);
    } catch (RuntimeException | Error e) {
      device.thenAccept(Device::close);
      blocking.shutdown();
      throw e;
    }
    String own = ownNode();
    // Its map outputs, if there are any, are wanted as well.
    @Nullable CompletableFuture<Registered> search =
        own == null ? null : servers.findJob(JobNode.jobPort(own, settings), job);
    boolean opened = false;
    try {
      endpoint = RdmaEndpoint.open(await(device), options, servers);
      opened = true;
    } finally {
      if (!opened) {
        servers.close();
        blocking.shutdown();
      }
    }
    LOG.info(
        "{} READs map outputs by provider {}, device {}",
        self.id(),
        endpoint.device().providerName(),
        endpoint.device().name());
    if (own != null && search != null) {
      node(own).await(search);
    }
  }

  /**
   * Opens the device on a thread of its own: in a new process, loading its classes takes as long as
   * loading those of the transport, which this thread does meanwhile.
   */
  private static CompletableFuture<Device> openDevice(
      ReaderSettings settings, TransferOptions options) {
    CompletableFuture<Device> device = new CompletableFuture<>();
    DaemonThreads.named("sluice-device")
        .newThread(
            () -> {
              try {
                device.complete(
                    Providers.open(
                        settings.get(ReaderSettings.PROVIDER),
                        localAddress(),
                        settings.verbsOptions(options),
                        SoftOptions.DEFAULT));
              } catch (Throwable e) { // Errors too: the constructor waits for it.
                device.completeExceptionally(e);
              }
            })
        .start();
    return device;
  }

  private static Device await(CompletableFuture<Device> device) throws IOException {
    try {
      return device.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private BlockServerClient transport(ProcessName self, String secret, TransferOptions options) {
    TransportConf conf = ApplicationSecret.transport(TRANSPORT);
    try (NettyStart _ = new NettyStart()) {
      return new BlockServerClient(
          self,
          conf,
          List.of(new AuthClientBootstrap(conf, job, new ApplicationSecret(secret))),
          options,
          settings.get(ReaderSettings.TIMEOUT_MS),
          () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
          blocking);
    }
  }

  /** Returns the name by which YARN knows this node; null outside of YARN. */
  private static @Nullable String ownNode() {
    return System.getenv("NM_HOST");
  }

  /** Address by which YARN knows this node, or the address of the machine's name. */
  private static InetAddress localAddress() throws IOException {
    String own = ownNode();
    return own == null ? InetAddress.getLocalHost() : InetAddress.getByName(own);
  }

  @Override
  public List<RemotePartition> locate(String host, long[] mapIds)
      throws NodeReadException, InterruptedException {
    return node(host).locate(mapIds, partition);
  }

  private JobNode node(String host) {
    return nodes.computeIfAbsent(
        host,
        name -> new JobNode(job, name, servers, endpoint, settings, silentNodes, System::nanoTime));
  }

  @Override
  public InputStream open(List<RemotePartition> wanted) {
    List<NodePartition> partitions = wanted.stream().map(NodePartition.class::cast).toList();
    return new BatchStream(
        servers, endpoint, partition, partitions, settings.get(ReaderSettings.TIMEOUT_MS));
  }

  @Override
  public void close() {
    endpoint.close();
    servers.close();
    blocking.shutdown();
  }
}
