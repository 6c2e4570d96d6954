package dev.sluice.rdma.verbs;

import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * The NUMA node that this process is bound to, and whose devices it reaches without the link
 * between processors. None where it is not bound to the processors of one node, as an executor that
 * nobody binds, nor on a machine that has one node only: then all devices are as near. Any thread.
 */
final class NumaNode {
  private final Sysfs sysfs;
  private final OptionalInt node;

  /** As this process is bound now. */
  NumaNode(Sysfs sysfs) {
    this.sysfs = sysfs;
    node = boundTo(sysfs);
  }

  /** Processors that are offline are allowed to a process that is not bound, and are of no node. */
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

  /** Of a list such as {@code 0-3,8}. */
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
   * Those whose device is on this node; all where none is.
   *
   * @param device gives the name of the device of each
   */
  <T> List<T> nearest(List<T> all, Function<T, String> device) {
    List<T> near =
        all.stream()
            .filter(one -> node.isPresent() && sysfs.numaNode(device.apply(one)).equals(node))
            .toList();
    return near.isEmpty() ? all : near;
  }

  /** Where a device is as seen from this process, to go on a sentence; empty if it is not bound. */
  String words(String device) {
    if (node.isEmpty()) {
      return "";
    }
    OptionalInt ofDevice = sysfs.numaNode(device);
    if (ofDevice.isEmpty()) {
      return ", on an unknown NUMA node, this process on " + node.getAsInt();
    }
    return ofDevice.equals(node)
        ? ", on NUMA node " + node.getAsInt() + " as this process is"
        : ", on NUMA node %d, this process on %d".formatted(ofDevice.getAsInt(), node.getAsInt());
  }
}
