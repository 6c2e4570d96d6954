// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.SparkBroadcasts;
import java.io.File;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.netty.SparkTransportConf$;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Some;

/**
 * Takes an executor's services from the complete SparkEnv, which parts below do not use. {@code
 * SluiceShuffle} calls it on the thread that starts the runtime. {@code DriverRuntime} takes the
 * driver's transport from it when the first shuffle is registered. It opens nothing.
 */
public final class ExecutorEnvironment {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorEnvironment.class);

  /** Threads of the control channel, which carries a few small messages per peer and shuffle. */
  private static final int TRANSPORT_THREADS = 2;

  private ExecutorEnvironment() {}

  /** Returns the services. Call it when tasks run, because SparkEnv is complete only then. */
  public static SluiceRuntime.Environment of(
      SparkEnv env, DriverChannel driver, MapOutputFiles files) {
    return new SluiceRuntime.Environment(
        env.conf(),
        new SluiceRuntime.Executor(
            env.executorId(),
            env.blockManager().blockManagerId().host(),
            cores(env.memoryManager())),
        network(env),
        driver,
        new SparkBroadcasts(env.blockManager()),
        files,
        localDirectories(env));
  }

  /** Returns Spark's own transport, on an executor or the driver. */
  public static SluiceRuntime.Network network(SparkEnv env) {
    SparkConf conf = env.conf();
    SecurityManager security = env.securityManager();
    TransportConf transportConf =
        SparkTransportConf$.MODULE$.fromSparkConf(
            conf,
            "shuffle",
            TRANSPORT_THREADS,
            Option.empty(),
            new Some<>(security.getRpcSSLOptions()));
    return new SluiceRuntime.Network(
        transportConf,
        serverBootstraps(transportConf, security),
        clientBootstraps(transportConf, security, conf),
        security.isAuthenticationEnabled() ? security.getSecretKey() : "",
        env.blockManager().blockStoreClient());
  }

  /**
   * Returns the number of cores that the executor was granted. Its configuration does not say it:
   * local mode takes it from its master, and a standalone cluster grants all of a worker's by
   * default. Spark divides memory by this number, and no accessor returns it.
   */
  static int cores(MemoryManager memory) {
    int machine = Runtime.getRuntime().availableProcessors();
    try {
      Field numCores = MemoryManager.class.getDeclaredField("numCores");
      numCores.setAccessible(true);
      int granted = numCores.getInt(memory);
      return granted > 0 ? granted : machine;
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.warn(
          "Cannot find out this executor's number of cores; assuming the machine's {}", machine, e);
      return machine;
    }
  }

  private static List<Path> localDirectories(SparkEnv env) {
    return Arrays.stream(env.blockManager().diskBlockManager().localDirs())
        .map(File::toPath)
        .toList();
  }

  private static List<TransportServerBootstrap> serverBootstraps(
      TransportConf transportConf, SecurityManager security) {
    return security.isAuthenticationEnabled()
        ? List.of(new AuthServerBootstrap(transportConf, security))
        : List.of();
  }

  private static List<TransportClientBootstrap> clientBootstraps(
      TransportConf transportConf, SecurityManager security, SparkConf conf) {
    return security.isAuthenticationEnabled()
        ? List.of(new AuthClientBootstrap(transportConf, conf.getAppId(), security))
        : List.of();
  }
}
