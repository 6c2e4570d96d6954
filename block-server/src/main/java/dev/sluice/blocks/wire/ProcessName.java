package dev.sluice.blocks.wire;

/**
 * What a process is known by, for ever: another one may come to listen where it did.
 *
 * @param application with whatever tells its runs apart
 * @param id in the application, in which it does not come back: an executor id
 */
public record ProcessName(String application, String id) {
  @Override
  public String toString() {
    return "executor " + id + " of " + application;
  }
}
