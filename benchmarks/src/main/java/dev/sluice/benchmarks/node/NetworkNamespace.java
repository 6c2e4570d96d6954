// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import dev.sluice.testkit.Commands;
import java.io.IOException;
import java.util.List;

/**
 * A network of two nodes on this machine. Two Workers need two addresses, since their external
 * shuffle services use the same port. Only root can create it. {@link LostExecutors} creates it and
 * closes it last, after the cluster that runs in it.
 */
final class NetworkNamespace implements AutoCloseable {
  private static final String OUTSIDE = "10.213.0.1";
  private static final String INSIDE = "10.213.0.2";

  private final String name = "sluice-" + ProcessHandle.current().pid();

  NetworkNamespace() throws IOException {
    boolean made = false;
    try {
      ip("netns add " + name);
      ip("link add %s type veth peer name inside netns %s".formatted(name, name));
      ip("address add %s/24 dev %s".formatted(OUTSIDE, name));
      ip("link set %s up".formatted(name));
      ip("-n %s address add %s/24 dev inside".formatted(name, INSIDE));
      ip("-n %s link set inside up".formatted(name));
      ip("-n %s link set lo up".formatted(name));
      made = true;
    } finally {
      if (!made) {
        close();
      }
    }
  }

  private static void ip(String arguments) throws IOException {
    Commands.run(List.of(("ip " + arguments).split(" ")));
  }

  /** Returns the places of the node outside the namespace and of the one inside. */
  List<Place> places() {
    return List.of(
        new Place(OUTSIDE, List.of()), new Place(INSIDE, List.of("ip", "netns", "exec", name)));
  }

  @Override
  public void close() throws IOException {
    ip("netns delete " + name); // deletes both ends of the cable, too
  }
}
