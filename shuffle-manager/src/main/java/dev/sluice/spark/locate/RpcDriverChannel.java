// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcEndpointAddress;
import org.apache.spark.rpc.RpcEndpointNotFoundException;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcTimeout;
import org.jspecify.annotations.Nullable;
import scala.concurrent.duration.FiniteDuration;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Asks the driver over Spark's RPC. {@code SluiceShuffle} makes one when an executor's runtime
 * starts. {@link DriverChannel} names the callers' threads. Threads of Spark's RPC must not call
 * it, as it waits for their answers. Nothing to close.
 */
public final class RpcDriverChannel implements DriverChannel {
  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final SparkConf conf;
  private final RpcEnv rpcEnv;
  private final RpcTimeout timeout;

  /** Null until it was found; threads that look for it at once find the same. */
  private volatile @Nullable RpcEndpointRef directory;

  public RpcDriverChannel(SparkConf conf, RpcEnv rpcEnv, long timeoutMs) {
    this.conf = conf;
    this.rpcEnv = rpcEnv;
    this.timeout =
        new RpcTimeout(
            new FiniteDuration(timeoutMs, TimeUnit.MILLISECONDS),
            "spark.shuffle.rdma.locate.timeout");
  }

  @Override
  public DirectoryMessage ask(DirectoryMessage message) throws IOException {
    try {
      byte[] answer = directory().askSync(message.encode(), timeout, BYTES);
      return DirectoryMessage.decode(answer);
    } catch (Exception e) {
      // Scala's methods throw checked exceptions without declaring them.
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      throw new IOException("the driver's location directory does not answer: " + e, e);
    }
  }

  @Override
  public boolean hasDirectory() {
    try {
      return directory() != null;
    } catch (Exception e) { // see above
      return Stream.iterate((Throwable) e, Objects::nonNull, Throwable::getCause)
          .noneMatch(RpcEndpointNotFoundException.class::isInstance);
    }
  }

  private RpcEndpointRef directory() {
    if (directory == null) {
      RpcEndpointAddress address =
          new RpcEndpointAddress(
              conf.get("spark.driver.host"),
              conf.getInt("spark.driver.port", 0),
              DirectoryEndpoint.NAME);
      // RpcUtils#makeDriverRef would wait for a timeout of its own.
      directory = timeout.awaitResult(rpcEnv.asyncSetupEndpointRefByURI(address.toString()));
    }
    return directory;
  }
}
