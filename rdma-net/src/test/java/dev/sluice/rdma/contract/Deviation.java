package dev.sluice.rdma.contract;

/**
 * What a device does otherwise than the verbs' manual pages or the specification say, each with
 * what it does: the only list of such exceptions. A test of the contract expects that instead, so
 * that it is noticed when it ends.
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
