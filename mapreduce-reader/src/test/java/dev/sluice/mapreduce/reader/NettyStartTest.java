// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NettyStartTest {
  private static final String JFR = "io.netty.jfr.enabled";

  @AfterEach
  void clear() {
    System.clearProperty(JFR);
  }

  @Test
  void propertiesAreSetForAWhile() {
    try (NettyStart _ = new NettyStart()) {
      assertThat(System.getProperty(JFR)).isEqualTo("false");
    }
    assertThat(System.getProperty(JFR)).isNull();
  }

  @Test
  void propertiesOfTheTaskStay() {
    System.setProperty(JFR, "true");
    try (NettyStart _ = new NettyStart()) {
      assertThat(System.getProperty(JFR)).isEqualTo("true");
    }
    assertThat(System.getProperty(JFR)).isEqualTo("true");
  }
}
