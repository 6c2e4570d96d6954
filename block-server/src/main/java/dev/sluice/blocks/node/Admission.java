package dev.sluice.blocks.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Decides whether a node takes more: nothing while it is drained, and no more than its limits, each
 * with its reason. Any thread; may wait for a disk. What comes at the same time may exceed a limit
 * by as much as that is.
 */
final class Admission {
  private final NodeOptions options;
  private final Supplier<Collection<NodeApplication>> applications;
  private volatile boolean stopping;

  /**
   * @param applications whatever they hold counts
   */
  Admission(NodeOptions options, Supplier<Collection<NodeApplication>> applications) {
    this.options = options;
    this.applications = applications;
  }

  /** From now on the node is drained, until it ends. */
  void stop() {
    stopping = true;
  }

  /** Whether nothing is taken, while all is served. */
  boolean isDraining() {
    return stopping || Files.exists(options.drainFile());
  }

  /**
   * An executor comes.
   *
   * @throws IOException when it is refused, with the reason
   */
  void enter() throws IOException {
    if (isDraining()) {
      throw new IOException(
          "the node is being drained (%s)"
              .formatted(stopping ? "it stops" : options.drainFile() + " exists"));
    }
  }

  /**
   * A map output is handed over.
   *
   * @param directory that it lies in
   * @throws IOException when it is refused, with the reason
   */
  void take(Path directory, long dataBytes) throws IOException {
    enter();
    limit(
        "map outputs",
        1,
        HeldShuffles::outputs,
        NodeSetting.MAX_MAP_OUTPUTS,
        options.maxMapOutputs());
    limit("bytes", dataBytes, HeldShuffles::bytes, NodeSetting.MAX_BYTES, options.maxBytes());
    long free = directory.toFile().getUsableSpace();
    if (free < options.minFreeBytes()) {
      throw new IOException(
          "%d bytes are free on the file system of %s, fewer than %d (%s)"
              .formatted(
                  free, directory, options.minFreeBytes(), NodeSetting.MIN_FREE_BYTES.key()));
    }
  }

  private void limit(
      String what, long more, ToLongFunction<HeldShuffles> of, NodeSetting setting, long limit)
      throws IOException {
    long held = applications.get().stream().map(NodeApplication::held).mapToLong(of).sum();
    if (held + more > limit) {
      throw new IOException(
          "the node has %d %s of its applications and takes %d at most (%s)"
              .formatted(held, what, limit, setting.key()));
    }
  }
}
