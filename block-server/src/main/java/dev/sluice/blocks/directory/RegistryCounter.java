// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static dev.sluice.rdma.transfer.CounterDescription.level;
import static dev.sluice.rdma.transfer.CounterDescription.total;

import dev.sluice.rdma.transfer.CounterDescription;
import dev.sluice.rdma.transfer.Counters;

/**
 * Counters of a {@code MapOutputRegistry} and its {@link dev.sluice.blocks.staging.Stager}. Any
 * thread adds to them. Metrics are named after the constants, so users see a new name.
 */
public enum RegistryCounter {
  REGISTERED_BYTES(
      level("bytes", "Bytes, in whole pages, that count against the registration budget now.")),
  REGISTERED_REGIONS(
      level(
          "memory regions",
          "Memory regions that count against the limit of mappings, or of open files, now.")),
  REGISTERED_OUTPUTS(
      level("map outputs", "Map outputs that can be READ now, staged ones included.")),
  REGISTRATIONS(
      total("map outputs", "Map outputs registered or staged so far, repeated ones included.")),
  EVICTIONS(
      total(
          "shuffles",
          "Shuffles that were deregistered because they were idle and room was needed, or because"
              + " no reader was left.")),
  PAGES_GIVEN_BACK(
      total(
          "times",
          "Times that a shuffle with on-demand paging gave back resident pages, because more were"
              + " resident than may be registered.")),
  REJECTIONS(
      total(
          "map outputs",
          "Map outputs not registered because their files are inconsistent or unreadable.")),
  STAGED_OUTPUTS(
      total(
          "map outputs",
          "Map outputs that other processes READ from staging memory, because they could not be"
              + " registered. 0 where a node daemon serves the map outputs of this process.")),
  STAGED_BYTES(
      total(
          "bytes",
          "Bytes of map outputs that were copied into staging memory because readers asked for"
              + " them.")),
  STAGING_REGIONS(
      level(
          "memory regions",
          "Memory regions of staging memory. Once allocated, they stay allocated.")),
  STAGING_BYTES_IN_USE(
      level("bytes", "Bytes of staging memory that are being filled or leased by a reader.")),
  STAGING_WAITS(
      total(
          "requests",
          "Requests for staged bytes that waited for admission, for memory or for both.")),
  STAGING_WAIT_MICROS(
      total(
          "microseconds",
          "Time that requests for staged bytes waited for admission and memory, in vain or not."
              + " Reading their partition tables does not count.")),
  STAGING_REFUSALS(total("requests", "Requests for staged bytes that were refused.")),
  LEASES_EXPIRED(
      total("leases", "Leases that expired because their readers did not end them in time.")),
  GONE(total("map outputs", "Map outputs not registered because their files no longer existed.")),
  DIRECTORIES_OPEN_FILES(
      total("directories", "Local directories whose map outputs are registered as open files.")),
  DIRECTORIES_READ_ONLY(
      total(
          "directories",
          "Local directories whose map outputs are registered as read-only mappings.")),
  DIRECTORIES_ON_DEMAND(
      total(
          "directories",
          "Local directories whose map outputs are registered with on-demand paging, which does not"
              + " pin them."));

  private final CounterDescription description;

  RegistryCounter(CounterDescription description) {
    this.description = description;
  }

  public CounterDescription description() {
    return description;
  }

  /** Returns its name in metrics, such as {@code registry.staged-bytes}. */
  public String metric() {
    return Counters.metric("registry", this);
  }
}
