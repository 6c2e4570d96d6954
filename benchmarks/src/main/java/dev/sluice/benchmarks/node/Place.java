package dev.sluice.benchmarks.node;

import java.util.List;

/**
 * Where a node's processes run.
 *
 * @param host their address
 * @param prefix of their commands
 */
record Place(String host, List<String> prefix) {
  static final Place HERE = new Place("127.0.0.1", List.of());
}
