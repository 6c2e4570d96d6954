// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import java.util.List;

/**
 * Place of a node's processes: this machine, or a network namespace on it.
 *
 * @param host address to which they bind
 * @param prefix start of their commands, such as {@code ip netns exec NAME}; empty for none
 */
record Place(String host, List<String> prefix) {
  static final Place HERE = new Place("127.0.0.1", List.of());
}
