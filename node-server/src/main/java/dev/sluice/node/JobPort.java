// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.node.StateFile.ApplicationState;
import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Port of a node for the readers of all MapReduce jobs, the same at all nodes. A reader
 * authenticates with the job's name and secret. The job's block server then answers over the same
 * connection ({@link JobHandler}). The {@link NodeDaemon} creates and closes it. The transport's
 * threads, 2 to 8 for all jobs, call it and must not block; a {@link JobLookup} reads the secrets.
 */
final class JobPort implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JobPort.class);

  private final JobLookup jobs;
  private final Applications applications;
  private final JobOpener opener;
  private final TransportConf conf = ApplicationPort.transport();
  private final BlockServer server;

  /**
   * Listens at once.
   *
   * @param host address by which readers reach the node
   * @param jobs reads the node's jobs; waits for disks
   * @param applications serve them
   * @throws IOException if the port is not free
   */
  JobPort(String host, int port, JobLookup.Finder jobs, Applications applications)
      throws IOException {
    this.jobs = new JobLookup(jobs, System::nanoTime);
    this.applications = applications;
    opener = new JobOpener(applications, JobOpener.TIMEOUT);
    try {
      server =
          new BlockServer(
              new BlockServer.Binding(
                  conf,
                  ApplicationPort.bindAddress(host),
                  port,
                  List.of((channel, _) -> new Connection(channel))),
              new NoOpRpcHandler());
    } catch (Exception e) { // Netty throws a BindException without declaring it.
      throw new IOException(e.getMessage(), e);
    }
  }

  /**
   * Requests of a connection. The first one has the job's name: Spark's authentication gets it when
   * the job's secret is known. The secret comes from the job if that is served, otherwise from a
   * disk. Requests that follow the authentication go to a {@link JobHandler}. Only the channel's
   * thread uses the fields.
   */
  private final class Connection extends RpcHandler {
    private final Channel channel;
    private final StreamManager noStreams = new OneForOneStreamManager();
    private boolean reads;

    /** Spark's authentication; null until the secret is known. */
    private @Nullable RpcHandler authentication;

    Connection(Channel channel) {
      this.channel = channel;
    }

    @Override
    public void receive(TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
      if (authentication != null) {
        authentication.receive(client, frame, callback);
      } else if (reads) {
        callback.onFailure(new IllegalStateException("the job's secret is being read"));
      } else {
        findSecret(client, frame, callback);
      }
    }

    private void findSecret(
        TransportClient client, ByteBuffer frame, RpcResponseCallback callback) {
      try {
        String name = name(frame.duplicate());
        ApplicationState served = applications.servedJob(name);
        if (served != null) {
          authenticate(client, frame, callback, served);
          return;
        }
        ByteBuffer first = ByteBuffer.allocate(frame.remaining()).put(frame).flip();
        jobs.find(name)
            .whenComplete((job, e) -> answer(() -> secretRead(client, first, callback, job, e)));
        reads = true;
      } catch (IOException | RejectedExecutionException e) {
        LOG.debug("A connection from {} is refused", client.getSocketAddress(), e);
        callback.onFailure(e);
      }
    }

    /** Drops one-way messages that come before the authentication. */
    @Override
    public void receive(TransportClient client, ByteBuffer frame) {
      if (authentication != null) {
        authentication.receive(client, frame);
      }
    }

    @Override
    public void channelInactive(TransportClient client) {
      if (authentication != null) {
        authentication.channelInactive(client);
      }
    }

    /** Goes on on the channel's thread. */
    private void answer(Runnable next) {
      try {
        channel.eventLoop().execute(next);
      } catch (RejectedExecutionException e) {
        LOG.debug("This port is closed", e);
      }
    }

    /**
     * @param job null if the job is not served here
     * @param failure null if it is
     */
    private void secretRead(
        TransportClient client,
        ByteBuffer first,
        RpcResponseCallback callback,
        @Nullable ApplicationState job,
        @Nullable Throwable failure) {
      reads = false;
      if (job != null) {
        authenticate(client, first, callback, job);
      } else {
        LOG.debug("A connection from {} is refused", client.getSocketAddress(), failure);
        callback.onFailure(failure);
      }
    }

    private void authenticate(
        TransportClient client,
        ByteBuffer first,
        RpcResponseCallback callback,
        ApplicationState job) {
      try {
        authentication =
            new AuthServerBootstrap(conf, new ApplicationSecret(job.secret()))
                .doBootstrap(channel, new JobHandler(channel, job, opener));
        authentication.receive(client, first, callback);
      } catch (RuntimeException e) { // The transport answers it only for its own calls.
        callback.onFailure(e);
      }
    }

    /** Both of Spark's protocols begin with a byte, and the length and the bytes of the name. */
    private static String name(ByteBuffer frame) throws IOException {
      try {
        frame.get();
        int length = frame.getInt();
        if (length < 0 || length > frame.remaining()) {
          throw new BufferUnderflowException();
        }
        byte[] name = new byte[length];
        frame.get(name);
        return new String(name, StandardCharsets.UTF_8);
      } catch (BufferUnderflowException e) {
        throw new IOException("the connection does not authenticate", e);
      }
    }

    @Override
    public StreamManager getStreamManager() {
      return noStreams;
    }
  }

  @Override
  public void close() {
    server.close();
    jobs.close();
    opener.close();
  }
}
