// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connections that have not yet said hello, in the order of arrival and by their source address.
 * The {@link Acceptor} has one. It uses it on the first event loop's thread, and once more after
 * that has ended. When there are too many, it closes {@link #oldestOfTheMost}.
 *
 * @param <T> a connection
 */
final class UnauthenticatedConnections<T> {
  private final Map<InetAddress, LinkedHashSet<T>> byAddress = new HashMap<>();
  private final LinkedHashSet<T> all = new LinkedHashSet<>();

  void add(InetAddress address, T stranger) {
    byAddress.computeIfAbsent(address, _ -> new LinkedHashSet<>()).add(stranger);
    all.add(stranger);
  }

  void remove(InetAddress address, T stranger) {
    if (all.remove(stranger)) {
      byAddress.computeIfPresent(
          address,
          (_, same) -> {
            same.remove(stranger);
            return same.isEmpty() ? null : same;
          });
    }
  }

  int size() {
    return all.size();
  }

  List<T> all() {
    return List.copyOf(all);
  }

  /** The connection that has been here longest; null if there is none. */
  @Nullable T oldest() {
    Iterator<T> iterator = all.iterator();
    return iterator.hasNext() ? iterator.next() : null;
  }

  /**
   * The oldest connection of the address with the most connections. An address with few connections
   * thus loses none to an address with many. Not for an empty set.
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
