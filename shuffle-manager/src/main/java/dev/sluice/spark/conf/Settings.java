package dev.sluice.spark.conf;

import dev.sluice.blocks.conf.Suggestion;
import dev.sluice.blocks.conf.Type;
import dev.sluice.blocks.conf.Types;
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
          Types.oneOf("auto", "verbs", "soft", "off"),
          "auto",
          "How blocks are READ. `verbs` needs an RDMA device, `soft` is software over TCP with the"
              + " same semantics, `auto` takes the first of the two that works, `off` is Spark's"
              + " own shuffle. What is asked for by name and cannot be had ends the application"
              + " with the reason.");

  static final Setting<Double> MEMORY_SHARE =
      with(
          "memoryShare",
          Types.SHARE,
          Double.toString(MemoryBudget.DEFAULT_SHARE),
          "Share of the executor's memory overhead (`spark.executor.memoryOverhead`, or what Spark"
              + " derives for it; never more than the container's limit leaves beside heap and"
              + " off-heap memory) that registered map outputs, buffers and staging memory take"
              + " together, where their own keys are not set.");

  static final Setting<Long> DEFAULT_MEMORY_OVERHEAD =
      derived(
          "defaultMemoryOverhead",
          Types.bytes("0", "64t"),
          "set by the driver",
          "Memory overhead of the default resource profile. Spark grants it to executors of other"
              + " profiles as well, unless these set their own.");

  static final Setting<Long> REGISTRATION_MAX_BYTES =
      derived(
          "registration.maxBytes",
          Types.bytes("0", "64t"),
          "five eighths of the memory share",
          "Bytes of map output files and their partition tables that an executor keeps registered"
              + " at most; files that are registered as they are, or paged on demand"
              + " (`registration.mode`), take none of them, but as many of the latter's pages are"
              + " resident at most. From three quarters of it on the least recently READ shuffles"
              + " that are idle are deregistered; what finds no room is staged, as everything is"
              + " with 0.");

  static final Setting<Long> STAGING_MAX_BYTES =
      derived(
          "staging.maxBytes",
          Types.bytes("4m", "16g"),
          "an eighth of the memory share",
          "Bytes of registered memory that an executor copies what is not registered into, as"
              + " readers ask for it, at most.");

  static final Setting<String> REGISTRATION_MODE =
      with(
          "registration.mode",
          Types.oneOf("auto", "file", "odp"),
          "auto",
          "How map output files become memory regions. With `verbs` `auto` maps them read-only and"
              + " pins them; what lies in a local directory where that does not work is staged."
              + " `file` maps them read-write where the kernel wants that (before 6.2; it then"
              + " writes every page to disk once more). `odp` maps them without pinning, on devices"
              + " with on-demand paging. `soft` keeps them open and sends them from there, with"
              + " `auto` and `file` alike. What is asked for by name and cannot be"
              + " had in every local directory ends the application with the reason.");

  static final Setting<Long> REGISTRATION_IDLE_TIMEOUT =
      with(
          "registration.idleTimeout",
          Types.millis("1s", "24h"),
          "60s",
          "A shuffle that nobody READ for so long gives way to others when the limit is near.");

  static final Setting<Long> BUFFERS_MAX_BYTES =
      derived(
          "buffers.maxBytes",
          Types.bytes("1m", "1t"),
          "a quarter of the memory share",
          "Bytes of registered buffers that READs go to at most.");

  static final Setting<Long> BUFFERS_WAIT_TIMEOUT =
      with(
          "buffers.waitTimeout",
          Types.millis("0ms", "10min"),
          "2s",
          "Blocks that found no free buffer for so long are fetched by Spark's own transfer. Those"
              + " that have to be staged wait for one as long as for that.");

  static final Setting<Integer> CONNECTIONS_MAX =
      with(
          "connections.max",
          Types.integer(1, 65536),
          "1024",
          "Queue pairs of an executor at most: those it reads through and those it serves, each."
              + " The least recently used idle one is closed for a new one.");

  static final Setting<Long> CONNECTIONS_IDLE_TIMEOUT =
      with(
          "connections.idleTimeout",
          Types.millis("1s", "24h"),
          "5min",
          "A queue pair without READs for so long is closed.");

  static final Setting<Long> CONNECT_TIMEOUT =
      with(
          "connect.timeout",
          Types.millis("100ms", "10min"),
          "5s",
          "A queue pair that is not connected by then has failed, the exchange of its parameters"
              + " with the peer's block server included.");

  static final Setting<Long> LOCATE_TIMEOUT =
      with(
          "locate.timeout",
          Types.millis("100ms", "10min"),
          "10s",
          "Locations that the driver, or after it a peer's block server, does not give by then"
              + " count as unknown, and the blocks are fetched by Spark's own transfer.");

  static final Setting<Long> READ_TIMEOUT =
      with(
          "read.timeout",
          Types.millis("100ms", "1h"),
          "30s",
          "Blocks that are not READ by then are fetched by Spark's own transfer. A node's block"
              + " server that gives nothing for so long by Spark's transfer either is left alone"
              + " for a minute.");

  static final Setting<Long> READ_MAX_BYTES =
      with(
          "read.maxBytes",
          Types.bytes("4k", "1g"),
          "1m",
          "Bytes of one READ work request; longer ranges are split, and small blocks are READ"
              + " together into one buffer of at most so many.");

  static final Setting<Long> READ_SPIN =
      with(
          "read.spin",
          Types.micros("0us", "10ms"),
          "20us",
          "How long the completion thread polls before it sleeps.");

  static final Setting<Integer> SEND_QUEUE_DEPTH =
      with(
          "sendQueueDepth",
          Types.integer(1, 16384),
          "256",
          "Work requests under way on one queue pair at most: 64 bytes or more of memory each. A"
              + " fetch of more blocks than that waits for completions before all of it is"
              + " posted.");

  static final Setting<Integer> MAX_RD_ATOMIC =
      with(
          "maxRdAtomic",
          Types.integer(1, 255),
          "128",
          "READs that one queue pair has on the wire at a time; the device may allow less, most"
              + " NICs 16.");

  static final Setting<Integer> TIMEOUT_EXPONENT =
      with(
          "timeoutExponent",
          Types.integer(8, 31),
          "18",
          "Local ACK timeout of a queue pair, 4.096 us x 2^n.");

  static final Setting<Integer> RETRY_COUNT =
      with(
          "retryCount",
          Types.integer(0, 7),
          "7",
          "Times that an unanswered request is repeated before the queue pair fails.");

  static final Setting<Integer> RNR_RETRY =
      with(
          "rnrRetry",
          Types.integer(0, 7),
          "7",
          "Times that a READ is repeated at a peer that says that it is not ready, which first has"
              + " to page in what is registered on demand; 7 is for ever.");

  static final Setting<Integer> MIN_RNR_TIMER =
      with(
          "minRnrTimer",
          Types.integer(0, 31),
          "12",
          "What a peer that is not ready asks the reader to wait, as a code of the verbs (12 is"
              + " 0.64 ms).");

  static {
    derived(
        VerbsSetting.DEVICES,
        "`NCCL_IB_HCA` or `UCX_NET_DEVICES` of the environment, else all",
        "Ports that verbs may use, by the beginnings of their devices' names; `=` in front wants"
            + " whole names, `^` all ports but these. Set here, executors spread over those of"
            + " them that are active, and may use a GID of another network namespace where they have"
            + " none of their own; else the port with the executor's own address is preferred.");

    derived(
        VerbsSetting.GID_INDEX,
        "`NCCL_IB_GID_INDEX` of the environment, else auto",
        "Entry of the port's GID table by which peers reach it. With auto: on RoCE the one with the"
            + " executor's own address, else the first that the other `gid` keys allow, that is"
            + " not link-local and that is of the executor's network namespace; on InfiniBand 0, or"
            + " 1 where that is routable.");

    with(VerbsSetting.GID_ROCE_VERSION, "2", "Version of RoCE that a GID must be of.");

    with(
        VerbsSetting.GID_ADDR_FAMILY,
        "auto",
        "Family of the address that a RoCE GID stands for; auto is IPv4 before IPv6.");

    derived(
        VerbsSetting.GID_ADDR_RANGE, "none", "Range in which the address of a RoCE GID must lie.");

    derived(
        VerbsSetting.TRAFFIC_CLASS,
        "`NCCL_IB_TC` of the environment, else auto",
        "Traffic class of packets, on RoCE v2 their DSCP and ECN. With auto: what the"
            + " administrator has set for the port, else 106 on RoCE v2 and 0 on InfiniBand.");

    derived(
        VerbsSetting.SERVICE_LEVEL,
        "`NCCL_IB_SL` of the environment, else `0`",
        "InfiniBand service level.");

    with(
        VerbsSetting.PKEY,
        "auto",
        "Partition key, such as 0x8001; auto takes the first of which the port is a full member.");

    with(
        VerbsSetting.PATH_MTU,
        "auto",
        "Bytes of a packet at most; auto is the port's active MTU. The smaller one of two peers'"
            + " counts.");

    with(VerbsSetting.HOP_LIMIT, "255", "Routers that a packet may pass, at most.");

    with(
        VerbsSetting.CONNECT,
        "control",
        "How verbs connect queue pairs: control by what executors tell each other over Spark's"
            + " transport, cm by rdma_cm, which finds the path to a peer and notices its end.");
  }

  static final Setting<Integer> CIRCUIT_FAILURES =
      with(
          "circuit.failures",
          Types.integer(1, 1000),
          "3",
          "Failures in a row after which a peer is not tried for a while.");

  static final Setting<Long> CIRCUIT_COOLDOWN =
      with(
          "circuit.cooldown",
          Types.millis("100ms", "24h"),
          "60s",
          "How long such a peer is left alone.");

  static final Setting<Boolean> GATHER =
      with(
          "gather",
          Types.FLAG,
          "true",
          "Whether the small blocks that one executor has for a reduce task are fetched together:"
              + " less work a block where there are many. They are read as one stream where the"
              + " serializer relocates (Kryo, and Spark SQL's own) and files are not encrypted, as"
              + " a stream each otherwise. What has none of Spark's checksums is staged, and"
              + " verified by one that its executor takes. With"
              + " `spark.shuffle.rdma.verifyChecksums=false` nothing is gathered.");

  static final Setting<Boolean> VERIFY_CHECKSUMS =
      with(
          "verifyChecksums",
          Types.FLAG,
          "true",
          "Whether blocks are checked against Spark's partition checksums after the READ, where"
              + " there are any.");

  static final Setting<Boolean> ALLOW_PLAINTEXT =
      with(
          "allowPlaintext",
          Types.FLAG,
          "false",
          "Whether blocks are READ although Spark encrypts its network traffic"
              + " (`spark.network.crypto.enabled`, `spark.authenticate.enableSaslEncryption` or"
              + " `spark.ssl.rpc.enabled`). READs are neither encrypted nor authenticated: somebody"
              + " on the path sees the bytes of the files, unless `spark.io.encryption.enabled` is"
              + " on, and can alter them in any case (security.md).");

  static final Setting<Integer> PORT =
      with(
          "port",
          Types.PORT,
          "0",
          "TCP port of an executor's block server; 0 takes a free one, another one is tried upwards"
              + " as Spark does (`spark.port.maxRetries`).");

  static final Setting<Integer> DATA_PORT =
      with(
          "dataPort",
          Types.PORT,
          "0",
          "TCP port on which the software provider is READ from; 0 takes a free one, where another"
              + " one is taken those above it are tried (`spark.port.maxRetries`). Verbs use no"
              + " such port.");

  static final Setting<String> NODE =
      with(
          "node",
          Types.oneOf("off", "auto", "on", "required"),
          "off",
          "Where map outputs are served. `off`: by the executors that wrote them. `on`: by the block"
              + " server of their node, to which each is handed over when its task commits, so that"
              + " it outlives its executor. A map output that the block server does not take stays"
              + " with its executor, which serves it, and is written again if that ends. Not with Spark's external"
              + " shuffle service, another shuffle data plug-in or"
              + " `spark.shuffle.useOldFetchProtocol`. `required` means the same as `on`. `auto`:"
              + " executors serve map outputs, and hand them over after the commit where their node"
              + " has a block server that takes them. When the executor is gone they are read"
              + " there, and Spark is promised nothing.");

  static final Setting<Path> NODE_SOCKET =
      with(
          "node.socket",
          new Type<>("a path", Path::of),
          "/run/sluice/node.sock",
          "Unix domain socket of the node's block server. On YARN, where it is not set, the one of"
              + " the NodeManager's auxiliary service `sluice_node`.");

  static final Setting<Long> NODE_TIMEOUT =
      with(
          "node.timeout",
          Types.millis("100ms", "10min"),
          "10s",
          "How long the node's block server may take to answer a map task that hands its map output"
              + " over. Where it does not answer, map outputs stay with the executor until it does.");

  static final Setting<Long> NODE_AWAY_TIMEOUT =
      with(
          "node.awayTimeout",
          Types.millis("100ms", "30min"),
          "120s",
          "How long a node's block server may be away, as while it is started again: its socket is"
              + " not there, or its port refuses connections. Until then map tasks that commit and"
              + " readers that have no other source wait for it, and the driver gives up nothing."
              + " Afterwards map outputs stay with their executors, and what lost executors handed"
              + " over there is written again. A block server that takes connections and does not"
              + " answer is not waited for so long.");

  static final Setting<String> NODE_INCARNATION =
      derived(
          "node.incarnation",
          new Type<>("what the driver sets", Function.identity()),
          "set by the driver",
          "Tells this run of the application from others to the nodes' block servers.");

  static final Setting<FaultPlan> SOFT_FAULTS =
      derived(
          "soft.faults",
          new Type<>("a plan such as seed=7;corrupt=0.01;kill@100", FaultPlan::parse),
          "none",
          "For tests: faults that the software provider injects.");

  static final Setting<Boolean> TESTING_LOOPBACK =
      with(
          "testing.loopback",
          Types.FLAG,
          "false",
          "For tests: local blocks are READ as well, from the executor itself.");

  static final Setting<Boolean> TESTING_REFUSE_NETTY =
      with(
          "testing.refuseNetty",
          Types.FLAG,
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
