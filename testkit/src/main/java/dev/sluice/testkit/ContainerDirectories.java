// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Directories of a node with the owners and permissions that YARN's LinuxContainerExecutor gives
 * them, for tests whose processes run as several {@link OtherUser}s. Immutable.
 *
 * @param local local directory of the {@link OtherUser#MANAGER}
 * @param application the {@link OtherUser#OWNER}'s directory of an application in it
 * @param classPath class path of this process, which all users may read
 */
public record ContainerDirectories(Path local, Path application, String classPath) {
  /** Makes them in a directory that other users can reach ({@link OtherUser#reasonAgainst}). */
  public static ContainerDirectories make(Path directory) throws IOException {
    String classPath =
        OtherUser.readable(System.getProperty("java.class.path"), directory.resolve("jars"));
    Path local = directory.resolve("local");
    return new ContainerDirectories(local, makeApplication(local), classPath);
  }

  private static Path makeApplication(Path local) throws IOException {
    OtherUser manager = OtherUser.MANAGER;
    OtherUser owner = OtherUser.OWNER;
    manager.makeDirectory(local, manager, "0755");
    manager.makeDirectory(local.resolve("usercache"), manager, "0755");
    Path own =
        owner.makeDirectory(local.resolve("usercache").resolve(owner.name()), manager, "2750");
    Path cache = owner.makeDirectory(own.resolve("appcache"), manager, "2750");
    return owner.makeDirectory(cache.resolve("application_1_1"), manager, "2750");
  }
}
