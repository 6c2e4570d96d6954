// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.Setting;
import dev.sluice.blocks.conf.SettingTable;
import dev.sluice.blocks.conf.Type;
import dev.sluice.blocks.conf.VerbsSettings;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Settings of a job's reducers, in mapred-site.xml or by -D. The order of the fields is the one of
 * the documents. Immutable; any thread.
 */
public final class ReaderSettings {
  static final SettingTable TABLE =
      new SettingTable("sluice.mapreduce.", "%1$s is not a setting of reducers%3$s");

  /** The plug-in reads it, to find this class. */
  static final Setting<Path> HOME =
      TABLE
          .derived("home", Type.PATH, "none")
          .doc(
              "Installation of the node daemon on every node, whose jars have the reader. Without"
                  + " the key, map outputs go by HTTP.");

  static final Setting<Integer> PORT =
      TABLE
          .with("port", Type.integer(1, 65_535), "13563")
          .doc(
              "Port of the node daemons for reduce tasks. The key has to have the same value in"
                  + " yarn-site.xml, where it makes the daemons listen.");

  static final Setting<String> PROVIDER =
      TABLE
          .with("provider", Type.oneOf("auto", "verbs", "soft"), "auto")
          .doc(
              "Provider of READs: auto, verbs or soft. Map outputs of node daemons with another"
                  + " provider go by HTTP.");

  static final Setting<Boolean> ALLOW_PLAINTEXT =
      TABLE
          .with("allowPlaintext", Type.FLAG, "false")
          .doc(
              "Whether to READ where mapreduce.shuffle.ssl.enabled encrypts Hadoop's fetch. READs are"
                  + " not encrypted. With false, map outputs then go by HTTP.");

  static final Setting<Long> BUFFERS =
      TABLE
          .with("buffers.maxBytes", Type.bytes("4m", "16g"), "32m")
          .doc(
              "Registered memory of a reduce task for READs. It is not part of the heap, so the"
                  + " container needs room for it.");

  static final Setting<Long> TIMEOUT_MS =
      TABLE
          .with("timeout", Type.millis("1s", "1h"), "30s")
          .doc(
              "Time limit of each request to a node, and of each READ. What is late goes by HTTP.");

  static final Setting<Integer> CONNECTIONS_MAX =
      TABLE
          .with("connections.max", Type.integer(1, 65_536), "1024")
          .doc(
              "Limit of a reduce task's queue pairs, one for each node. The least recently used idle"
                  + " one is closed for a new one.");

  static final Setting<Long> CIRCUIT_COOLDOWN_MS =
      TABLE
          .with("circuit.cooldown", Type.millis("100ms", "24h"), "60s")
          .doc(
              "Time for which a node is not asked after three failed READs or requests to stage in a"
                  + " row.");

  static final Setting<Long> RETRY_MS =
      TABLE
          .with("retry.interval", Type.millis("1s", "1h"), "30s")
          .doc(
              "Time for which a node whose daemon did not answer is not asked again. It doubles with"
                  + " each failure, to 10 min.");

  /** Settings but those of RDMA devices. */
  static final List<Setting<?>> OWN = TABLE.rows();

  /**
   * All settings, with those of RDMA devices. Most jobs set none of these, and have {@link
   * VerbsOptions#DEFAULT}: their reduce tasks start sooner without this class.
   */
  private static final class WithDevices {
    static final SettingTable TABLE = ReaderSettings.TABLE.copy();
    static final VerbsSettings DEVICES = new VerbsSettings(TABLE);

    private WithDevices() {}
  }

  /**
   * A fetcher has two pieces of a batch under way. Memory is zeroed and registered in such parts
   * when it is needed, and a task with small map outputs needs one.
   */
  private static final int MAX_BUFFER_BYTES = 2 * BatchPlan.MAX_BYTES;

  private final Map<String, String> values;

  /** True if a key is not in {@link #OWN}. */
  private final boolean hasOthers;

  private ReaderSettings(Map<String, String> values) {
    this.values = Map.copyOf(values);
    Set<String> others = new HashSet<>(values.keySet());
    for (Setting<?> own : OWN) {
      others.remove(own.key());
    }
    hasOthers = !others.isEmpty();
  }

  /**
   * @throws IllegalArgumentException for an unknown key or a value that is not allowed
   */
  static ReaderSettings of(Map<String, String> values) {
    ReaderSettings settings = new ReaderSettings(values);
    (settings.hasOthers ? WithDevices.TABLE : TABLE).validate(values);
    return settings;
  }

  /** Returns the value that is set, else the default. */
  <T> T get(Setting<T> setting) {
    return requireNonNull(setting.get(values::get));
  }

  /** Options with the bytes to lock, so that a low limit of locked memory is told at the start. */
  VerbsOptions verbsOptions(TransferOptions transfer) {
    VerbsOptions options =
        hasOthers
            ? WithDevices.DEVICES.configure(VerbsOptions.DEFAULT, values::get)
            : VerbsOptions.DEFAULT;
    return options.with(o -> o.registeredBytes = get(BUFFERS) + transfer.queuePairBytes());
  }

  TransferOptions transferOptions() {
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = get(BUFFERS);
          o.maxBufferBytes = MAX_BUFFER_BYTES;
          o.maxQueuePairs = get(CONNECTIONS_MAX);
          o.circuitCooldownMs = get(CIRCUIT_COOLDOWN_MS).intValue();
        });
  }
}
