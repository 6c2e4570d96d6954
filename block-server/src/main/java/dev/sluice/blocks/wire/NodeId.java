package dev.sluice.blocks.wire;

/**
 * What an application's processes know the block server of a node by.
 *
 * @param run another one each time that the block server starts
 * @param since another one each time that it has nothing of the application and begins anew, as
 *     after a reboot; without a hyphen
 */
public record NodeId(String run, String since) {
  /** The other way round of {@link #toString}. */
  public static NodeId parse(String id) {
    int hyphen = id.lastIndexOf('-');
    return new NodeId(id.substring(0, Math.max(hyphen, 0)), id.substring(hyphen + 1));
  }

  @Override
  public String toString() {
    return run + "-" + since;
  }
}
