package dev.sluice.benchmarks.scale;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * What 1,000 executors on nodes with one NIC each would do with 100,000 maps x 10,000 reducers:
 * arithmetic on what was measured and on published figures of NICs. docs/scale.md says where each
 * constant comes from, and holds these very tables.
 */
final class ScaleModel {
  // The cluster.
  private static final int EXECUTORS = 1000;
  private static final int EXECUTORS_A_NODE = 16;
  private static final int CORES_A_NODE = 64;
  private static final int MAPS = 100_000;
  private static final int PARTITIONS = 10_000;
  private static final int[] LINKS_GBITS = {100, 400};
  private static final int[] BLOCK_BYTES = {200, 1_200, 4_000, 12_000, 64_000, 1_000_000};

  // Published.
  private static final double NIC_MESSAGES = 110e6;
  private static final int MTU = 4096;

  /** Ethernet with preamble and gap, IPv4, UDP, BTH, RETH, ICRC. */
  private static final int REQUEST_BYTES = 38 + 20 + 8 + 12 + 16 + 4;

  /** The same of each packet of a response, with AETH for RETH. */
  private static final int RESPONSE_HEADER_BYTES = 38 + 20 + 8 + 12 + 4 + 4;

  // Sluice's own, by design or measured.
  private static final int RECORD_BYTES = 7;
  private static final int DRIVER_HEAP_BYTES_A_MAP = 15;
  private static final int TABLE_HEAP_BYTES_A_MAP = 16;
  private static final int HANDLE_AND_EXECUTORS_BYTES = 35_500;
  private static final int HEAP_BYTES_A_CONNECTION = 10_100;

  /** Task time that a block costs above a wire that costs nothing. */
  private static final double TASK_SECONDS_A_BLOCK = 19e-6;

  private ScaleModel() {}

  /** All tables, in Markdown. */
  static String tables() {
    return String.join("\n", quantities(), servers(), blockSizes(), limits());
  }

  /**
   * Who serves map outputs: executors their own, or nodes those of their executors.
   *
   * @param executors whose map outputs one of them has
   * @param others of them on other nodes
   * @param readers executors of other nodes that one of them serves
   */
  record Servers(int executors, int others, int readers) {
    static final Servers EXECUTORS_THEMSELVES = of(1, EXECUTORS - EXECUTORS_A_NODE);
    static final Servers NODES = of(EXECUTORS_A_NODE, nodes() - 1);

    private static Servers of(int executors, int others) {
      return new Servers(executors, others, others * executors);
    }

    private int serversANode() {
      return EXECUTORS_A_NODE / executors;
    }

    int queuePairsOfNic() {
      return EXECUTORS_A_NODE * others + serversANode() * readers;
    }

    private int maps() {
      return executors * mapsAnExecutor();
    }

    /** READs of entries, by each reducer, and of headers, by each executor. */
    double tableReadsABlock() {
      double entries = (double) ScaleSamples.segmentSlots(maps(), PARTITIONS).size() / maps();
      return entries + entries / reducersAnExecutor();
    }

    double tableMegabytes() {
      return ScaleSamples.segmentBytes(maps(), PARTITIONS) / 1e6;
    }
  }

  private static int nodes() {
    return Math.ceilDiv(EXECUTORS, EXECUTORS_A_NODE);
  }

  private static int mapsAnExecutor() {
    return MAPS / EXECUTORS;
  }

  private static int reducersAnExecutor() {
    return PARTITIONS / EXECUTORS;
  }

  private static double tableBytesABlock() {
    return TableEntry.BYTES + (double) MapOutputHeader.BYTES / reducersAnExecutor();
  }

  private static double blocksAnExecutor() {
    return (double) MAPS * PARTITIONS / EXECUTORS;
  }

  static String quantities() {
    StringBuilder table = new StringBuilder("| what | how much |\n|---|---|\n");
    row(table, "nodes", "%d", nodes());
    row(table, "reducers of an executor", "%d", reducersAnExecutor());
    row(table, "blocks that an executor fetches", "%.1f million", blocksAnExecutor() / 1e6);
    row(
        table,
        "bytes of partition tables that it READs",
        "%.1f MB",
        blocksAnExecutor() * tableBytesABlock() / 1e6);
    row(
        table,
        "heap of the headers that it keeps",
        "%.1f MB",
        (double) MAPS * MapOutputHeader.BYTES / 1e6);
    double tableBytes = (double) MAPS * RECORD_BYTES;
    row(table, "the driver's table, as it travels", "%.1f MB", tableBytes / 1e6);
    row(table, "heap of the driver for it", "%.1f MB", MAPS * DRIVER_HEAP_BYTES_A_MAP / 1e6);
    row(table, "heap of an executor for its copy", "%.1f MB", MAPS * TABLE_HEAP_BYTES_A_MAP / 1e6);
    row(
        table,
        "what the driver sends for it with broadcast, the default",
        "%.0f MB",
        (tableBytes + (double) EXECUTORS * HANDLE_AND_EXECUTORS_BYTES) / 1e6);
    row(
        table,
        "and without",
        "%.1f GB",
        EXECUTORS * (tableBytes + HANDLE_AND_EXECUTORS_BYTES) / 1e9);
    return table.toString();
  }

  /** What depends on who serves. */
  static String servers() {
    StringBuilder table =
        new StringBuilder("| what | executors serve | one block server a node |\n|---|---|---|\n");
    Servers own = Servers.EXECUTORS_THEMSELVES;
    Servers node = Servers.NODES;
    row(table, "servers on other nodes", "%,d | %,d", own.others(), node.others());
    row(
        table,
        "queue pairs of an executor",
        "%,d | %,d",
        own.others() + own.readers(),
        node.others());
    row(table, "queue pairs of a node's block server", "0 | %,d", node.readers());
    row(table, "queue pairs of a NIC", "%,d | %,d", own.queuePairsOfNic(), node.queuePairsOfNic());
    row(
        table,
        "heap of an executor's connections",
        "%.1f MB | %.1f MB",
        connectionMegabytes(own.others() + own.readers()),
        connectionMegabytes(node.others()));
    row(
        table,
        "heap of a block server's connections",
        "0 | %.1f MB",
        connectionMegabytes(node.readers()));
    row(
        table,
        "partition tables that a server registers",
        "%.1f MB | %.1f MB",
        own.tableMegabytes(),
        node.tableMegabytes());
    row(
        table,
        "READs of partition tables by an executor",
        "%.0f thousand | %.0f thousand",
        blocksAnExecutor() * own.tableReadsABlock() / 1e3,
        blocksAnExecutor() * node.tableReadsABlock() / 1e3);
    return table.toString();
  }

  /** One end of each. */
  private static double connectionMegabytes(int connections) {
    return connections * (HEAP_BYTES_A_CONNECTION / 2) / 1e6;
  }

  private static void row(StringBuilder table, String what, String format, Object... values) {
    table.append("| %s | %s |\n".formatted(what, String.format(Locale.ROOT, format, values)));
  }

  /**
   * What a NIC does with blocks of one size while all executors READ from all.
   *
   * @param readsABlock with those of partition tables
   * @param wireBytes bytes that a block costs on the wire, each way
   */
  private record Load(int linkGbits, int blockBytes, double readsABlock, double wireBytes) {
    static Load withTables(int linkGbits, int blockBytes) {
      double reads = Servers.EXECUTORS_THEMSELVES.tableReadsABlock();
      double tableBytes = reads * (REQUEST_BYTES + RESPONSE_HEADER_BYTES) + tableBytesABlock();
      return new Load(linkGbits, blockBytes, 1 + reads, wireBytes(blockBytes) + tableBytes);
    }

    static Load withoutTables(int linkGbits, int blockBytes) {
      return new Load(linkGbits, blockBytes, 1, wireBytes(blockBytes));
    }

    /** A NIC sends the requests of its own executors, and the responses to the others'. */
    private static double wireBytes(int bytes) {
      return REQUEST_BYTES + Math.ceilDiv(bytes, MTU) * RESPONSE_HEADER_BYTES + bytes;
    }

    private double byBandwidth() {
      return linkGbits * 1e9 / 8 / wireBytes;
    }

    /** Each READ is a message to the NIC that asks and one to the NIC that answers. */
    private double byMessages() {
      return NIC_MESSAGES / 2 / readsABlock;
    }

    private static double byTasks() {
      return CORES_A_NODE / TASK_SECONDS_A_BLOCK;
    }

    double nicBlocksASecond() {
      return Math.min(byBandwidth(), byMessages());
    }

    /** Of the link's bits, those that are blocks' when nothing but the NIC is in the way. */
    double share() {
      return nicBlocksASecond() * blockBytes * 8 / (linkGbits * 1e9);
    }

    String nicLimit() {
      return byMessages() < byBandwidth() ? "messages" : "bandwidth";
    }

    String limit() {
      return byTasks() < nicBlocksASecond() ? "tasks" : nicLimit();
    }

    double coresToKeepUp() {
      return nicBlocksASecond() * TASK_SECONDS_A_BLOCK;
    }
  }

  static String blockSizes() {
    StringBuilder table =
        new StringBuilder(
            "| Gb/s | block | million blocks/s a NIC | of the link | NIC's limit |"
                + " without tables | cores to keep up | limit with "
                + CORES_A_NODE
                + " cores |\n|---|---|---|---|---|---|---|---|\n");
    for (int link : LINKS_GBITS) {
      for (int bytes : BLOCK_BYTES) {
        Load load = Load.withTables(link, bytes);
        table.append(
            String.format(
                Locale.ROOT,
                "| %d | %,d B | %.3f | %.0f %% | %s | %.0f %% | %.0f | %s |\n",
                link,
                bytes,
                load.nicBlocksASecond() / 1e6,
                100 * load.share(),
                load.nicLimit(),
                100 * Load.withoutTables(link, bytes).share(),
                load.coresToKeepUp(),
                load.limit()));
      }
    }
    return table.toString();
  }

  /** Below which sizes of blocks something else than bandwidth is the limit. */
  static String limits() {
    StringBuilder table =
        new StringBuilder(
            "| Gb/s | messages are the NIC's limit below | without tables |"
                + " tasks on "
                + CORES_A_NODE
                + " cores are the limit below | half of the link is blocks' from |\n"
                + "|---|---|---|---|---|\n");
    for (int link : LINKS_GBITS) {
      table.append(
          String.format(
              Locale.ROOT,
              "| %d | %s | %s | %s | %s |\n",
              link,
              smallest(bytes -> Load.withTables(link, bytes).nicLimit().equals("bandwidth")),
              smallest(bytes -> Load.withoutTables(link, bytes).nicLimit().equals("bandwidth")),
              smallest(bytes -> !Load.withTables(link, bytes).limit().equals("tasks")),
              smallest(bytes -> Load.withTables(link, bytes).share() >= 0.5)));
    }
    return table.toString();
  }

  private static String smallest(IntPredicate blockBytes) {
    int bytes = IntStream.iterate(1, b -> b + 1).filter(blockBytes).findFirst().orElseThrow();
    return bytes == 1 ? "never" : String.format(Locale.ROOT, "%,d B", bytes);
  }
}
