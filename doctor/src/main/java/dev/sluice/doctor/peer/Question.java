// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Question of one doctor to another by TCP, one per connection. {@link PeerClient} writes it and
 * {@link PeerServer} reads it. The wire carries its place among these: another order, or other
 * bytes after a question, needs another magic number.
 */
enum Question {
  /** Asks for a {@link Description}. */
  DESCRIBE,
  /** Asks for a queue pair that is connected to the one whose address follows. */
  CONNECT,
  /** Asks if a datagram came that the {@link Echo} answers. */
  HEARD,
  /** Tells that a connected queue pair is closed. Has no answer. */
  RELEASED;

  /** The letters SLD3. */
  private static final int MAGIC = 0x534C_4433;

  void write(DataOutputStream out) throws IOException {
    out.writeInt(MAGIC);
    out.writeByte(ordinal());
  }

  /**
   * @throws IOException if the question is not from a doctor of the same release
   */
  static Question read(DataInputStream in) throws IOException {
    int magic = in.readInt();
    int question = in.readUnsignedByte();
    if (magic != MAGIC || question >= values().length) {
      throw new IOException("not a question of a doctor of this release");
    }
    return values()[question];
  }
}
