package dev.sluice.spark.locate;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Puts the {@link LocationDirectory} on the driver's RPC environment. Spark's dispatcher calls it;
 * the directory works on one thread of its own, so that other endpoints do not wait for broadcasts.
 * The driver's shuffle manager opens and closes it.
 */
public final class DirectoryEndpoint implements ThreadSafeRpcEndpoint, AutoCloseable {
  static final String NAME = "SluiceLocationDirectory";

  private final DirectoryCodec codec = new DirectoryCodec();
  private final RpcEnv rpcEnv;
  private final LocationDirectory directory;
  private final ExecutorService worker =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform()
              .daemon()
              .name("sluice-location-directory")
              .inheritInheritableThreadLocals(false)
              .factory());

  private RpcEndpointRef reference;

  private DirectoryEndpoint(RpcEnv rpcEnv, LocationDirectory directory) {
    this.rpcEnv = rpcEnv;
    this.directory = directory;
  }

  /** Serves the directory; {@link #close} closes it. */
  public static DirectoryEndpoint open(RpcEnv rpcEnv, LocationDirectory directory) {
    DirectoryEndpoint endpoint = new DirectoryEndpoint(rpcEnv, directory);
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
      context.reply(codec.encode(directory.handle(codec.decode(message))));
    } catch (Exception e) {
      // As text: the asker's serializer may not know the exception's class.
      context.sendFailure(new IllegalStateException(e.toString()));
    }
  }

  @Override
  public void close() {
    rpcEnv.stop(reference);
    worker.shutdownNow();
  }
}
