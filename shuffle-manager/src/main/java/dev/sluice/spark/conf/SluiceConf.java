// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.Cgroup;
import dev.sluice.blocks.conf.EnvironmentHints;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.Setting;
import dev.sluice.blocks.directory.RegionLimit;
import dev.sluice.blocks.directory.RegistrationMode;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.util.RpcUtils;

/**
 * The configuration as the code reads it: immutable, typed, validated. {@code SluiceShuffle}'s
 * constructor makes one, on the driver before executors start, so that errors are reported there.
 * {@code DriverRuntime}, each executor's start and the doctor make their own. Any thread. Memory
 * limits are derived once; other methods parse their keys at each call, so none is for use per
 * block.
 */
public final class SluiceConf {
  /** Keys that make Spark encrypt its network; the first two only with spark.authenticate. */
  private static final List<String> WIRE_ENCRYPTION =
      List.of(
          "spark.network.crypto.enabled",
          "spark.authenticate.enableSaslEncryption",
          "spark.ssl.rpc.enabled");

  /**
   * Data of the auxiliary service sluice_node, from a NodeManager of YARN to its containers, in
   * Base64. The name is YARN's prefix and that of the service.
   */
  private static final String NODE_MANAGERS_SOCKET = "NM_AUX_SERVICE_sluice_node";

  private final SparkConf conf;
  private final Path root;
  private final Map<String, String> environment;
  private final MemoryBudget budget;

  /**
   * @throws IllegalArgumentException for an unknown key and a value that is not allowed
   */
  public SluiceConf(SparkConf conf) {
    this(conf, Path.of("/"), System.getenv());
  }

  SluiceConf(SparkConf conf, Path root, Map<String, String> environment) {
    Settings.validate(conf);
    this.conf = conf.clone();
    this.root = root;
    this.environment = environment;
    MemoryBudget derived =
        MemoryBudget.derive(
            ExecutorMemory.of(conf), value(Settings.MEMORY_SHARE), new Cgroup(root).memoryMax());
    this.budget =
        new MemoryBudget(
            readsForbidden() ? 0 : or(Settings.REGISTRATION_MAX_BYTES, derived.registrationBytes()),
            or(Settings.BUFFERS_MAX_BYTES, derived.bufferBytes()),
            or(Settings.STAGING_MAX_BYTES, derived.stagingBytes()));
  }

  /** Returns {@code auto}, {@code verbs}, {@code soft} or {@code off}. */
  public String provider() {
    return value(Settings.PROVIDER);
  }

  /** Returns true if the provider was asked for by name, so that no other may take its place. */
  public boolean isRequired() {
    return provider().equals("verbs") || provider().equals("soft");
  }

  /** Returns why blocks are not READ with any provider; empty if they are. */
  public Optional<String> offReason() {
    return conf.getBoolean("spark.shuffle.useOldFetchProtocol", false)
        ? Optional.of("spark.shuffle.useOldFetchProtocol is true, and map ids are then not unique")
        : Optional.empty();
  }

  /** Returns the way to the node daemon; empty if map outputs are not handed over. */
  public Optional<NodeAccess> node() {
    return isNodeRequired()
        ? Optional.of(
            new NodeAccess(
                conf.get(Settings.NODE_INCARNATION.key(), ""),
                nodeSocket(),
                new NodeClient.Limits(
                    Duration.ofMillis(value(Settings.NODE_TIMEOUT)),
                    Duration.ofMillis(nodeAwayTimeoutMs()))))
        : Optional.empty();
  }

  /** Returns the configured socket, else the one that a NodeManager of YARN gives. */
  private Path nodeSocket() {
    String given = environment.get(NODE_MANAGERS_SOCKET);
    return given == null || conf.contains(Settings.NODE_SOCKET.key())
        ? value(Settings.NODE_SOCKET)
        : Path.of(new String(Base64.getDecoder().decode(given), StandardCharsets.UTF_8));
  }

  /**
   * Returns true if Spark was told that map outputs outlive their executors. Node daemons serve
   * those that they take.
   */
  public boolean isNodeRequired() {
    return value(Settings.NODE).equals("on") || value(Settings.NODE).equals("required");
  }

  /** Returns how long a node daemon that takes no connections is waited for. */
  public long nodeAwayTimeoutMs() {
    return value(Settings.NODE_AWAY_TIMEOUT);
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
    return budget.registrationBytes();
  }

  /** Returns the limit of the memory for staging blocks that are not registered, in bytes. */
  public long stagingMaxBytes() {
    return budget.stagingBytes();
  }

  /**
   * Returns the limit of memory regions.
   *
   * @param asFiles true if each region is an open file, false if it is a mapping
   */
  public int maxRegions(boolean asFiles) {
    return (asFiles ? RegionLimit.FILES : RegionLimit.MAPPINGS).derive(root);
  }

  /** Returns how map outputs become memory regions. */
  public RegistrationMode registrationMode() {
    return value(Settings.REGISTRATION_MODE);
  }

  public long registrationIdleTimeoutMs() {
    return value(Settings.REGISTRATION_IDLE_TIMEOUT);
  }

  public long buffersMaxBytes() {
    return budget.bufferBytes();
  }

  /** Returns how long Spark's own RPC waits for an answer. */
  public long rpcTimeoutMs() {
    return RpcUtils.askRpcTimeout(conf).duration().toMillis();
  }

  public long locateTimeoutMs() {
    return value(Settings.LOCATE_TIMEOUT);
  }

  public int port() {
    return value(Settings.PORT);
  }

  /** Returns the number of ports that are tried after a taken one, as Spark does for its own. */
  public int portRetries() {
    return conf.getInt("spark.port.maxRetries", conf.contains("spark.testing") ? 100 : 16);
  }

  /** Returns the options with which the software provider opens its device. */
  public SoftOptions softOptions() {
    FaultPlan faults = Settings.get(conf, Settings.SOFT_FAULTS);
    return SoftOptions.DEFAULT.with(
        o -> {
          o.faults = faults == null ? FaultPlan.NONE : faults;
          o.port = value(Settings.DATA_PORT);
          o.portRetries = portRetries();
        });
  }

  /** Returns true if blocks are not served to Spark's own transport. Ignores all other keys. */
  public static boolean refusesNetty(SparkConf conf) {
    return requireNonNull(Settings.get(conf, Settings.TESTING_REFUSE_NETTY));
  }

  /** Returns true if an executor READs its own blocks as well, for tests. */
  public boolean readsOwnBlocks() {
    return value(Settings.TESTING_LOOPBACK);
  }

  /**
   * Returns the options with which the verbs provider opens its device. Variables of other RDMA
   * software count here. If the configuration itself names ports, they reach each other, and
   * executors spread over them.
   */
  public VerbsOptions verbsOptions() {
    return Settings.VERBS
        .configure(
            new EnvironmentHints(environment, conf::contains).verbsOptions(),
            key -> conf.get(key, null))
        .with(o -> o.registeredBytes = lockedBytes());
  }

  /**
   * Returns the most bytes that may be locked: registered memory and queue pairs. With on-demand
   * paging of map outputs, the budget is that of partition tables, which are pinned.
   */
  private long lockedBytes() {
    return budget.lockedBytes() + transferOptions().queuePairBytes();
  }

  /** Returns the limits of registered memory as configured. */
  public MemoryBudget budget() {
    return budget;
  }

  /** Returns the limits and times of this process's RDMA endpoint. */
  public TransferOptions transferOptions() {
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = budget.bufferBytes();
          o.maxQueuePairs = value(Settings.CONNECTIONS_MAX);
          o.sendQueueDepth = value(Settings.SEND_QUEUE_DEPTH);
          o.maxReadBytes = value(Settings.READ_MAX_BYTES).intValue();
          o.connectTimeoutMs = value(Settings.CONNECT_TIMEOUT).intValue();
          o.idleTimeoutMs = value(Settings.CONNECTIONS_IDLE_TIMEOUT).intValue();
          o.circuitFailures = value(Settings.CIRCUIT_FAILURES);
          o.circuitCooldownMs = value(Settings.CIRCUIT_COOLDOWN).intValue();
          o.spinMicros = value(Settings.READ_SPIN).intValue();
          o.connection = connectionAttributes();
        });
  }

  /**
   * Returns the options of reading.
   *
   * @param cores cores of this executor, on which its tasks run
   */
  public ReadOptions readOptions(int cores) {
    return ReadOptions.DEFAULT.with(
        o -> {
          o.verifyChecksums = value(Settings.VERIFY_CHECKSUMS);
          o.readTimeoutMs = value(Settings.READ_TIMEOUT);
          o.bufferWaitMs = value(Settings.BUFFERS_WAIT_TIMEOUT);
          o.maxGroupBytes = value(Settings.READ_MAX_BYTES).intValue();
          o.gatherBytes = gatherBytes(cores);
          o.hedge = value(Settings.READ_HEDGE);
        });
  }

  /**
   * Returns the limit of a task's batch fetches: half of the buffers, divided among the tasks that
   * run at a time. The other half is for blocks that are READ one by one and for partition tables.
   * It is at most the limit of one of Spark's iterators.
   */
  private long gatherBytes(int cores) {
    if (!value(Settings.GATHER) || !value(Settings.VERIFY_CHECKSUMS)) {
      return 0;
    }
    int tasks = Math.max(1, cores / conf.getInt("spark.task.cpus", 1));
    long maxInFlight = conf.getSizeAsMb("spark.reducer.maxSizeInFlight", "48m") << 20;
    return Math.min(maxInFlight, budget.bufferBytes() / 2 / tasks);
  }

  private ConnectionAttributes connectionAttributes() {
    return ConnectionAttributes.DEFAULT.with(
        c -> {
          c.timeoutExponent = value(Settings.TIMEOUT_EXPONENT);
          c.retryCount = value(Settings.RETRY_COUNT);
          c.rnrRetry = value(Settings.RNR_RETRY);
          c.minRnrTimer = value(Settings.MIN_RNR_TIMER);
          c.maxRdAtomic = value(Settings.MAX_RD_ATOMIC);
        });
  }

  /**
   * Returns true if remote blocks stay on Spark's own transport: Spark has to encrypt its network,
   * READs are neither encrypted nor authenticated, and the configuration does not allow that.
   * Encrypted files make no difference: their ciphers hide bytes, but do not reveal changes.
   */
  public boolean readsForbidden() {
    return !value(Settings.ALLOW_PLAINTEXT)
        && WIRE_ENCRYPTION.stream().anyMatch(key -> conf.getBoolean(key, false));
  }

  private <T> T value(Setting<T> setting) {
    return requireNonNull(Settings.get(conf, setting));
  }

  private long or(Setting<Long> setting, long derived) {
    Long value = Settings.get(conf, setting);
    return value == null ? derived : value;
  }
}
