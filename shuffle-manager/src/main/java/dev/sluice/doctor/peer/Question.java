package dev.sluice.doctor.peer;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** What one doctor asks another by TCP, one question a connection. */
enum Question {
  /** For a {@link Description}. */
  DESCRIBE,
  /** For a queue pair that is connected to the one whose address follows. */
  CONNECT,
  /** Whether a datagram came that the {@link Echo} answers. */
  HEARD,
  /** Says that a queue pair which was connected is closed; nothing is answered. */
  RELEASED;

  private static final int MAGIC = 0x534C_4432;

  void write(DataOutputStream out) throws IOException {
    out.writeInt(MAGIC);
    out.writeByte(ordinal());
  }

  /**
   * @throws IOException when it is no doctor of the same release that asks
   */
  static Question read(DataInputStream in) throws IOException {
    int magic = in.readInt();
    int question = in.readUnsignedByte();
    if (magic != MAGIC || question >= values().length) {
      throw new IOException("not a question of a doctor");
    }
    return values()[question];
  }
}
