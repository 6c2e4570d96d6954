// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.MemoryBudget.Grant;
import dev.sluice.blocks.conf.SettingTable.Refusal;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Configuration of an executor as far as it can be read without Spark: provider, memory, devices
 * and limits. {@code SluiceConf} extends it by values that need Spark, the doctor makes one of
 * {@code spark-defaults.conf}. Immutable; any thread. Memory limits are derived once; other methods
 * parse their keys at each call.
 */
public class ExecutorConf {
  /** Keys that make Spark encrypt its network; the first two only with spark.authenticate. */
  private static final List<String> WIRE_ENCRYPTION =
      List.of(
          "spark.network.crypto.enabled",
          "spark.authenticate.enableSaslEncryption",
          "spark.ssl.rpc.enabled");

  /** Key with which map ids are not unique. */
  public static final String OLD_FETCH_PROTOCOL = "spark.shuffle.useOldFetchProtocol";

  private static final List<String> SPARKS_SWITCHES =
      Stream.concat(WIRE_ENCRYPTION.stream(), Stream.of(OLD_FETCH_PROTOCOL)).toList();

  /**
   * Data of the auxiliary service sluice_node, from a NodeManager of YARN to its containers, in
   * Base64. The name is YARN's prefix and that of the service.
   */
  private static final String NODE_MANAGERS_SOCKET = "NM_AUX_SERVICE_sluice_node";

  private final UnaryOperator<String> values;
  private final Map<String, String> environment;
  private final Grant grant;
  private final MemoryBudget budget;

  /**
   * JVM that is configured.
   *
   * @param heapBytes its heap
   * @param root {@code /}, or a directory in its place
   * @param environment its environment
   */
  public record Jvm(long heapBytes, Path root, Map<String, String> environment) {}

  /**
   * @param values returns the text that is set for a key; null if none is
   * @throws IllegalArgumentException for a value that is not allowed
   */
  public ExecutorConf(UnaryOperator<String> values, Jvm jvm) {
    this.values = values;
    this.environment = jvm.environment;
    this.grant = ExecutorMemory.grant(values, jvm.heapBytes);
    MemoryBudget derived =
        MemoryBudget.derive(
            grant, value(ExecutorSettings.MEMORY_SHARE), new Cgroup(jvm.root).memoryMax());
    this.budget =
        new MemoryBudget(
            readsForbidden()
                ? 0
                : or(ExecutorSettings.REGISTRATION_MAX_BYTES, derived.registrationBytes()),
            or(ExecutorSettings.BUFFERS_MAX_BYTES, derived.bufferBytes()),
            or(ExecutorSettings.STAGING_MAX_BYTES, derived.stagingBytes()));
  }

  /**
   * Checks all keys of ours, and Spark's keys that decide whether blocks are READ.
   *
   * @param all settings of Spark; those of other software are ignored
   * @throws IllegalArgumentException for an unknown key of ours and a value that is not allowed
   */
  public static void validate(Map<String, String> all) {
    ExecutorSettings.validate(all);
    SPARKS_SWITCHES.forEach(key -> SparkUnits.isTrue(all::get, key));
  }

  /**
   * Returns refusals of all keys of ours, of Spark's keys that decide an executor's memory and its
   * division, and of those that decide whether blocks are READ. An executor can be configured by
   * the other settings.
   *
   * @param all settings of Spark; those of other software are ignored
   */
  public static SortedMap<String, Refusal> refusals(Map<String, String> all) {
    SortedMap<String, Refusal> refusals = ExecutorSettings.refusals(all);
    refusals.putAll(ExecutorMemory.refusals(all));
    for (String key : SPARKS_SWITCHES) {
      Refusal.of(() -> SparkUnits.isTrue(all::get, key))
          .ifPresent(refused -> refusals.put(key, refused));
    }
    return refusals;
  }

  /** Returns {@code auto}, {@code verbs}, {@code soft} or {@code off}. */
  public final String provider() {
    return value(ExecutorSettings.PROVIDER);
  }

  /** Returns why blocks are not READ with any provider; empty if they are. */
  public final Optional<String> offReason() {
    return isTrue(OLD_FETCH_PROTOCOL)
        ? Optional.of(OLD_FETCH_PROTOCOL + " is true, and map ids are then not unique")
        : Optional.empty();
  }

  /**
   * Returns true if remote blocks stay on Spark's own transport: Spark has to encrypt its network,
   * READs are neither encrypted nor authenticated, and the configuration does not allow that.
   * Encrypted files make no difference: their ciphers hide bytes, but do not reveal changes.
   */
  public final boolean readsForbidden() {
    return !value(ExecutorSettings.ALLOW_PLAINTEXT) && wireEncryption().isPresent();
  }

  /** Returns the key that makes Spark encrypt its network; empty if none does. */
  public final Optional<String> wireEncryption() {
    return WIRE_ENCRYPTION.stream().filter(this::isTrue).findFirst();
  }

  /**
   * Returns true if Spark was told that map outputs outlive their executors. Node daemons serve
   * those that they take.
   */
  public final boolean isNodeRequired() {
    String node = value(ExecutorSettings.NODE);
    return node.equals("on") || node.equals("required");
  }

  /** Returns the configured socket, else the one that a NodeManager of YARN gives. */
  public final Path nodeSocket() {
    String given = environment.get(NODE_MANAGERS_SOCKET);
    return given == null || values.apply(ExecutorSettings.NODE_SOCKET.key()) != null
        ? value(ExecutorSettings.NODE_SOCKET)
        : Path.of(new String(Base64.getDecoder().decode(given), StandardCharsets.UTF_8));
  }

  /** Returns the user of the node daemon, besides this process's own; empty if none is set. */
  public final Optional<String> nodeUser() {
    return Optional.ofNullable(ExecutorSettings.NODE_USER.get(values));
  }

  /** Returns how map outputs become memory regions. */
  public final RegistrationMode registrationMode() {
    return value(ExecutorSettings.REGISTRATION_MODE);
  }

  /** Returns the limits of registered memory as configured. */
  public final MemoryBudget budget() {
    return budget;
  }

  /** Returns the memory of this executor as Spark and its resource manager grant it. */
  public final Grant grant() {
    return grant;
  }

  /**
   * Returns the options with which the verbs provider opens its device. Variables of other RDMA
   * software count here. If the configuration itself names ports, they reach each other, and
   * executors spread over them.
   */
  public final VerbsOptions verbsOptions() {
    return ExecutorSettings.VERBS
        .configure(
            new EnvironmentHints(environment, key -> values.apply(key) != null).verbsOptions(),
            values)
        .with(o -> o.registeredBytes = lockedBytes());
  }

  /**
   * Returns the most bytes that may be locked: registered memory and queue pairs. With on-demand
   * paging of map outputs, the budget is that of partition tables, which are pinned.
   */
  public final long lockedBytes() {
    return budget.lockedBytes() + transferOptions().queuePairBytes();
  }

  /** Returns the limits and times of this process's RDMA endpoint. */
  public final TransferOptions transferOptions() {
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = budget.bufferBytes();
          o.maxQueuePairs = value(ExecutorSettings.CONNECTIONS_MAX);
          o.sendQueueDepth = value(ExecutorSettings.SEND_QUEUE_DEPTH);
          o.maxReadBytes = value(ExecutorSettings.READ_MAX_BYTES).intValue();
          o.connectTimeoutMs = value(ExecutorSettings.CONNECT_TIMEOUT).intValue();
          o.idleTimeoutMs = value(ExecutorSettings.CONNECTIONS_IDLE_TIMEOUT).intValue();
          o.circuitFailures = value(ExecutorSettings.CIRCUIT_FAILURES);
          o.circuitCooldownMs = value(ExecutorSettings.CIRCUIT_COOLDOWN).intValue();
          o.spinMicros = value(ExecutorSettings.READ_SPIN).intValue();
          o.connection = connectionAttributes();
        });
  }

  private ConnectionAttributes connectionAttributes() {
    return ConnectionAttributes.DEFAULT.with(
        c -> {
          c.timeoutExponent = value(ExecutorSettings.TIMEOUT_EXPONENT);
          c.retryCount = value(ExecutorSettings.RETRY_COUNT);
          c.rnrRetry = value(ExecutorSettings.RNR_RETRY);
          c.minRnrTimer = value(ExecutorSettings.MIN_RNR_TIMER);
          c.maxRdAtomic = value(ExecutorSettings.MAX_RD_ATOMIC);
        });
  }

  /**
   * Returns the limit of a task's batch fetches: half of the buffers, divided among the tasks that
   * run at a time. The other half is for blocks that are READ one by one and for partition tables.
   * It is at most the limit of one of Spark's iterators, and 0 if no batches are fetched.
   *
   * @param cores cores of the executor
   */
  public final long gatherBytes(int cores) {
    if (!value(ExecutorSettings.GATHER) || !value(ExecutorSettings.VERIFY_CHECKSUMS)) {
      return 0;
    }
    return Math.min(
        ExecutorMemory.inFlight(values),
        budget.bufferBytes() / 2 / ExecutorMemory.tasks(values, cores));
  }

  /** Returns the value that is set, else the default; only for a setting that has a default. */
  public final <T> T value(Setting<T> setting) {
    return requireNonNull(setting.get(values));
  }

  private long or(Setting<Long> setting, long derived) {
    Long value = setting.get(values);
    return value == null ? derived : value;
  }

  private boolean isTrue(String key) {
    return SparkUnits.isTrue(values, key);
  }
}
