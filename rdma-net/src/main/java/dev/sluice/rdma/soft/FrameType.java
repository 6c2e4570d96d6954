package dev.sluice.rdma.soft;

/** What a frame on a software connection says. The ordinal is its number on the wire. */
enum FrameType {
  /** Request for {@code length} bytes at {@code address}. */
  READ,
  /** A piece of an RDMA WRITE with its payload. */
  WRITE,
  /** A piece of a SEND with its payload; {@code operand} is the length of the whole message. */
  SEND,
  /** Atomic compare ({@code operand}) and swap. */
  COMPARE_SWAP,
  /** Atomic fetch and add ({@code operand}). */
  FETCH_ADD,
  /** A piece of the answer to a READ, or the whole answer to an atomic, with its payload. */
  READ_RESPONSE,
  /** The next {@code length} SENDs and WRITEs are done. */
  ACK,
  /** The next request failed with the status {@code code}; the responder serves no other. */
  NAK,
  /** No receive is posted for the next request: send it, and all behind it, again later. */
  RNR_NAK;

  private static final FrameType[] VALUES = values();

  static FrameType of(int number) {
    return number >= 0 && number < VALUES.length ? VALUES[number] : null;
  }

  boolean isRequest() {
    return ordinal() < READ_RESPONSE.ordinal();
  }

  boolean hasPayload() {
    return this == WRITE || this == SEND || this == READ_RESPONSE;
  }
}
