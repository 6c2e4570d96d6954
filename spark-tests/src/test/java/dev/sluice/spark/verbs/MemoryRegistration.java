// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import java.lang.foreign.Arena;

/**
 * Registers memory in a process of its own, which {@link UserNamespaceIT} starts. Prints whether
 * the kernel pins each of the given numbers of bytes.
 */
final class MemoryRegistration {
  private MemoryRegistration() {}

  /**
   * @param arguments name of a device, and numbers of bytes
   */
  public static void main(String[] arguments) throws Exception {
    try (IbvDeviceList list = IbvDeviceList.get();
        IbvContext context = list.find(arguments[0]).orElseThrow().open();
        IbvPd domain = context.allocPd()) {
      for (int i = 1; i < arguments.length; i++) {
        System.out.println(arguments[i] + ": " + register(domain, Long.parseLong(arguments[i])));
      }
    }
  }

  private static String register(IbvPd domain, long bytes) throws VerbsException {
    try (Arena arena = Arena.ofConfined();
        IbvMr _ = domain.regMr(arena.allocate(bytes), IbvMr.Access.REMOTE_READ)) {
      return "ok";
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.ENOMEM) {
        return "ENOMEM";
      }
      throw e;
    }
  }
}
