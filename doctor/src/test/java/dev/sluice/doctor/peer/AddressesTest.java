// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.verbs.Gid;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class AddressesTest {
  private static final QueuePairAddress ADDRESS =
      new QueuePairAddress(1, 2, 3, new Gid(4, 5), 1024, 6, new byte[] {7, 8, 9});

  @Test
  void anAddressIsReadAsItWasWritten() throws Exception {
    QueuePairAddress read = read(written());
    assertThat(read).usingRecursiveComparison().isEqualTo(ADDRESS);
  }

  @Test
  void anAddressThatEndsEarlyIsRefused() throws Exception {
    byte[] written = written();
    for (int bytes = 0; bytes < written.length; bytes++) {
      byte[] part = Arrays.copyOf(written, bytes);
      assertThatThrownBy(() -> read(part)).as("%d bytes", bytes).isInstanceOf(EOFException.class);
    }
  }

  private static byte[] written() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Addresses.write(new DataOutputStream(bytes), ADDRESS);
    return bytes.toByteArray();
  }

  private static QueuePairAddress read(byte[] bytes) throws IOException {
    return Addresses.read(new DataInputStream(new ByteArrayInputStream(bytes)));
  }
}
