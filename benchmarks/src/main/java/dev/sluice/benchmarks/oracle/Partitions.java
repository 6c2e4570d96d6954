package dev.sluice.benchmarks.oracle;

/**
 * What the name of a shuffle block says: partitions of a map output.
 *
 * @param start the first one
 * @param end the one after the last
 */
record Partitions(int shuffleId, long mapId, int start, int end) {

  /** Of {@code shuffle_S_M_R}, or {@code shuffle_S_M_R_E} for partitions R to E - 1. */
  static Partitions parse(String blockId) {
    String[] fields = blockId.split("_");
    if (!fields[0].equals("shuffle") || fields.length < 4 || fields.length > 5) {
      throw new IllegalArgumentException(blockId + " is not a block of a map output");
    }
    int start = Integer.parseInt(fields[3]);
    return new Partitions(
        Integer.parseInt(fields[1]),
        Long.parseLong(fields[2]),
        start,
        fields.length == 5 ? Integer.parseInt(fields[4]) : start + 1);
  }
}
