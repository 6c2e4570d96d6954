// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.size;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorMemory;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.directory.RegionLimit;
import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.registry.RegistrationForecast;
import dev.sluice.blocks.registry.RegistrationForecast.Outputs;
import java.nio.file.Path;
import java.util.Map;

/**
 * Memory and limits of an executor for a shuffle, computed by the rules that executors derive their
 * own limits by. {@link SizeCommand} makes it on the main thread; immutable. All executors are
 * alike, and map outputs are equally large and evenly spread.
 *
 * @param heapBytes heap of an executor
 * @param overheadBytes memory overhead of an executor
 * @param containerBytes memory of an executor's container
 * @param budget its part that Sluice takes
 * @param tasks tasks that an executor runs at a time
 * @param taskBufferBytes buffers in which one of them gathers blocks; 0 if none does
 * @param stagingEnoughBytes staging memory that keeps an adapter busy
 * @param lockedBytes most bytes that an executor locks with verbs
 * @param outputs map outputs of an executor
 * @param registered those of them that find room in the budget
 * @param all the same with a budget that has room for all
 * @param overheadForAllBytes memory overhead from which executors derive such a budget
 * @param pairs queue pairs
 * @param networkSeconds least time in which the shuffle passes the adapters
 */
record Sizing(
    long heapBytes,
    long overheadBytes,
    long containerBytes,
    MemoryBudget budget,
    int tasks,
    long taskBufferBytes,
    long stagingEnoughBytes,
    long lockedBytes,
    Outputs outputs,
    RegistrationForecast registered,
    RegistrationForecast all,
    long overheadForAllBytes,
    QueuePairs pairs,
    double networkSeconds) {

  private static final long MIB = 1L << 20;

  /** Largest allowed value of connections.max. */
  private static final int MOST_CONNECTIONS = 65_536;

  private static final double BYTES_PER_GIGABIT = 1e9 / 8;

  /** Time for which a block holds staging memory, if the disk or the page cache keeps up. */
  private static final double STAGING_SECONDS = 0.001;

  /** A place without control groups: the sizes are for other machines. */
  private static final Path NO_LIMITS = Path.of("/nonexistent");

  /**
   * Queue pairs of executors that all read from all others, in both directions. Executors read the
   * files of their own node from disk.
   *
   * @param peers executors of other nodes
   * @param limit setting of an executor's queue pairs in one direction
   * @param executor queue pairs of an executor
   * @param node queue pairs of the executors of a node
   * @param adapter queue pairs of an adapter
   * @param nodeWithDaemons queue pairs of a node whose node daemon serves the map outputs
   */
  record QueuePairs(
      int peers, int limit, long executor, long node, long adapter, long nodeWithDaemons) {
    static QueuePairs of(SizeOptions options, int limit) {
      int eachNode = ceil(options.executors(), options.nodes());
      int peers = peers(options);
      long executor = 2L * Math.min(peers, limit);
      long node = eachNode * executor;
      return new QueuePairs(
          peers,
          limit,
          executor,
          node,
          (node + options.adapters() - 1) / options.adapters(),
          2L * eachNode * (options.nodes() - 1));
    }

    private static int peers(SizeOptions options) {
      return options.executors() - ceil(options.executors(), options.nodes());
    }
  }

  static Sizing of(SizeOptions options) {
    Map<String, String> settings = settings(options);
    ExecutorConf conf = conf(settings);
    Outputs outputs =
        new Outputs(
            ceil(options.maps(), options.executors()),
            (options.shuffleBytes() - 1) / options.maps() + 1,
            options.partitions(),
            RegistrationMethod.of(conf.registrationMode(), false));
    RegistrationForecast all = RegistrationForecast.of(outputs, RegistrationForecast.UNLIMITED);
    Cost room = new Cost(conf.budget().registrationBytes(), RegionLimit.MAPPINGS.byDefault());
    long enough = (long) Math.ceil(options.linkGigabits() * BYTES_PER_GIGABIT * STAGING_SECONDS);
    return new Sizing(
        conf.grant().heapBytes(),
        conf.grant().overheadBytes(),
        ExecutorMemory.container(settings::get),
        conf.budget(),
        ExecutorMemory.tasks(settings::get, options.cores()),
        conf.gatherBytes(options.cores()),
        enough,
        conf.lockedBytes(),
        outputs,
        RegistrationForecast.of(outputs, room),
        all,
        MemoryBudget.overheadFor(
            all.cost().bytes(), enough, conf.value(ExecutorSettings.MEMORY_SHARE)),
        QueuePairs.of(options, conf.transferOptions().maxQueuePairs()),
        networkSeconds(options));
  }

  /** Returns the configuration of an executor in a container of its own. */
  static ExecutorConf conf(Map<String, String> settings) {
    long heap = ExecutorMemory.heap(settings::get);
    return new ExecutorConf(settings::get, new ExecutorConf.Jvm(heap, NO_LIMITS, Map.of()));
  }

  /**
   * Returns settings of an executor: those that are given, the overhead that Spark grants in whole
   * MiB, and as many queue pairs as it has peers.
   */
  static Map<String, String> settings(SizeOptions options) {
    Map<String, String> settings = options.settings();
    settings.put(ExecutorMemory.OVERHEAD, ExecutorMemory.overhead(settings::get) / MIB + "m");
    String connections = ExecutorSettings.CONNECTIONS_MAX.key();
    int peers = QueuePairs.peers(options);
    if (!settings.containsKey(connections) && peers > limit(settings)) {
      settings.put(connections, Integer.toString(Math.min(peers, MOST_CONNECTIONS)));
    }
    return settings;
  }

  private static int limit(Map<String, String> settings) {
    Integer limit = ExecutorSettings.CONNECTIONS_MAX.get(settings::get);
    return limit == null ? 0 : limit;
  }

  /** Each node sends the part that other nodes read over its adapters. */
  private static double networkSeconds(SizeOptions options) {
    double remote = options.shuffleBytes() * (1 - 1.0 / options.nodes());
    double rate = options.linkGigabits() * BYTES_PER_GIGABIT * options.adapters() * options.nodes();
    return remote / rate;
  }

  private static int ceil(int dividend, int divisor) {
    return (int) (((long) dividend + divisor - 1) / divisor);
  }

  /** Returns the bytes of an executor's map outputs. */
  long dataBytes() {
    return outputs.count() * outputs.bytes();
  }

  /** Returns the bytes of those that are registered. */
  long registeredBytes() {
    return registered.outputs() * outputs.bytes();
  }

  long stagedBytes() {
    return dataBytes() - registeredBytes();
  }

  double registeredShare() {
    return (double) registered.outputs() / outputs.count();
  }

  /** Returns the memory of a container with the overhead that registers all. */
  long containerForAllBytes() {
    return containerBytes - overheadBytes + overheadForAllBytes;
  }
}
