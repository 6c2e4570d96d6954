// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

/**
 * Name of a process that no other process ever has, even at the same address. Executors, node
 * daemons and the driver each have one. {@code BlockServerClient} puts the addressee's name into a
 * request, so another process at that address refuses it. Immutable.
 *
 * @param application id of the application, and a part that differs for each of its runs ({@code
 *     SluiceConf.application} makes it)
 * @param id executor id, or {@link NodeId} of a node daemon; never used again in the application
 */
public record ProcessName(String application, String id) {
  /** Executors have numbers; the ids of the driver and of a node daemon say what these are. */
  @Override
  public String toString() {
    boolean isNumber = !id.isEmpty() && id.chars().allMatch(Character::isDigit);
    return (isNumber ? "executor " : "") + id + " of " + application;
  }
}
