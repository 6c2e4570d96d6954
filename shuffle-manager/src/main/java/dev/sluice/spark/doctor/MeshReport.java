package dev.sluice.spark.doctor;

import java.io.Serializable;
import java.util.List;

/**
 * What came of one node's part of the mesh.
 *
 * @param host its name
 * @param failure why it takes no part; empty where it does
 * @param mtu bytes of a packet that its port takes; 0 where that is not known
 * @param reads its READs from others
 * @param untried others from which it did not try to READ
 */
record MeshReport(String host, String failure, int mtu, List<MeshRead> reads, int untried)
    implements Serializable {}
