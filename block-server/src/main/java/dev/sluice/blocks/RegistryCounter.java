package dev.sluice.blocks;

/** What a {@link MapOutputRegistry} counts. */
public enum RegistryCounter {
  REGISTERED_BYTES("Bytes, in whole pages, that count against the registration budget now"),
  REGISTERED_REGIONS(
      "Memory regions that count against the limit of mappings, or of open files, now"),
  REGISTERED_OUTPUTS("Map outputs that can be READ now"),
  REGISTRATIONS("Map outputs registered so far, repeated ones included"),
  EVICTIONS(
      "Shuffles deregistered so far that nobody read: to make room, or because they were over"),
  REFUSALS("Map outputs not registered so far because there was no room"),
  REJECTIONS(
      "Map outputs not registered so far because their files are inconsistent or unreadable"),
  STAGED_OUTPUTS(
      "Map outputs so far that are READ from staging memory, because they could not be registered"),
  STAGED_BYTES("Bytes of map outputs copied into staging memory so far, as readers asked for them"),
  STAGING_REGIONS("Memory regions that staging has now; they stay once they are needed"),
  STAGING_BYTES_IN_USE("Bytes that are being staged, or that a reader has a lease of, now"),
  STAGING_WAITS(
      "Times so far that a request for staged bytes had to wait for its turn or for memory"),
  STAGING_WAIT_MICROS(
      "Microseconds so far from the receipt of requests for staged bytes until their files were"
          + " read"),
  STAGING_REFUSALS("Requests for staged bytes that were not served so far"),
  LEASES_EXPIRED("Staged bytes whose readers have not said in time that they are done, so far"),
  GONE("Map outputs not registered so far because their files did not exist any more"),
  DIRECTORIES_OPEN_FILES("Local directories whose map outputs are registered as open files"),
  DIRECTORIES_READ_ONLY("Local directories whose map outputs are registered as read-only mappings"),
  DIRECTORIES_READ_WRITE(
      "Local directories whose map outputs are registered as read-write mappings, because the"
          + " kernel refuses read-only ones"),
  DIRECTORIES_ON_DEMAND("Local directories whose map outputs are registered without pinning them"),
  DIRTIED_BYTES(
      "Bytes, in whole pages, that registering read-write mappings has dirtied so far: a disk has"
          + " to write them once more");

  private final String description;

  RegistryCounter(String description) {
    this.description = description;
  }

  /** One sentence for people who read the metric. */
  public String description() {
    return description;
  }
}
