// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.VerbsException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class CmAddressTest {
  private static final byte[] TOKEN = HexFormat.of().parseHex("00112233445566778899aabbccddeeff");

  @Test
  void bothFamiliesReachThePeerAsTheyWere() throws Exception {
    for (String host : new String[] {"192.0.2.1", "2001:db8::1"}) {
      CmAddress address = address(host);
      CmAddress read = CmAddress.of(carrying(address.toProviderData()));
      assertThat(read.listening()).isEqualTo(address.listening());
      assertThat(read.token()).isEqualTo(TOKEN);
    }
  }

  @Test
  void aRequestIsTheQueuePairAndItsToken() throws Exception {
    assertThat(HexFormat.of().formatHex(address("192.0.2.1").request(0xabcdef)))
        .isEqualTo("00abcdef00112233445566778899aabbccddeeff");
  }

  @Test
  void theTokenIsNotShown() throws Exception {
    assertThat(address("192.0.2.1")).hasToString("/192.0.2.1:4711");
  }

  @Test
  void malformedAddressesAreRefused() throws Exception {
    byte[] data = address("192.0.2.1").toProviderData();
    byte[] otherVersion = data.clone();
    otherVersion[0]++;
    for (byte[] bad :
        new byte[][] {
          {}, otherVersion, Arrays.copyOf(data, 7), Arrays.copyOf(data, data.length - 1)
        }) {
      assertThatThrownBy(() -> CmAddress.of(carrying(bad)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("rdma_connect(QP 0x000007");
    }
  }

  private static CmAddress address(String host) throws Exception {
    return new CmAddress(new InetSocketAddress(IpLiteral.parse(host), 4711), TOKEN);
  }

  private static QueuePairAddress carrying(byte[] providerData) {
    return new QueuePairAddress(7, 1, 0, new Gid(0, 1), 1024, 16, providerData);
  }
}
