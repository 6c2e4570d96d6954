// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import java.io.Serializable;
import java.util.List;

/**
 * Result of one node's part of the mesh, which {@link MeshTask} sends to {@link Mesh}.
 *
 * @param host its name
 * @param failure why it takes no part; empty if it does
 * @param mtu MTU of its port in bytes; 0 if it is not known
 * @param reads its READs from others
 * @param untried number of others from which it did not try to READ
 */
record MeshReport(String host, String failure, int mtu, List<MeshRead> reads, int untried)
    implements Serializable {}
