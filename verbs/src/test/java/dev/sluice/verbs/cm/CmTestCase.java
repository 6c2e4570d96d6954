// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Base of tests in which two nodes connect through rdma_cm on a real device. */
abstract class CmTestCase {
  CmNode server;
  CmNode client;

  @BeforeEach
  void openNodes() throws Exception {
    server = new CmNode();
    client = new CmNode();
  }

  @AfterEach
  void closeNodes() throws Exception {
    client.close();
    server.close();
  }
}
