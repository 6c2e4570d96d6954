// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * RPC endpoint of the {@link LocationDirectory} on the driver. Spark's dispatcher calls it. The
 * directory works on one thread of its own, {@code sluice-location-directory}, so that other
 * endpoints do not wait for its lock. No answer may block that thread: all executors wait for it.
 * {@code DriverRuntime} opens and closes it. Each message gets a reply or a failure, or its asker
 * waits for its timeout.
 */
public final class DirectoryEndpoint implements ThreadSafeRpcEndpoint, AutoCloseable {
  static final String NAME = "SluiceLocationDirectory";

  private final RpcEnv rpcEnv;
  private final LocationDirectory directory;
  private final Function<PeerAddress, CompletableFuture<Void>> nodeCheck;
  private final ExecutorService worker =
      Executors.newSingleThreadExecutor(DaemonThreads.named("sluice-location-directory"));

  @SuppressWarnings("NullAway.Init") // set by open()
  private RpcEndpointRef reference;

  private DirectoryEndpoint(
      RpcEnv rpcEnv,
      LocationDirectory directory,
      Function<PeerAddress, CompletableFuture<Void>> nodeCheck) {
    this.rpcEnv = rpcEnv;
    this.directory = directory;
    this.nodeCheck = nodeCheck;
  }

  /**
   * Serves the directory; {@link #close} closes it.
   *
   * @param nodeCheck asks a node daemon that has not answered an executor; never blocks, and
   *     completes when the directory has recorded the result
   */
  public static DirectoryEndpoint open(
      RpcEnv rpcEnv,
      LocationDirectory directory,
      Function<PeerAddress, CompletableFuture<Void>> nodeCheck) {
    DirectoryEndpoint endpoint = new DirectoryEndpoint(rpcEnv, directory, nodeCheck);
    endpoint.reference = rpcEnv.setupEndpoint(NAME, endpoint);
    return endpoint;
  }

  @Override
  public RpcEnv rpcEnv() {
    return rpcEnv;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
    return new AbstractPartialFunction<>() {
      @Override
      public boolean isDefinedAt(Object message) {
        return message instanceof byte[];
      }

      @Override
      public BoxedUnit apply(Object message) {
        try {
          worker.execute(() -> answer((byte[]) message, context));
        } catch (RejectedExecutionException e) {
          context.sendFailure(new IllegalStateException("the location directory is closed"));
        }
        return BoxedUnit.UNIT;
      }
    };
  }

  private void answer(byte[] message, RpcCallContext context) {
    try {
      DirectoryMessage question = DirectoryMessage.decode(message);
      if (question instanceof Silent(PeerAddress node)) {
        byte[] checked = new Ack().encode();
        nodeCheck.apply(node).whenComplete((_, _) -> context.reply(checked));
      } else {
        directory
            .handle(question)
            .whenComplete((answer, failure) -> reply(context, answer, failure));
      }
    } catch (Throwable e) { // Errors too: the asker waits.
      fail(context, e);
    }
  }

  private void reply(RpcCallContext context, DirectoryMessage answer, Throwable failure) {
    if (failure != null) {
      fail(context, failure);
      return;
    }
    try {
      context.reply(answer.encode());
    } catch (Throwable e) { // Errors too: no other code sees them, and the asker waits.
      fail(context, e);
    }
  }

  /** Sends the failure as text: the asker's serializer may not know the exception's class. */
  private static void fail(RpcCallContext context, Throwable failure) {
    context.sendFailure(new IllegalStateException(failure.toString()));
  }

  @Override
  public void close() {
    rpcEnv.stop(reference);
    worker.shutdownNow();
  }
}
