package dev.sluice.spark.doctor;

/**
 * A node of the mesh, as it tells the others.
 *
 * @param host its name, and how it is called in what is found
 * @param port where its doctor serves; 0 where it does not
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
