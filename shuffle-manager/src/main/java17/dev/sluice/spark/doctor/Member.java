// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

/**
 * A node of the mesh, as it describes itself to the others. {@link MeshTask}s exchange it as text,
 * which is all that a barrier carries.
 *
 * @param host its name, also in findings
 * @param port port where its doctor serves; 0 if it does not
 */
public record Member(String host, int port) {
  boolean serves() {
    return port != 0;
  }

  String encoded() {
    return host + "\t" + port;
  }

  static Member decoded(String text) {
    String[] fields = text.split("\t", -1);
    return new Member(fields[0], Integer.parseInt(fields[1]));
  }
}
