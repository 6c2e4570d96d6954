// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import dev.sluice.blocks.conf.SettingTable.Draft;
import dev.sluice.blocks.conf.SettingTable.Refusal;
import dev.sluice.rdma.soft.FaultPlan;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Settings of executors and the driver. The code reads {@link ExecutorConf} and {@code SluiceConf};
 * docs/configuration.md is generated from this table. The order of the fields is the order there.
 * Any thread: nothing changes after the class is loaded.
 */
public final class ExecutorSettings {
  /** Prefix of all keys of ours. */
  public static final String PREFIX = "spark.shuffle.rdma.";

  static final SettingTable TABLE =
      new SettingTable(PREFIX, "%1$s is \"%2$s\", but there is no such key%3$s; allowed are %4$s");

  public static final Setting<String> PROVIDER =
      with("provider", Type.oneOf("auto", "verbs", "soft", "off"), "auto")
          .doc(
              "How blocks are READ. `verbs` needs an RDMA device. `soft` is software over TCP with"
                  + " the same semantics. `auto` takes `verbs` if it works, else `soft`. `off` is"
                  + " Spark's own shuffle. If a provider that is set by name does not work, the"
                  + " application ends with the reason. While an application runs, `off` by `SET`"
                  + " (for queries) or by `SparkContext.setLocalProperty` (for jobs of RDDs) has"
                  + " their tasks fetch by Spark's own transfer.");

  public static final Setting<Double> MEMORY_SHARE =
      with("memoryShare", Type.SHARE, Double.toString(MemoryBudget.DEFAULT_SHARE))
          .doc(
              "Share of the executor's memory overhead that registered map outputs, buffers and"
                  + " staging memory take together, unless their own keys are set. The overhead is"
                  + " `spark.executor.memoryOverhead`, or the value that Spark derives for it. It"
                  + " counts only as far as the container's limit leaves room next to heap and"
                  + " off-heap memory.");

  public static final Setting<Long> DEFAULT_MEMORY_OVERHEAD =
      derived("defaultMemoryOverhead", Type.bytes("0", "64t"), "set by the driver")
          .doc(
              "Memory overhead of the default resource profile. Spark grants it to executors of"
                  + " other profiles as well, unless these set their own.");

  public static final Setting<Long> REGISTRATION_MAX_BYTES =
      derived("registration.maxBytes", Type.bytes("0", "64t"), "five eighths of the memory share")
          .doc(
              "Limit of the bytes of map output files and their partition tables that an executor"
                  + " keeps registered. Files that `soft` keeps open, and files that are paged on"
                  + " demand (`registration.mode`), do not count. Of the latter, at most this many"
                  + " bytes of pages are resident. From three quarters of the limit on, idle"
                  + " shuffles are deregistered, the least recently READ first. Map outputs that"
                  + " find no room are staged; with 0, all are.");

  public static final Setting<Long> STAGING_MAX_BYTES =
      derived("staging.maxBytes", Type.bytes("4m", "16g"), "an eighth of the memory share")
          .doc(
              "Limit of the registered memory into which an executor copies blocks of unregistered"
                  + " map outputs when readers ask for them.");

  public static final Setting<RegistrationMode> REGISTRATION_MODE =
      with("registration.mode", Type.constantOf(RegistrationMode.class), "auto")
          .doc(
              "How map output files become memory regions. With `verbs`, `auto` maps them read-only"
                  + " and pins them; map outputs in a local directory where that does not work are"
                  + " staged, and all of them on kernels before 6.2. With `soft`, `auto` keeps the"
                  + " files open and sends from them. `odp` maps them without pinning, on devices"
                  + " with on-demand paging. If `odp` fails in any local directory, the application"
                  + " ends with the reason.");

  public static final Setting<Long> REGISTRATION_IDLE_TIMEOUT =
      with("registration.idleTimeout", Type.millis("1s", "24h"), "60s")
          .doc(
              "Time without READs after which a shuffle is idle. Idle shuffles give way to others"
                  + " when the limit is near.");

  public static final Setting<Long> BUFFERS_MAX_BYTES =
      derived("buffers.maxBytes", Type.bytes("1m", "1t"), "a quarter of the memory share")
          .doc("Limit of the registered buffers that READs write to.");

  public static final Setting<Long> BUFFERS_WAIT_TIMEOUT =
      with("buffers.waitTimeout", Type.millis("0ms", "10min"), "2s")
          .doc(
              "How long blocks wait for a free buffer before Spark's own transfer fetches them."
                  + " Blocks that have to be staged wait for a buffer as long as for the staging.");

  public static final Setting<Integer> CONNECTIONS_MAX =
      with("connections.max", Type.integer(1, 65536), "1024")
          .doc(
              "Limit of an executor's queue pairs, separately for those that it reads through and"
                  + " those that it serves. The least recently used idle one is closed for a new"
                  + " one.");

  public static final Setting<Long> CONNECTIONS_IDLE_TIMEOUT =
      with("connections.idleTimeout", Type.millis("1s", "24h"), "5min")
          .doc("Time without READs after which a queue pair is closed.");

  public static final Setting<Long> CONNECT_TIMEOUT =
      with("connect.timeout", Type.millis("100ms", "10min"), "5s")
          .doc(
              "How long a queue pair may take to connect, including the exchange of its parameters"
                  + " with the peer's block server. After that, it has failed.");

  public static final Setting<Long> LOCATE_TIMEOUT =
      with("locate.timeout", Type.millis("100ms", "10min"), "10s")
          .doc(
              "How long the driver, and after it a peer's block server, may take to answer with"
                  + " locations. Other locations count as unknown, and Spark's own transfer fetches"
                  + " their blocks. Tasks of a new executor wait as long, 10 s at most, until the"
                  + " driver knows it.");

  public static final Setting<Long> READ_TIMEOUT =
      with("read.timeout", Type.millis("100ms", "1h"), "30s")
          .doc(
              "How long the READ of blocks may take before Spark's own transfer fetches them. A"
                  + " node daemon that then sends nothing by Spark's transfer for the same time is"
                  + " not asked again for a minute.");

  public static final Setting<Boolean> READ_HEDGE =
      with("read.hedge", Type.FLAG, "true")
          .doc(
              "Whether Spark's own transfer also fetches small blocks whose READ is late: longer than"
                  + " 50 ms, and than eight times the median READ time of this executor's batches, of"
                  + " which there must be 100 in the last minutes. Time in which the peer copies"
                  + " staged blocks does not count. The first answer counts. Bytes"
                  + " that are fetched twice are at most 2 % of the READ bytes, their buffers at most an eighth"
                  + " of `buffers.maxBytes`. A peer that is late three times in a row, a second or"
                  + " more apart, is named as `SLOW_PEER`. Spark's own transfer alone then fetches"
                  + " its small blocks until a READ is in time, which is tried every 30 s. If this"
                  + " would leave out more than half of the peers, none is left out. Without `gather`"
                  + " or `verifyChecksums` no READ is late.");

  public static final Setting<Long> READ_MAX_BYTES =
      with("read.maxBytes", Type.bytes("4k", "1g"), "1m")
          .doc(
              "Limit of the bytes of one READ work request. Longer ranges are split. Small blocks"
                  + " are READ together into one buffer of at most this size.");

  public static final Setting<Long> READ_SPIN =
      with("read.spin", Type.micros("0us", "10ms"), "20us")
          .doc("How long the completion thread polls before it sleeps.");

  public static final Setting<Integer> SEND_QUEUE_DEPTH =
      with("sendQueueDepth", Type.integer(1, 16384), "256")
          .doc(
              "Limit of the work requests under way on one queue pair. Each takes 64 bytes of"
                  + " memory or more. A fetch of more blocks waits for completions before all of it"
                  + " is posted.");

  public static final Setting<Integer> MAX_RD_ATOMIC =
      with("maxRdAtomic", Type.integer(1, 255), "128")
          .doc(
              "Limit of the READs that one queue pair has on the wire at a time. The device may"
                  + " allow fewer; most NICs allow 16.");

  public static final Setting<Integer> TIMEOUT_EXPONENT =
      with("timeoutExponent", Type.integer(8, 31), "18")
          .doc("Local ACK timeout of a queue pair, as the exponent n of 4.096 us x 2^n.");

  public static final Setting<Integer> RETRY_COUNT =
      with("retryCount", Type.integer(0, 7), "7")
          .doc("Number of repetitions of an unanswered request before the queue pair fails.");

  public static final Setting<Integer> RNR_RETRY =
      with("rnrRetry", Type.integer(0, 7), "7")
          .doc(
              "Number of repetitions of a READ whose peer answers that it is not ready, because it"
                  + " first has to page in memory that is registered on demand; 7 is without end.");

  public static final Setting<Integer> MIN_RNR_TIMER =
      with("minRnrTimer", Type.integer(0, 31), "12")
          .doc(
              "Time that a peer that is not ready asks the reader to wait, as a code of the verbs"
                  + " API (12 is 0.64 ms).");

  static final VerbsSettings VERBS = new VerbsSettings(TABLE);

  public static final Setting<Integer> CIRCUIT_FAILURES =
      with("circuit.failures", Type.integer(1, 1000), "3")
          .doc(
              "Number of consecutive failures after which a peer's circuit breaker opens: the peer"
                  + " is not tried for `circuit.cooldown`.");

  public static final Setting<Long> CIRCUIT_COOLDOWN =
      with("circuit.cooldown", Type.millis("100ms", "24h"), "60s")
          .doc("How long a peer is not tried after its circuit breaker has opened.");

  public static final Setting<Boolean> GATHER =
      with("gather", Type.FLAG, "true")
          .doc(
              "Whether the small blocks that one executor has for a reduce task are fetched"
                  + " together, which takes less work per block if there are many. They are read as"
                  + " one stream if the serializer relocates (Kryo, and Spark SQL's own) and files"
                  + " are not encrypted, otherwise as one stream each. Blocks without Spark's"
                  + " checksums are staged, and verified by a checksum that their executor"
                  + " computes. With `spark.shuffle.rdma.verifyChecksums=false` nothing is"
                  + " gathered.");

  public static final Setting<Boolean> VERIFY_CHECKSUMS =
      with("verifyChecksums", Type.FLAG, "true")
          .doc(
              "Whether blocks are checked against Spark's partition checksums after the READ, if"
                  + " there are any.");

  public static final Setting<Boolean> ALLOW_PLAINTEXT =
      with("allowPlaintext", Type.FLAG, "false")
          .doc(
              "Whether blocks are READ even if Spark encrypts its network traffic"
                  + " (`spark.network.crypto.enabled`, `spark.authenticate.enableSaslEncryption` or"
                  + " `spark.ssl.rpc.enabled`). READs are neither encrypted nor authenticated. An"
                  + " attacker on the path can read the bytes of the files, unless"
                  + " `spark.io.encryption.enabled` is on, and can alter them in any case"
                  + " (security.md).");

  public static final Setting<Integer> PORT =
      with("port", Type.PORT, "0")
          .doc(
              "TCP port of an executor's block server; 0 takes a free one. If the port is taken,"
                  + " the ones above it are tried, as Spark does (`spark.port.maxRetries`).");

  public static final Setting<Integer> DATA_PORT =
      with("dataPort", Type.PORT, "0")
          .doc(
              "TCP port on which the software provider serves READs; 0 takes a free one. If the"
                  + " port is taken, the ones above it are tried (`spark.port.maxRetries`). Verbs"
                  + " use no such port.");

  public static final Setting<String> NODE =
      with("node", Type.oneOf("off", "on", "required"), "off")
          .doc(
              "Which process serves map outputs. `off`: the executors that wrote them. `on`: the"
                  + " node daemon. Each map output is handed over when its task commits, so that it"
                  + " outlives its executor. A map output that the daemon does not take stays with"
                  + " its executor, which serves it; if the executor ends, Spark writes it again."
                  + " `on` cannot be combined with `spark.shuffle.rdma.provider=off`, Spark's"
                  + " external shuffle service, another shuffle data plug-in,"
                  + " `spark.ssl.rpc.enabled`, `spark.network.crypto.authEngineVersion=2`, a"
                  + " `spark.network.crypto.cipher` other than AES/CTR/NoPadding, or"
                  + " `spark.shuffle.useOldFetchProtocol`. `required` means the same as `on`.");

  public static final Setting<Path> NODE_SOCKET =
      with("node.socket", Type.PATH, "/run/sluice/node.sock")
          .doc(
              "Unix domain socket of the node daemon. If it is not set on YARN, the socket of the"
                  + " NodeManager's auxiliary service `sluice_node` is used.");

  public static final Setting<String> NODE_USER =
      derived("node.user", new Type<>("a user's name", Function.identity()), "the executors' own")
          .doc(
              "User of the node daemon, if the executors run as another one"
                  + " (`sluice.node.otherUsers`). They tell the application's secret only to a"
                  + " process of this user or of their own.");

  public static final Setting<Long> NODE_TIMEOUT =
      with("node.timeout", Type.millis("100ms", "10min"), "10s")
          .doc(
              "How long the node daemon may take to answer a map task that hands over its map"
                  + " output. If it does not answer, map outputs stay with the executor until it"
                  + " does.");

  public static final Setting<Long> NODE_AWAY_TIMEOUT =
      with("node.awayTimeout", Type.millis("100ms", "30min"), "120s")
          .doc(
              "How long a node daemon may be away, for example during a restart: its socket does"
                  + " not exist, or its port refuses connections. Until then, map tasks that commit"
                  + " and readers without another source wait for it, and the driver gives up"
                  + " nothing. After that, map outputs stay with their executors, and Spark writes"
                  + " again the map outputs that lost executors had handed over there. A daemon"
                  + " that accepts connections but does not answer is given up earlier.");

  public static final Setting<String> NODE_INCARNATION =
      derived(
              "node.incarnation",
              new Type<>("the value that the driver sets", Function.identity()),
              "set by the driver")
          .doc("Distinguishes this run of the application from others at the node daemons.");

  public static final Setting<FaultPlan> SOFT_FAULTS =
      derived(
              "soft.faults",
              new Type<>("a plan such as seed=7;corrupt=0.01;kill@100", FaultPlan::parse),
              "none")
          .doc("For tests: faults that the software provider injects.");

  public static final Setting<Boolean> TESTING_LOOPBACK =
      with("testing.loopback", Type.FLAG, "false")
          .doc("For tests: local blocks are READ as well, from the executor itself.");

  public static final Setting<Boolean> TESTING_REFUSE_NETTY =
      with("testing.refuseNetty", Type.FLAG, "false")
          .doc("For tests: an executor refuses to serve shuffle blocks to Spark's own transfer.");

  private ExecutorSettings() {}

  /**
   * Checks all keys and values.
   *
   * @param all settings of Spark; those without our prefix are ignored
   * @throws IllegalArgumentException for a key with our prefix that is not in the table, and for a
   *     value that is not allowed
   */
  static void validate(Map<String, String> all) {
    TABLE.validate(ours(all));
  }

  /** Returns refusals by their keys; {@link #validate} throws the first. */
  static SortedMap<String, Refusal> refusals(Map<String, String> all) {
    return TABLE.refusals(ours(all));
  }

  private static Map<String, String> ours(Map<String, String> all) {
    return all.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(PREFIX))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private static <T> Draft<T> with(String name, Type<T> type, String defaultValue) {
    return TABLE.with(name, type, defaultValue);
  }

  private static <T> Draft<T> derived(String name, Type<T> type, String defaultText) {
    return TABLE.derived(name, type, defaultText);
  }
}
