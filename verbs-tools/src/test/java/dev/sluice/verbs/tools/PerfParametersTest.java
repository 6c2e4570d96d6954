// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The parameters that the client of a measurement sends to the server. */
final class PerfParametersTest {
  private static final PerfParameters PARAMETERS =
      new PerfParameters(
          PerfParameters.Test.BW,
          PerfParameters.Operation.WRITE,
          65536,
          1000,
          100,
          128,
          16,
          4096,
          true);

  @Test
  void comeBackAsTheyWere() throws Exception {
    assertThat(PARAMETERS.toWire()).hasSize(PerfParameters.WIRE_LENGTH);
    assertThat(PerfParameters.fromWire(PARAMETERS.toWire(), PerfParameters.Test.BW))
        .isEqualTo(PARAMETERS);
  }

  @Test
  void areRefusedFromAnotherCommandOrProgram() {
    assertThatThrownBy(() -> PerfParameters.fromWire(PARAMETERS.toWire(), PerfParameters.Test.LAT))
        .hasMessage("the peer does not run the same command");
    assertThatThrownBy(
            () ->
                PerfParameters.fromWire(
                    new byte[PerfParameters.WIRE_LENGTH], PerfParameters.Test.BW))
        .hasMessage("the peer does not run the same command");
  }
}
