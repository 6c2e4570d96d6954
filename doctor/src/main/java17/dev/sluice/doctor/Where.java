// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

/** An executor and its host. */
public record Where(String executor, String host) {
  @Override
  public String toString() {
    return executor + "@" + host;
  }
}
