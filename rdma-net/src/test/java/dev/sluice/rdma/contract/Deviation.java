// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

/**
 * Deviations of devices from the verbs' manual pages or the specification. This is the only list of
 * such exceptions. A contract test expects the deviating behaviour, so that it fails once the
 * deviation ends.
 */
public enum Deviation {
  LKEY_IS_RKEY("a memory region has one key for both sides, as on many NICs"),
  REGIONS_ARE_PINNED(
      "all pages of a region are in memory, so that a sparse file cannot stand for a large one");

  private final String text;

  Deviation(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
