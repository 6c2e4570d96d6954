package dev.sluice.spark.conf;

import dev.sluice.blocks.RegionLimit;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.conf.VerbsSetting;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.spark.read.ReadOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;

/**
 * The configuration as the code reads it: immutable, typed, validated. Made in the shuffle
 * manager's constructor, on the driver before executors start, so that what is wrong is said there.
 */
public final class SluiceConf {
  /** Each of these has Spark encrypt its network; the first two only with spark.authenticate. */
  private static final List<String> WIRE_ENCRYPTION =
      List.of(
          "spark.network.crypto.enabled",
          "spark.authenticate.enableSaslEncryption",
          "spark.ssl.rpc.enabled");

  private final SparkConf conf;
  private final EnvironmentHints hints;
  private final long registrationMaxBytes;
  private final long buffersMaxBytes;
  private final long stagingMaxBytes;
  private final Path root;

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
    this.hints = new EnvironmentHints(environment, this.conf::contains);
    MemoryBudget budget =
        MemoryBudget.derive(
            ExecutorMemory.of(conf), value(Settings.MEMORY_SHARE), new Cgroup(root).memoryMax());
    this.registrationMaxBytes =
        readsForbidden() || isNodeRequired()
            ? 0
            : or(Settings.REGISTRATION_MAX_BYTES, budget.registrationBytes());
    this.buffersMaxBytes = or(Settings.BUFFERS_MAX_BYTES, budget.bufferBytes());
    this.stagingMaxBytes =
        isNodeRequired() ? 0 : or(Settings.STAGING_MAX_BYTES, budget.stagingBytes());
  }

  /** {@code auto}, {@code verbs}, {@code soft} or {@code off}. */
  public String provider() {
    return value(Settings.PROVIDER);
  }

  /** Whether the provider was asked for by name, so that nothing else will do. */
  public boolean isRequired() {
    return provider().equals("verbs") || provider().equals("soft");
  }

  /** Why blocks are not READ whatever the provider; empty where they are. */
  public Optional<String> offReason() {
    return conf.getBoolean("spark.shuffle.useOldFetchProtocol", false)
        ? Optional.of("spark.shuffle.useOldFetchProtocol=true, under which map ids are not unique")
        : Optional.empty();
  }

  /** How map outputs reach the node's block server; empty where they are not handed over. */
  public Optional<NodeAccess> node() {
    return isNodeRequired() || isNodeUsed()
        ? Optional.of(
            new NodeAccess(
                conf.get(Settings.NODE_INCARNATION.key(), ""),
                NodeSocket.of(conf, System.getenv()),
                Duration.ofMillis(value(Settings.NODE_TIMEOUT))))
        : Optional.empty();
  }

  /** Whether map outputs are served by block servers of nodes alone. */
  public boolean isNodeRequired() {
    return value(Settings.NODE).equals("required");
  }

  /** Whether they are handed over where that goes: the driver has to want it, too. */
  private boolean isNodeUsed() {
    return value(Settings.NODE).equals("auto")
        && conf.contains(Settings.NODE_INCARNATION.key())
        && !readsForbidden()
        && offReason().isEmpty();
  }

  /** Whether Spark's external shuffle service answers for executors. */
  public boolean hasSparksService() {
    return conf.getBoolean("spark.shuffle.service.enabled", false);
  }

  /** The application, and what tells this run of it from others, which may have the same id. */
  public String application() {
    String id = conf.get("spark.app.id", "");
    return node()
        .map(node -> id + "-" + node.incarnation())
        .orElseGet(() -> id + " since " + conf.get("spark.app.startTime", ""));
  }

  /**
   * Bytes of map outputs that this process registers at most: none where nobody READs them here.
   */
  public long registrationMaxBytes() {
    return registrationMaxBytes;
  }

  /** Bytes of memory that what is not registered is copied into, at most. */
  public long stagingMaxBytes() {
    return stagingMaxBytes;
  }

  /**
   * Memory regions at most.
   *
   * @param asFiles whether each is an open file, or else a mapping
   */
  public int maxRegions(boolean asFiles) {
    return (asFiles ? RegionLimit.FILES : RegionLimit.MAPPINGS).derive(root);
  }

  /** How map outputs become memory regions. */
  public RegistrationMode registrationMode() {
    return RegistrationMode.valueOf(value(Settings.REGISTRATION_MODE).toUpperCase(Locale.ROOT));
  }

  public long registrationIdleTimeoutMs() {
    return value(Settings.REGISTRATION_IDLE_TIMEOUT);
  }

  public long buffersMaxBytes() {
    return buffersMaxBytes;
  }

  public long locateTimeoutMs() {
    return value(Settings.LOCATE_TIMEOUT);
  }

  public int port() {
    return value(Settings.PORT);
  }

  /** How many ports after a taken one are tried, as Spark does for its own. */
  public int portRetries() {
    return conf.getInt("spark.port.maxRetries", conf.contains("spark.testing") ? 100 : 16);
  }

  /** How the software provider opens its device. */
  public SoftOptions softOptions() {
    FaultPlan faults = Settings.SOFT_FAULTS.get(conf);
    return SoftOptions.DEFAULT.with(
        o -> {
          o.faults = faults == null ? FaultPlan.NONE : faults;
          o.port = value(Settings.DATA_PORT);
          o.portRetries = portRetries();
        });
  }

  /** Whether blocks are not served to Spark's own transfer; does not look at other keys. */
  public static boolean refusesNetty(SparkConf conf) {
    return Settings.TESTING_REFUSE_NETTY.get(conf);
  }

  /** For tests: an executor READs its own blocks as well. */
  public boolean readsOwnBlocks() {
    return Settings.TESTING_LOOPBACK.get(conf);
  }

  /**
   * How the verbs provider opens its device; other RDMA software's variables count here. Where the
   * configuration itself names ports, which says that they reach each other, executors spread over
   * them.
   */
  public VerbsOptions verbsOptions() {
    return VerbsSetting.configured(
            hints.verbsOptions(), Settings.PREFIX, key -> Optional.ofNullable(conf.get(key, null)))
        .with(o -> o.registeredBytes = lockedBytes());
  }

  /**
   * What may be locked at most: registered memory and queue pairs. Where map outputs are paged on
   * demand the budget is that of partition tables, which are pinned.
   */
  private long lockedBytes() {
    return budget().lockedBytes() + transferOptions().queuePairBytes();
  }

  /** What registered memory may take, as it is configured. */
  public MemoryBudget budget() {
    return new MemoryBudget(registrationMaxBytes, buffersMaxBytes, stagingMaxBytes);
  }

  /** Limits and times of this process's RDMA endpoint. */
  public TransferOptions transferOptions() {
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = buffersMaxBytes;
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
   * How blocks are read.
   *
   * @param cores of this executor, on which its tasks run
   */
  public ReadOptions readOptions(int cores) {
    return ReadOptions.DEFAULT.with(
        o -> {
          o.verifyChecksums = value(Settings.VERIFY_CHECKSUMS);
          o.readTimeoutMs = value(Settings.READ_TIMEOUT);
          o.bufferWaitMs = value(Settings.BUFFERS_WAIT_TIMEOUT);
          o.maxGroupBytes = value(Settings.READ_MAX_BYTES).intValue();
          o.gatherBytes = gatherBytes(cores);
        });
  }

  /**
   * Half of the buffers, divided among the tasks that run at a time: the other half is for blocks
   * that are READ one by one and for partition tables. No more than one of Spark's iterators has.
   */
  private long gatherBytes(int cores) {
    if (!value(Settings.GATHER) || !value(Settings.VERIFY_CHECKSUMS)) {
      return 0;
    }
    int tasks = Math.max(1, cores / conf.getInt("spark.task.cpus", 1));
    long maxInFlight = conf.getSizeAsMb("spark.reducer.maxSizeInFlight", "48m") << 20;
    return Math.min(maxInFlight, buffersMaxBytes / 2 / tasks);
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
   * Whether remote blocks stay on Spark's own transfer, because Spark was told to encrypt its
   * network, READs are neither encrypted nor authenticated, and nobody allowed that. Encrypted
   * files make no difference: their ciphers hide bytes, and let them be altered unnoticed.
   */
  public boolean readsForbidden() {
    return !value(Settings.ALLOW_PLAINTEXT)
        && WIRE_ENCRYPTION.stream().anyMatch(key -> conf.getBoolean(key, false));
  }

  private <T> T value(Setting<T> setting) {
    return setting.get(conf);
  }

  private long or(Setting<Long> setting, long derived) {
    Long value = setting.get(conf);
    return value == null ? derived : value;
  }
}
