package dev.sluice.rdma.soft;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * Connections that have not yet said who they are, in the order of their arrival and by the address
 * that they came from. Of the acceptor, whose thread alone uses it.
 *
 * @param <T> a connection
 */
final class Strangers<T> {
  private final Map<InetAddress, LinkedHashSet<T>> byAddress = new HashMap<>();
  private final LinkedHashSet<T> all = new LinkedHashSet<>();

  void add(InetAddress address, T stranger) {
    byAddress.computeIfAbsent(address, _ -> new LinkedHashSet<>()).add(stranger);
    all.add(stranger);
  }

  void remove(InetAddress address, T stranger) {
    if (all.remove(stranger)) {
      LinkedHashSet<T> same = byAddress.get(address);
      same.remove(stranger);
      if (same.isEmpty()) {
        byAddress.remove(address);
      }
    }
  }

  int size() {
    return all.size();
  }

  List<T> all() {
    return List.copyOf(all);
  }

  /** The one that has been here longest; null where there is none. */
  T oldest() {
    Iterator<T> iterator = all.iterator();
    return iterator.hasNext() ? iterator.next() : null;
  }

  /**
   * The oldest one of the address that has most, so that an address with few of them loses none to
   * one with many.
   */
  T oldestOfTheMost() {
    LinkedHashSet<T> most = all;
    int size = 0;
    for (LinkedHashSet<T> same : byAddress.values()) {
      if (same.size() > size) {
        most = same;
        size = same.size();
      }
    }
    return most.getFirst();
  }
}
