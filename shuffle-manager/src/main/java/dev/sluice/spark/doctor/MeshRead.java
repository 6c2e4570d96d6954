package dev.sluice.spark.doctor;

import java.io.Serializable;

/**
 * What READs of one executor from another one took.
 *
 * @param to who READs
 * @param from whose bytes
 * @param bytesPerSecond of large READs
 * @param micros of a small one
 * @param failure why there are none; empty where there are
 */
public record MeshRead(String to, String from, double bytesPerSecond, double micros, String failure)
    implements Serializable {
  public static MeshRead failed(String to, String from, String failure) {
    return new MeshRead(to, from, 0, 0, failure);
  }

  boolean failed() {
    return !failure.isEmpty();
  }
}
