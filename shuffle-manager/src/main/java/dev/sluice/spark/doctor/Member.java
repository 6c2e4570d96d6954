package dev.sluice.spark.doctor;

/**
 * An executor in the mesh, as it tells the others.
 *
 * @param id the executor's
 * @param port where its doctor serves; 0 where it does not
 * @param failure why not; empty where it does
 */
public record Member(String id, String host, int port, String failure) {
  String encoded() {
    return String.join("\t", id, host, Integer.toString(port), failure.replaceAll("\\s", " "));
  }

  static Member decoded(String text) {
    String[] fields = text.split("\t", -1);
    return new Member(fields[0], fields[1], Integer.parseInt(fields[2]), fields[3]);
  }
}
