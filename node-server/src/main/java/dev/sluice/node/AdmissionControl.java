// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.conf.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Admission of applications and map outputs to a node. A node that is drained takes no new
 * application; a node at a limit takes no more map outputs. Each refusal has a reason. {@link
 * Applications} creates it and asks for applications and executors, {@link ApplicationStore} for
 * map outputs, both on the thread of an executor's connection. Any thread; may wait for a disk. Map
 * outputs that come at the same time may together exceed a limit.
 */
final class AdmissionControl {
  private final NodeOptions options;
  private final Supplier<Collection<ServedApplication>> applications;

  /** Directories whose file systems lacked room at the last check. */
  private final Set<Path> full = ConcurrentHashMap.newKeySet();

  private volatile boolean stopping;

  /**
   * @param applications applications whose map outputs count
   */
  AdmissionControl(NodeOptions options, Supplier<Collection<ServedApplication>> applications) {
    this.options = options;
    this.applications = applications;
  }

  /** Drains the node from now on, until it ends. */
  void stop() {
    stopping = true;
  }

  /** Returns true if no new application is let in. Known applications go on as before. */
  boolean isDraining() {
    return stopping || Files.exists(options.get(NodeSettings.DRAIN_FILE));
  }

  /**
   * Admits a new application.
   *
   * @throws IOException if it is refused, with the reason
   */
  void enter() throws IOException {
    if (isDraining()) {
      throw new IOException(
          "the node daemon is draining (%s)"
              .formatted(
                  stopping ? "it is stopping" : options.get(NodeSettings.DRAIN_FILE) + " exists"));
    }
  }

  /**
   * Admits an executor that comes, or that asks again whether its map outputs would be taken.
   * Checks only file systems that lacked room at the last hand-over: another one may not answer.
   *
   * @param directories one on each file system that map outputs would lie on
   * @throws IOException if all of them lack room, with the reason of one
   */
  void enter(List<Path> directories) throws IOException {
    if (!full.containsAll(directories)) {
      return;
    }
    IOException reason = null;
    for (Path directory : directories) {
      try {
        checkRoom(directory);
        return;
      } catch (IOException e) {
        reason = e;
      }
    }
    if (reason != null) {
      throw reason;
    }
  }

  private void checkRoom(Path directory) throws IOException {
    long free = directory.toFile().getUsableSpace();
    long least = options.get(NodeSettings.MIN_FREE_BYTES);
    if (free < least) {
      full.add(directory);
      throw new IOException(
          "%d bytes are free on the file system of %s, fewer than %d (%s)"
              .formatted(free, directory, least, NodeSettings.MIN_FREE_BYTES.key()));
    }
    full.remove(directory);
  }

  /**
   * Admits a map output.
   *
   * @param directory on the map output's file system
   * @throws IOException if it is refused, with the reason
   */
  void take(Path directory, long dataBytes) throws IOException {
    limit(
        "map outputs",
        1,
        ServedApplication::outputs,
        NodeSettings.MAX_MAP_OUTPUTS,
        options.get(NodeSettings.MAX_MAP_OUTPUTS));
    limit(
        "bytes",
        dataBytes,
        ServedApplication::bytes,
        NodeSettings.MAX_BYTES,
        options.get(NodeSettings.MAX_BYTES).orElse(Long.MAX_VALUE));
    checkRoom(directory);
  }

  private void limit(
      String what, long more, ToLongFunction<ServedApplication> of, Setting<?> setting, long limit)
      throws IOException {
    long held = applications.get().stream().mapToLong(of).sum();
    if (held + more > limit) {
      throw new IOException(
          "the node holds %d %s of all applications and takes at most %d (%s)"
              .formatted(held, what, limit, setting.key()));
    }
  }
}
