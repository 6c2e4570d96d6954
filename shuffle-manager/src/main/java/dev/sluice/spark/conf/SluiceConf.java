// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorMemory;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.directory.RegionLimit;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.util.RpcUtils;
import scala.Tuple2;

/**
 * The configuration as the code reads it: immutable, typed, validated. It adds to {@link
 * ExecutorConf} the values that need Spark. {@code SluiceShuffle}'s constructor makes one, on the
 * driver before executors start, so that errors are reported there. {@code DriverRuntime}, each
 * executor's start and the doctor make their own. Any thread. Memory limits are derived once; other
 * methods parse their keys at each call, so none is for use per block.
 */
public final class SluiceConf extends ExecutorConf {
  private static final long MIB = 1L << 20;

  private final SparkConf conf;
  private final Path root;

  /**
   * @throws IllegalArgumentException for an unknown key and a value that is not allowed
   */
  public SluiceConf(SparkConf conf) {
    this(conf, Path.of("/"), System.getenv());
  }

  SluiceConf(SparkConf conf, Path root, Map<String, String> environment) {
    this(root, environment, validated(conf));
  }

  private SluiceConf(Path root, Map<String, String> environment, SparkConf own) {
    super(values(own), new Jvm(Runtime.getRuntime().maxMemory(), root, environment));
    this.conf = own;
    this.root = root;
  }

  /** Returns a copy of an allowed configuration, which later changes do not reach. */
  private static SparkConf validated(SparkConf conf) {
    validate(Stream.of(conf.getAll()).collect(Collectors.toMap(Tuple2::_1, Tuple2::_2)));
    return conf.clone();
  }

  /** Returns the texts that are set, under other names of their keys as well. */
  private static UnaryOperator<String> values(SparkConf conf) {
    return key -> conf.get(key, null);
  }

  /**
   * Sets the memory overhead of the default resource profile in the configuration that executors
   * get from the driver. Called on the driver before executors start.
   */
  public static void announceOverhead(SparkConf conf) {
    String key = ExecutorSettings.DEFAULT_MEMORY_OVERHEAD.key();
    conf.remove(key); // a copied configuration may have it
    conf.set(key, ExecutorMemory.overhead(values(conf)) / MIB + "m");
  }

  /** Returns true if the provider was asked for by name, so that no other may take its place. */
  public boolean isRequired() {
    return provider().equals("verbs") || provider().equals("soft");
  }

  /** Returns the way to the node daemon; empty if map outputs are not handed over. */
  public Optional<NodeAccess> node() {
    return isNodeRequired()
        ? Optional.of(
            new NodeAccess(
                conf.get(ExecutorSettings.NODE_INCARNATION.key(), ""),
                nodeSocket(),
                nodeUser(),
                new NodeClient.Limits(
                    Duration.ofMillis(value(ExecutorSettings.NODE_TIMEOUT)),
                    Duration.ofMillis(nodeAwayTimeoutMs()))))
        : Optional.empty();
  }

  /** Returns how long a node daemon that takes no connections is waited for. */
  public long nodeAwayTimeoutMs() {
    return value(ExecutorSettings.NODE_AWAY_TIMEOUT);
  }

  /** Returns the application with a mark of this run. Other runs may have the same id. */
  public String application() {
    String id = conf.get("spark.app.id", "");
    return node()
        .map(node -> id + "-" + node.incarnation())
        .orElseGet(() -> id + " since " + conf.get("spark.app.startTime", ""));
  }

  /**
   * Returns the limit of registered map outputs of this process in bytes; 0 if no reader may READ
   * them.
   */
  public long registrationMaxBytes() {
    return budget().registrationBytes();
  }

  /** Returns the limit of the memory for staging blocks that are not registered, in bytes. */
  public long stagingMaxBytes() {
    return budget().stagingBytes();
  }

  /**
   * Returns the limit of memory regions.
   *
   * @param asFiles true if each region is an open file, false if it is a mapping
   */
  public int maxRegions(boolean asFiles) {
    return (asFiles ? RegionLimit.FILES : RegionLimit.MAPPINGS).derive(root);
  }

  public long registrationIdleTimeoutMs() {
    return value(ExecutorSettings.REGISTRATION_IDLE_TIMEOUT);
  }

  public long buffersMaxBytes() {
    return budget().bufferBytes();
  }

  /** Returns how long Spark's own RPC waits for an answer. */
  public long rpcTimeoutMs() {
    return RpcUtils.askRpcTimeout(conf).duration().toMillis();
  }

  public long locateTimeoutMs() {
    return value(ExecutorSettings.LOCATE_TIMEOUT);
  }

  public int port() {
    return value(ExecutorSettings.PORT);
  }

  /** Returns the number of ports that are tried after a taken one, as Spark does for its own. */
  public int portRetries() {
    return conf.getInt("spark.port.maxRetries", conf.contains("spark.testing") ? 100 : 16);
  }

  /** Returns the options with which the software provider opens its device. */
  public SoftOptions softOptions() {
    FaultPlan faults = ExecutorSettings.SOFT_FAULTS.get(values(conf));
    return SoftOptions.DEFAULT.with(
        o -> {
          o.faults = faults == null ? FaultPlan.NONE : faults;
          o.port = value(ExecutorSettings.DATA_PORT);
          o.portRetries = portRetries();
        });
  }

  /** Returns true if blocks are not served to Spark's own transport. Ignores all other keys. */
  public static boolean refusesNetty(SparkConf conf) {
    return requireNonNull(ExecutorSettings.TESTING_REFUSE_NETTY.get(values(conf)));
  }

  /** Returns true if an executor READs its own blocks as well, for tests. */
  public boolean readsOwnBlocks() {
    return value(ExecutorSettings.TESTING_LOOPBACK);
  }

  /**
   * Returns the options of reading.
   *
   * @param cores cores of this executor, on which its tasks run
   */
  public ReadOptions readOptions(int cores) {
    return ReadOptions.DEFAULT.with(
        o -> {
          o.verifyChecksums = value(ExecutorSettings.VERIFY_CHECKSUMS);
          o.readTimeoutMs = value(ExecutorSettings.READ_TIMEOUT);
          o.bufferWaitMs = value(ExecutorSettings.BUFFERS_WAIT_TIMEOUT);
          o.maxGroupBytes = value(ExecutorSettings.READ_MAX_BYTES).intValue();
          o.gatherBytes = gatherBytes(cores);
          o.hedge = value(ExecutorSettings.READ_HEDGE);
        });
  }
}
