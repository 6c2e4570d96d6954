// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

/**
 * Told of the READs of partition tables that locate one executor's blocks. Several may be under way
 * at once. {@link TableRead} calls it on any thread, once each for each READ.
 */
public interface TableReads {
  /** Takes no notice. */
  TableReads UNTIMED =
      new TableReads() {
        @Override
        public void tableReadBegins() {}

        @Override
        public void tableReadEnded() {}
      };

  /** Called before a READ starts. */
  void tableReadBegins();

  /** Called when the READ has succeeded or failed. */
  void tableReadEnded();
}
