// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * The NUMA node that this process is bound to. The process reaches devices of this node without
 * crossing the link between processors. There is no such node if the process is not bound to the
 * processors of one node, as executors usually are not, or if the machine has one node only. All
 * devices count as equally near then. {@link VerbsProvider} and {@link VerbsSurvey} create it,
 * {@link PortChooser} asks it. Any thread.
 */
final class NumaNode {
  private final Sysfs sysfs;
  private final OptionalInt node;

  /** Reads the node that this process is bound to now. */
  NumaNode(Sysfs sysfs) {
    this.sysfs = sysfs;
    node = boundTo(sysfs);
  }

  /**
   * Looks at online processors only. The list of a process that is not bound has offline ones, too,
   * which belong to no node.
   */
  private static OptionalInt boundTo(Sysfs sysfs) {
    BitSet allowed = processors(sysfs.allowedProcessors());
    List<Integer> nodes =
        sysfs.numaNodes().stream()
            .filter(node -> !processors(sysfs.processors(node)).isEmpty())
            .toList();
    List<Integer> mine =
        nodes.stream()
            .filter(node -> processors(sysfs.processors(node)).intersects(allowed))
            .toList();
    return nodes.size() > 1 && mine.size() == 1
        ? OptionalInt.of(mine.getFirst())
        : OptionalInt.empty();
  }

  /** Parses a list such as {@code 0-3,8}. */
  private static BitSet processors(String list) {
    BitSet processors = new BitSet();
    for (String range : list.split(",")) {
      String[] ends = range.split("-");
      if (!ends[0].isEmpty()) {
        int first = Integer.parseInt(ends[0]);
        processors.set(first, Integer.parseInt(ends[ends.length - 1]) + 1);
      }
    }
    return processors;
  }

  /**
   * Returns the elements whose device is on this node; all elements if there is none.
   *
   * @param device gives the device name of an element
   */
  <T> List<T> nearest(List<T> all, Function<T, String> device) {
    List<T> near =
        all.stream()
            .filter(one -> node.isPresent() && sysfs.numaNode(device.apply(one)).equals(node))
            .toList();
    return near.isEmpty() ? all : near;
  }

  /**
   * Tells where a device is relative to this process, to continue a sentence; empty if the process
   * is not bound.
   */
  String words(String device) {
    if (node.isEmpty()) {
      return "";
    }
    OptionalInt ofDevice = sysfs.numaNode(device);
    if (ofDevice.isEmpty()) {
      return ", on an unknown NUMA node (this process: node " + node.getAsInt() + ")";
    }
    return ofDevice.equals(node)
        ? ", on NUMA node " + node.getAsInt() + " like this process"
        : ", on NUMA node %d (this process: node %d)"
            .formatted(ofDevice.getAsInt(), node.getAsInt());
  }
}
