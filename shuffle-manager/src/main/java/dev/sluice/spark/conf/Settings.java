// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import dev.sluice.blocks.conf.Suggestion;
import dev.sluice.blocks.conf.Type;
import dev.sluice.blocks.conf.VerbsSetting;
import dev.sluice.rdma.soft.FaultPlan;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/**
 * Table of all configuration keys. The code reads {@link SluiceConf}; docs/configuration.md is
 * generated from this table. The order of the fields is the order there. A key that is not in this
 * table is an error ({@link #validate}), and a default is parsed like a value that a user sets. Any
 * thread: nothing changes after the class is loaded.
 */
final class Settings {
  static final String PREFIX = "spark.shuffle.rdma.";

  private static final List<Setting<?>> TABLE = new ArrayList<>();

  static final Setting<String> PROVIDER =
      with(
          "provider",
          Type.oneOf("auto", "verbs", "soft", "off"),
          "auto",
          "How blocks are READ. `verbs` needs an RDMA device. `soft` is software over TCP with"
              + " the same semantics. `auto` takes `verbs` if it works, else `soft`. `off` is"
              + " Spark's own shuffle. If a provider that is set by name does not work, the"
              + " application ends with the reason.");

  static final Setting<Double> MEMORY_SHARE =
      with(
          "memoryShare",
          Type.SHARE,
          Double.toString(MemoryBudget.DEFAULT_SHARE),
          "Share of the executor's memory overhead that registered map outputs, buffers and"
              + " staging memory take together, unless their own keys are set. The overhead is"
              + " `spark.executor.memoryOverhead`, or the value that Spark derives for it. It"
              + " counts only as far as the container's limit leaves room next to heap and"
              + " off-heap memory.");

  static final Setting<Long> DEFAULT_MEMORY_OVERHEAD =
      derived(
          "defaultMemoryOverhead",
          Type.bytes("0", "64t"),
          "set by the driver",
          "Memory overhead of the default resource profile. Spark grants it to executors of other"
              + " profiles as well, unless these set their own.");

  static final Setting<Long> REGISTRATION_MAX_BYTES =
      derived(
          "registration.maxBytes",
          Type.bytes("0", "64t"),
          "five eighths of the memory share",
          "Limit of the bytes of map output files and their partition tables that an executor"
              + " keeps registered. Files that `soft` keeps open, and files that are paged on"
              + " demand (`registration.mode`), do not count. Of the latter, at most this many"
              + " bytes of pages are resident. From three quarters of the limit on, idle shuffles"
              + " are deregistered, the least recently READ first. Map outputs that find no room"
              + " are staged; with 0, all are.");

  static final Setting<Long> STAGING_MAX_BYTES =
      derived(
          "staging.maxBytes",
          Type.bytes("4m", "16g"),
          "an eighth of the memory share",
          "Limit of the registered memory into which an executor copies blocks of unregistered"
              + " map outputs when readers ask for them.");

  static final Setting<String> REGISTRATION_MODE =
      with(
          "registration.mode",
          Type.oneOf("auto", "file", "odp"),
          "auto",
          "How map output files become memory regions. With `verbs`, `auto` maps them read-only"
              + " and pins them; map outputs in a local directory where that does not work are"
              + " staged. `file` maps them read-write if the kernel requires it (before 6.2),"
              + " which writes every page to disk once more. `odp` maps them without pinning, on"
              + " devices with on-demand paging. With `soft`, `auto` and `file` both keep the"
              + " files open and send from them. If a mode that is set by name fails in any local"
              + " directory, the application ends with the reason.");

  static final Setting<Long> REGISTRATION_IDLE_TIMEOUT =
      with(
          "registration.idleTimeout",
          Type.millis("1s", "24h"),
          "60s",
          "Time without READs after which a shuffle is idle. Idle shuffles give way to others"
              + " when the limit is near.");

  static final Setting<Long> BUFFERS_MAX_BYTES =
      derived(
          "buffers.maxBytes",
          Type.bytes("1m", "1t"),
          "a quarter of the memory share",
          "Limit of the registered buffers that READs write to.");

  static final Setting<Long> BUFFERS_WAIT_TIMEOUT =
      with(
          "buffers.waitTimeout",
          Type.millis("0ms", "10min"),
          "2s",
          "How long blocks wait for a free buffer before Spark's own transfer fetches them."
              + " Blocks that have to be staged wait for a buffer as long as for the staging.");

  static final Setting<Integer> CONNECTIONS_MAX =
      with(
          "connections.max",
          Type.integer(1, 65536),
          "1024",
          "Limit of an executor's queue pairs, separately for those that it reads through and"
              + " those that it serves. The least recently used idle one is closed for a new one.");

  static final Setting<Long> CONNECTIONS_IDLE_TIMEOUT =
      with(
          "connections.idleTimeout",
          Type.millis("1s", "24h"),
          "5min",
          "Time without READs after which a queue pair is closed.");

  static final Setting<Long> CONNECT_TIMEOUT =
      with(
          "connect.timeout",
          Type.millis("100ms", "10min"),
          "5s",
          "How long a queue pair may take to connect, including the exchange of its parameters"
              + " with the peer's block server. After that, it has failed.");

  static final Setting<Long> LOCATE_TIMEOUT =
      with(
          "locate.timeout",
          Type.millis("100ms", "10min"),
          "10s",
          "How long the driver, and after it a peer's block server, may take to answer with"
              + " locations. Other locations count as unknown, and Spark's own transfer fetches"
              + " their blocks.");

  static final Setting<Long> READ_TIMEOUT =
      with(
          "read.timeout",
          Type.millis("100ms", "1h"),
          "30s",
          "How long the READ of blocks may take before Spark's own transfer fetches them. A node"
              + " daemon that then sends nothing by Spark's transfer for the same time is not"
              + " asked again for a minute.");

  static final Setting<Long> READ_MAX_BYTES =
      with(
          "read.maxBytes",
          Type.bytes("4k", "1g"),
          "1m",
          "Limit of the bytes of one READ work request. Longer ranges are split. Small blocks are"
              + " READ together into one buffer of at most this size.");

  static final Setting<Long> READ_SPIN =
      with(
          "read.spin",
          Type.micros("0us", "10ms"),
          "20us",
          "How long the completion thread polls before it sleeps.");

  static final Setting<Integer> SEND_QUEUE_DEPTH =
      with(
          "sendQueueDepth",
          Type.integer(1, 16384),
          "256",
          "Limit of the work requests under way on one queue pair. Each takes 64 bytes of memory"
              + " or more. A fetch of more blocks waits for completions before all of it is"
              + " posted.");

  static final Setting<Integer> MAX_RD_ATOMIC =
      with(
          "maxRdAtomic",
          Type.integer(1, 255),
          "128",
          "Limit of the READs that one queue pair has on the wire at a time. The device may allow"
              + " fewer; most NICs allow 16.");

  static final Setting<Integer> TIMEOUT_EXPONENT =
      with(
          "timeoutExponent",
          Type.integer(8, 31),
          "18",
          "Local ACK timeout of a queue pair, as the exponent n of 4.096 us x 2^n.");

  static final Setting<Integer> RETRY_COUNT =
      with(
          "retryCount",
          Type.integer(0, 7),
          "7",
          "Number of repetitions of an unanswered request before the queue pair fails.");

  static final Setting<Integer> RNR_RETRY =
      with(
          "rnrRetry",
          Type.integer(0, 7),
          "7",
          "Number of repetitions of a READ whose peer answers that it is not ready, because it"
              + " first has to page in memory that is registered on demand; 7 is without end.");

  static final Setting<Integer> MIN_RNR_TIMER =
      with(
          "minRnrTimer",
          Type.integer(0, 31),
          "12",
          "Time that a peer that is not ready asks the reader to wait, as a code of the verbs API"
              + " (12 is 0.64 ms).");

  static {
    derived(
        VerbsSetting.DEVICES,
        "`NCCL_IB_HCA` or `UCX_NET_DEVICES` of the environment, else all",
        "Ports that verbs may use, by prefixes of their devices' names. A leading `=` requires"
            + " whole names, a leading `^` excludes the ports. If this key is set, executors"
            + " spread over those of the ports that are active. They may then use a GID of"
            + " another network namespace if they have none of their own. Otherwise they prefer"
            + " the port with the executor's own address.");

    derived(
        VerbsSetting.GID_INDEX,
        "`NCCL_IB_GID_INDEX` of the environment, else auto",
        "Entry of the port's GID table by which peers reach it. With auto on RoCE: the entry with"
            + " the executor's own address, else the first entry that the other `gid` keys allow,"
            + " that is not link-local and that belongs to the executor's network namespace. With"
            + " auto on InfiniBand: 0, or 1 if that entry is routable.");

    with(VerbsSetting.GID_ROCE_VERSION, "2", "RoCE version that a GID must have.");

    with(
        VerbsSetting.GID_ADDR_FAMILY,
        "auto",
        "Family of the address in a RoCE GID; auto prefers IPv4 to IPv6.");

    derived(
        VerbsSetting.GID_ADDR_RANGE, "none", "Range in which the address of a RoCE GID must lie.");

    derived(
        VerbsSetting.TRAFFIC_CLASS,
        "`NCCL_IB_TC` of the environment, else auto",
        "Traffic class of packets; on RoCE v2, their DSCP and ECN. With auto: the value that the"
            + " administrator has set for the port, else 106 on RoCE v2 and 0 on InfiniBand.");

    derived(
        VerbsSetting.SERVICE_LEVEL,
        "`NCCL_IB_SL` of the environment, else `0`",
        "InfiniBand service level.");

    with(
        VerbsSetting.PKEY,
        "auto",
        "Partition key, such as 0x8001; auto takes the first one of which the port is a full"
            + " member.");

    with(
        VerbsSetting.PATH_MTU,
        "auto",
        "Limit of the bytes of a packet; auto is the port's active MTU. Two peers use the smaller"
            + " one of their values.");

    with(VerbsSetting.HOP_LIMIT, "255", "Limit of the routers that a packet may pass.");

    with(
        VerbsSetting.CONNECT,
        "control",
        "How verbs connect queue pairs. With control, executors exchange addresses over Spark's"
            + " transport. With cm, rdma_cm finds the path to a peer and notices its end.");
  }

  static final Setting<Integer> CIRCUIT_FAILURES =
      with(
          "circuit.failures",
          Type.integer(1, 1000),
          "3",
          "Number of consecutive failures after which a peer's circuit breaker opens: the peer is"
              + " not tried for `circuit.cooldown`.");

  static final Setting<Long> CIRCUIT_COOLDOWN =
      with(
          "circuit.cooldown",
          Type.millis("100ms", "24h"),
          "60s",
          "How long a peer is not tried after its circuit breaker has opened.");

  static final Setting<Boolean> GATHER =
      with(
          "gather",
          Type.FLAG,
          "true",
          "Whether the small blocks that one executor has for a reduce task are fetched together,"
              + " which takes less work per block if there are many. They are read as one stream"
              + " if the serializer relocates (Kryo, and Spark SQL's own) and files are not"
              + " encrypted, otherwise as one stream each. Blocks without Spark's checksums are"
              + " staged, and verified by a checksum that their executor computes. With"
              + " `spark.shuffle.rdma.verifyChecksums=false` nothing is gathered.");

  static final Setting<Boolean> VERIFY_CHECKSUMS =
      with(
          "verifyChecksums",
          Type.FLAG,
          "true",
          "Whether blocks are checked against Spark's partition checksums after the READ, if"
              + " there are any.");

  static final Setting<Boolean> ALLOW_PLAINTEXT =
      with(
          "allowPlaintext",
          Type.FLAG,
          "false",
          "Whether blocks are READ even if Spark encrypts its network traffic"
              + " (`spark.network.crypto.enabled`, `spark.authenticate.enableSaslEncryption` or"
              + " `spark.ssl.rpc.enabled`). READs are neither encrypted nor authenticated. An"
              + " attacker on the path can read the bytes of the files, unless"
              + " `spark.io.encryption.enabled` is on, and can alter them in any case"
              + " (security.md).");

  static final Setting<Integer> PORT =
      with(
          "port",
          Type.PORT,
          "0",
          "TCP port of an executor's block server; 0 takes a free one. If the port is taken, the"
              + " ones above it are tried, as Spark does (`spark.port.maxRetries`).");

  static final Setting<Integer> DATA_PORT =
      with(
          "dataPort",
          Type.PORT,
          "0",
          "TCP port on which the software provider serves READs; 0 takes a free one. If the port"
              + " is taken, the ones above it are tried (`spark.port.maxRetries`). Verbs use no"
              + " such port.");

  static final Setting<String> NODE =
      with(
          "node",
          Type.oneOf("off", "auto", "on", "required"),
          "off",
          "Which process serves map outputs. `off`: the executors that wrote them. `on`: the node"
              + " daemon. Each map output is handed over when its task commits, so that it"
              + " outlives its executor. A map output that the daemon does not take stays with"
              + " its executor, which serves it; if the executor ends, Spark writes it again."
              + " `on` cannot be combined with `spark.shuffle.rdma.provider=off`, Spark's external"
              + " shuffle service, another shuffle data plug-in, `spark.ssl.rpc.enabled`,"
              + " `spark.network.crypto.authEngineVersion=2`, a `spark.network.crypto.cipher` other"
              + " than AES/CTR/NoPadding, or `spark.shuffle.useOldFetchProtocol`."
              + " `required` means the same as `on`. `auto`: executors serve map outputs, and hand them over after the"
              + " commit if their node has a daemon that takes them. Once the executor is gone,"
              + " readers ask the daemon, but Spark is not told that map outputs outlive their"
              + " executors.");

  static final Setting<Path> NODE_SOCKET =
      with(
          "node.socket",
          new Type<>("a path", Path::of),
          "/run/sluice/node.sock",
          "Unix domain socket of the node daemon. If it is not set on YARN, the socket of the"
              + " NodeManager's auxiliary service `sluice_node` is used.");

  static final Setting<Long> NODE_TIMEOUT =
      with(
          "node.timeout",
          Type.millis("100ms", "10min"),
          "10s",
          "How long the node daemon may take to answer a map task that hands over its map output."
              + " If it does not answer, map outputs stay with the executor until it does.");

  static final Setting<Long> NODE_AWAY_TIMEOUT =
      with(
          "node.awayTimeout",
          Type.millis("100ms", "30min"),
          "120s",
          "How long a node daemon may be away, for example during a restart: its socket does not"
              + " exist, or its port refuses connections. Until then, map tasks that commit and"
              + " readers without another source wait for it, and the driver gives up nothing."
              + " After that, map outputs stay with their executors, and Spark writes again the"
              + " map outputs that lost executors had handed over there. A daemon that accepts"
              + " connections but does not answer is given up earlier.");

  static final Setting<String> NODE_INCARNATION =
      derived(
          "node.incarnation",
          new Type<>("the value that the driver sets", Function.identity()),
          "set by the driver",
          "Distinguishes this run of the application from others at the node daemons.");

  static final Setting<FaultPlan> SOFT_FAULTS =
      derived(
          "soft.faults",
          new Type<>("a plan such as seed=7;corrupt=0.01;kill@100", FaultPlan::parse),
          "none",
          "For tests: faults that the software provider injects.");

  static final Setting<Boolean> TESTING_LOOPBACK =
      with(
          "testing.loopback",
          Type.FLAG,
          "false",
          "For tests: local blocks are READ as well, from the executor itself.");

  static final Setting<Boolean> TESTING_REFUSE_NETTY =
      with(
          "testing.refuseNetty",
          Type.FLAG,
          "false",
          "For tests: an executor refuses to serve shuffle blocks to Spark's own transfer.");

  private Settings() {}

  /** Returns all rows, in the order of the documentation. */
  static List<Setting<?>> table() {
    return List.copyOf(TABLE);
  }

  /**
   * Checks all keys and values.
   *
   * @throws IllegalArgumentException for a key with our prefix that is not in the table, and for a
   *     value that is not allowed
   */
  static void validate(SparkConf conf) {
    Set<String> known = TABLE.stream().map(Setting::key).collect(Collectors.toSet());
    for (Tuple2<String, String> entry : conf.getAll()) {
      if (entry._1.startsWith(PREFIX) && !known.contains(entry._1)) {
        throw new IllegalArgumentException(
            entry._1
                + " is \""
                + entry._2
                + "\", but there is no such key"
                + Suggestion.of(entry._1, PREFIX, known)
                + "; allowed are "
                + String.join(", ", new TreeSet<>(known)));
      }
    }
    TABLE.forEach(setting -> setting.get(conf));
  }

  private static <T> Setting<T> with(String name, Type<T> type, String defaultValue, String doc) {
    return add(new Setting<>(PREFIX + name, defaultValue, "`" + defaultValue + "`", doc, type));
  }

  private static <T> Setting<T> derived(String name, Type<T> type, String text, String doc) {
    return add(new Setting<>(PREFIX + name, null, text, doc, type));
  }

  private static <T> void with(VerbsSetting<T> setting, String defaultValue, String doc) {
    with(setting.name(), setting.type(), defaultValue, doc);
  }

  private static <T> void derived(VerbsSetting<T> setting, String text, String doc) {
    derived(setting.name(), setting.type(), text, doc);
  }

  private static <T> Setting<T> add(Setting<T> setting) {
    TABLE.add(setting);
    return setting;
  }
}
