// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

/** Type of a frame on a software connection. The ordinal is its number on the wire. */
enum FrameType {
  /** A request for {@code length} bytes at {@code address} of the region with {@code rkey}. */
  READ,
  /** The next piece of the answer to the oldest request: a payload of {@code length} bytes. */
  DATA,
  /** The oldest request failed with the status {@code code}; the responder serves no other. */
  NAK;

  private static final FrameType[] VALUES = values();

  static FrameType of(int number) {
    return number >= 0 && number < VALUES.length ? VALUES[number] : null;
  }
}
