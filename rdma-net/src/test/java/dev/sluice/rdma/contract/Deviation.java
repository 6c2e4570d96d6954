package dev.sluice.rdma.contract;

/**
 * What a device does otherwise than the verbs' manual pages or the specification say, each with
 * what it does: the only list of such exceptions. A test of the contract expects that instead, so
 * that it is noticed when it ends.
 */
public enum Deviation {
  LKEY_IS_RKEY("a memory region has one key for both sides, as on many NICs"),
  FLUSH_IS_NOT_SOLICITED(
      "a flushed receive does not wake a queue that was armed for solicited completions and errors"),
  LOCAL_SOURCE_ERROR_IS_FLUSHED(
      "a SEND or WRITE from memory that is not registered completes with WR_FLUSH_ERR"),
  LENGTH_ERROR_IS_REM_OP_ERR("a SEND that is larger than the receive completes with REM_OP_ERR"),
  RECEIVE_ERROR_IS_LOC_QP_OP_ERR(
      "a receive that is too small or may not be written completes with LOC_QP_OP_ERR"),
  UNALIGNED_ATOMIC_IS_NOT_POSTED("an atomic of an unaligned address is refused when it is posted"),
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
