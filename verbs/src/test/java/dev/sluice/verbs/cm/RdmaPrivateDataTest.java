// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvQp;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Limits of private data. They depend on the service that an id uses. */
@OnFakeAdapters
class RdmaPrivateDataTest {
  private static RdmaConnParam ofBytes(int bytes) {
    return RdmaConnParam.DEFAULT.with(p -> p.privateData = new byte[bytes]);
  }

  private static RdmaCmId id(RdmaCmId.PortSpace portSpace, IbvQp.Type type) throws Exception {
    FakeAdapters.reset();
    try (RdmaAddrInfo address =
        RdmaAddrInfo.get("10.0.0.1", "1", new RdmaAddrInfo.Hints(0, portSpace, type))) {
      return RdmaCmId.createEp(address, null, null);
    }
  }

  private static void assertRefuses(ThrowingCallable call, int limit) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL))
        .hasMessageContaining("at most " + limit);
  }

  @Test
  void connectionsTakeWhatARequestHolds() throws Exception {
    for (RdmaCmId.PortSpace space :
        new RdmaCmId.PortSpace[] {RdmaCmId.PortSpace.TCP, RdmaCmId.PortSpace.IB}) {
      try (RdmaCmId id = id(space, IbvQp.Type.RC)) {
        assertRefuses(() -> id.connect(ofBytes(57)), 56);
        assertRefuses(() -> id.accept(ofBytes(197)), 196);
        assertRefuses(() -> id.reject(new byte[149]), 148);
      }
    }
  }

  /** The port space IB has both services. */
  @Test
  void datagramsTakeWhatALookUpHolds() throws Exception {
    for (RdmaCmId.PortSpace space :
        new RdmaCmId.PortSpace[] {
          RdmaCmId.PortSpace.UDP, RdmaCmId.PortSpace.IPOIB, RdmaCmId.PortSpace.IB
        }) {
      try (RdmaCmId id = id(space, IbvQp.Type.UD)) {
        assertRefuses(() -> id.connect(ofBytes(181)), 180);
        assertRefuses(() -> id.accept(ofBytes(137)), 136);
        assertRefuses(() -> id.reject(new byte[137]), 136);
      }
    }
  }
}
