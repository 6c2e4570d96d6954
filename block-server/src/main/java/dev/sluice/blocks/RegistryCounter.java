package dev.sluice.blocks;

import static dev.sluice.rdma.transfer.CounterDescription.level;
import static dev.sluice.rdma.transfer.CounterDescription.total;

import dev.sluice.rdma.transfer.CounterDescription;

/**
 * Counters of a {@link MapOutputRegistry} and its {@link dev.sluice.blocks.server.Stager}. Metrics
 * are named after the constants, so users see a new name.
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
          "Idle shuffles that were deregistered to make room, or because they were over.")),
  PAGES_GIVEN_BACK(
      total(
          "times",
          "Times that a shuffle gave back resident pages that are registered on demand, because"
              + " more were resident than may be registered.")),
  REJECTIONS(
      total(
          "map outputs",
          "Map outputs not registered because their files are inconsistent or unreadable.")),
  STAGED_OUTPUTS(
      total(
          "map outputs",
          "Map outputs that other processes READ from staging memory, because they could not be"
              + " registered. None where a node's block server serves what this process writes.")),
  STAGED_BYTES(
      total("bytes", "Bytes of map outputs copied into staging memory, as readers asked.")),
  STAGING_REGIONS(
      level(
          "memory regions",
          "Memory regions that staging has now; once allocated they stay allocated.")),
  STAGING_BYTES_IN_USE(
      level("bytes", "Bytes that are being staged, or that a reader has a lease of, now.")),
  STAGING_WAITS(
      total(
          "requests",
          "Requests for staged bytes that waited for their turn, for memory or for both.")),
  STAGING_WAIT_MICROS(
      total(
          "microseconds",
          "Time from the receipt of requests for staged bytes until memory was there, or was not"
              + " there in time.")),
  STAGING_REFUSALS(total("requests", "Requests for staged bytes that were not served.")),
  LEASES_EXPIRED(
      total("leases", "Leases that ran out because their readers did not end them in time.")),
  GONE(
      total(
          "map outputs", "Map outputs not registered because their files did not exist any more.")),
  DIRECTORIES_OPEN_FILES(
      total("directories", "Local directories whose map outputs are registered as open files.")),
  DIRECTORIES_READ_ONLY(
      total(
          "directories",
          "Local directories whose map outputs are registered as read-only mappings.")),
  DIRECTORIES_READ_WRITE(
      total(
          "directories",
          "Local directories whose map outputs are registered as read-write mappings, because the"
              + " kernel refuses read-only ones.")),
  DIRECTORIES_ON_DEMAND(
      total(
          "directories",
          "Local directories whose map outputs are registered without pinning them.")),
  DIRTIED_BYTES(
      total(
          "bytes",
          "Bytes, in whole pages, that registering read-write mappings dirtied: a disk writes them"
              + " once more."));

  private final CounterDescription description;

  RegistryCounter(CounterDescription description) {
    this.description = description;
  }

  public CounterDescription description() {
    return description;
  }
}
